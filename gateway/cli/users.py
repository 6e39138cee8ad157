"""What `duograph users` does."""

from typing import Any

from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.input import checked, user_of
from gateway.cli.output import CommandError, show
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


class UserCreate(Input):
    """A new user, as an operator describes it."""

    email: Email
    password: Password
    name: UserName = None


def create(email: str, password: str, name: str | None, *, as_json: bool) -> None:
    data = checked(UserCreate, email=email, password=password, name=name)
    if is_easy_to_guess(data.password, [data.email, *data.email.split("@"), data.name]):
        raise CommandError(f"password: {EASY_TO_GUESS}.")
    user = wait_for(_create(read_settings(), data))
    result = {"id": str(user.id), "email": user.email}
    show(result, f"Created the user {user.email} ({user.id}).", as_json=as_json)


def reset(email: str, *, as_json: bool) -> None:
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
