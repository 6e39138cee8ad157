"""What `duograph users` does."""

from dataclasses import replace
from typing import Any

from gateway.cli.kit.as_user import in_place_of
from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.input import checked, user_of
from gateway.cli.kit.output import CommandError, listing, sheet, show
from gateway.settings.settings import Settings
from oauth.sign_in.password_strength import is_easy_to_guess
from resolvers.accounts.users import create_user, list_users
from resolvers.second_factors.overview import reset_factors, state_of
from resolvers.sign_in.new_passwords import EASY_TO_GUESS
from resolvers.sign_in.own_account import LastOwner, end_account
from resolvers.workspaces.administration import list_memberships
from schema.accounts.accounts import Password, UserName
from schema.kit.base import Input
from schema.values.scalars import Email, write_moment
from storage.rows.rows import Duplicate
from storage.tables.accounts.users import UserRow


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


def list_(limit: int, *, as_json: bool) -> None:
    rows = wait_for(_list(read_settings(), limit))
    show({"users": rows}, listing("users", rows, ("email", "name", "id", "created_at")), as_json=as_json)


def show_(email: str, *, as_json: bool) -> None:
    user = wait_for(_show(read_settings(), email))
    workspaces = [f"{each['slug']} ({each['role']})" for each in user["workspaces"]]
    show(user, sheet({**user, "workspaces": workspaces}), as_json=as_json)


def delete(email: str, *, as_json: bool) -> None:
    user = wait_for(_delete(read_settings(), email))
    show(user, f"Deleted the user {user['email']} ({user['id']}).", as_json=as_json)


async def _list(settings: Settings, limit: int) -> list[dict[str, Any]]:
    async with migrated(settings) as database, database.read() as connection:
        return [_described(user) for user in await list_users(connection, limit)]


async def _show(settings: Settings, email: str) -> dict[str, Any]:
    async with migrated(settings) as database, database.snapshot() as connection:
        user = await user_of(connection, email)
        state = await state_of(connection, user.id)
        memberships = await list_memberships(connection, user.id)
    factors = {
        "totp": state.totp_created_at is not None,
        "passkeys": state.passkeys,
        "recovery_codes": state.recovery_codes,
    }
    workspaces = [{"slug": slug, "role": row.role} for row, slug in memberships]
    return {**_described(user), "workspaces": workspaces, **factors}


async def _delete(settings: Settings, email: str) -> dict[str, Any]:
    """Leave each workspace as the user would on the page, then delete the user, in one transaction."""
    async with migrated(settings) as database, database.write() as connection:
        user = await user_of(connection, email)
        ctx = replace(in_place_of(user, settings, database), transaction=connection)
        try:
            await end_account(ctx, user)
        except LastOwner as last_owner:
            raise CommandError(
                f"{user.email} is the last owner of the workspace {' and of '.join(last_owner.slugs)}: "
                "make another member an owner first, or delete the workspace by `duograph workspaces delete`."
            ) from None
        return {"id": str(user.id), "email": user.email}


def _described(user: UserRow) -> dict[str, Any]:
    return {
        "id": str(user.id),
        "email": user.email,
        "name": user.name,
        "email_verified": user.email_verified_at is not None,
        "created_at": write_moment(user.created_at),
    }


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
