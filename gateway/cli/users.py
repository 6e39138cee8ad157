"""`duograph users`: the accounts that sign in."""

from typing import Annotated, Any

import typer

from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.input import checked, user_of
from gateway.cli.output import CommandError, Json, noun, show
from gateway.settings.settings import Settings
from oauth.password_strength import is_easy_to_guess
from resolvers.accounts.users import create_user
from resolvers.second_factors.overview import reset_factors
from resolvers.sign_in.new_passwords import EASY_TO_GUESS
from schema.accounts import Password, UserName
from schema.base import Input
from schema.scalars import Email
from storage.rows import Duplicate
from storage.tables.users import UserRow

app = noun("Create users and reset their second factors.")


class UserCreate(Input):
    """A new user, as an operator describes it."""

    email: Email
    password: Password
    name: UserName = None


@app.command()
def create(
    email: Annotated[str, typer.Option(help="The email address to sign in with.")],
    password: Annotated[str, typer.Option(help="12 to 1,000 characters, not easy to guess.")],
    name: Annotated[str | None, typer.Option(help="The name shown to other members.")] = None,
    as_json: Json = False,
) -> None:
    """Create a user with a confirmed email address, who can accept invitations to it."""
    data = checked(UserCreate, email=email, password=password, name=name)
    if is_easy_to_guess(data.password, [data.email, *data.email.split("@"), data.name]):
        raise CommandError(f"password: {EASY_TO_GUESS}.")
    user = wait_for(_create(read_settings(), data))
    result = {"id": str(user.id), "email": user.email}
    show(result, f"Created the user {user.email} ({user.id}).", as_json=as_json)


@app.command("reset-factors")
def reset(
    email: Annotated[str, typer.Argument(help="The email address of a user who lost all second factors.")],
    as_json: Json = False,
) -> None:
    """Remove a user's authenticator app, passkeys and recovery codes, so that the password is enough."""
    result = wait_for(_reset(read_settings(), email))
    removed = f"{result['passkeys']} passkeys and {result['recovery_codes']} unused recovery codes"
    app_too = "an authenticator app, " if result["totp"] else ""
    show(
        result, f"Removed {app_too}{removed} of {result['email']}. An email tells the user.", as_json=as_json
    )


async def _reset(settings: Settings, email: str) -> dict[str, Any]:
    async with migrated(settings) as database, database.write() as connection:
        user = await user_of(connection, email)
        state = await reset_factors(connection, settings.sign_in_url, user.id)
        return {
            "id": str(user.id),
            "email": user.email,
            "totp": state.totp_created_at is not None,
            "passkeys": state.passkeys,
            "recovery_codes": state.recovery_codes,
        }


async def _create(settings: Settings, data: UserCreate) -> UserRow:
    async with migrated(settings) as database:
        try:
            async with database.write() as connection:
                return await create_user(connection, data.email, data.password, data.name)
        except Duplicate:
            raise CommandError(
                f"A user with the email address {data.email} already exists: choose another address."
            ) from None
