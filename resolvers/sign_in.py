"""Signing up, in and out: what a person does in a browser. On no surface, but under the same rules."""

from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.credentials import Credential
from oauth.passwords import hash_password_aside, verify_password_aside
from oauth.principals import PrincipalKind
from resolvers.accounts import find_user, insert_user
from resolvers.browser_sessions import end_other_sessions, end_session, start_session
from resolvers.context import Context
from resolvers.operations import public, requires
from schema.accounts import PasswordChange, SignIn, SignUp
from schema.errors import Invalid, problem
from storage.rows import Duplicate, table_of, update_row
from storage.tables.users import UserRow

_users = table_of(UserRow)
_IN_A_BROWSER = frozenset({PrincipalKind.BROWSER_SESSION})


@public("it is how one comes by a credential", restricted=True)
async def sign_up(
    ctx: Context, data: SignUp, session: str | None = None, user_agent: str | None = None
) -> Credential:
    """A session of a new user, of whom nobody knows yet whether the address is theirs.

    It takes the place of `session`, which the browser had. Raises `Invalid` where the address is taken.
    """
    password_hash = await hash_password_aside(data.password)
    try:
        async with ctx.services.database.write() as connection:
            user = await insert_user(connection, data.email, password_hash, data.name)
            return await _start(connection, ctx, user["id"], session, user_agent)
    except Duplicate:
        message = "Somebody has signed up with this address already"
        raise Invalid([problem(("data", "email"), message, "duplicate")]) from None


@public("it is how one comes by a credential", restricted=True)
async def sign_in(
    ctx: Context, data: SignIn, session: str | None = None, user_agent: str | None = None
) -> Credential:
    """A new session, which takes the place of `session`, the one that the browser had.

    Raises `Invalid`, the same and after the same time for an unknown address and a wrong password.
    """
    async with ctx.services.database.read() as connection:
        user = await find_user(connection, data.email)
    if not await verify_password_aside(data.password, user["password_hash"] if user else None) or not user:
        raise _wrong()
    async with ctx.services.database.write() as connection:
        # The password may have been changed meanwhile, which ends the sessions that there were.
        if (await _locked(connection, user["id"]))["password_hash"] != user["password_hash"]:
            raise _wrong()
        return await _start(connection, ctx, user["id"], session, user_agent)


async def sign_out(ctx: Context, session: str) -> None:
    """End the session with this text."""
    async with ctx.services.database.write() as connection:
        await end_session(connection, session)


@requires(None, kinds=_IN_A_BROWSER)
async def change_password(ctx: Context, data: PasswordChange) -> None:
    """Change the user's password and end all other sessions. Raises `Invalid` for a wrong current one."""
    await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=True)
    wanted = select(_users).where(_users.c.id == ctx.principal.user_id)
    async with ctx.services.database.read() as connection:
        user = (await connection.execute(wanted)).mappings().one()
    if not await verify_password_aside(data.current_password, user["password_hash"]):
        raise _not_current()
    password_hash = await hash_password_aside(data.new_password)
    async with ctx.services.database.write() as connection:
        row = await _locked(connection, user["id"])
        if row["password_hash"] != user["password_hash"]:
            raise _not_current()
        await update_row(connection, UserRow, row, password_hash=password_hash)
        await end_other_sessions(connection, user["id"], ctx.principal.credential_id)


async def _start(
    connection: AsyncConnection, ctx: Context, user_id: UUID, session: str | None, user_agent: str | None
) -> Credential:
    if session is not None:
        await end_session(connection, session)
    return await start_session(connection, user_id, ctx.caller.address, user_agent)


async def _locked(connection: AsyncConnection, user_id: UUID) -> dict[str, Any]:
    found = await connection.execute(select(_users).where(_users.c.id == user_id).with_for_update())
    return dict(found.mappings().one())


def _wrong() -> Invalid:
    message = "The e-mail address or the password is not right"
    return Invalid([problem(("data",), message, "credentials")])


def _not_current() -> Invalid:
    message = "This is not your current password"
    return Invalid([problem(("data", "current_password"), message, "credentials")])
