"""Signing up, in and out: what a person does in a browser. On no surface, but under the same rules."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.credentials import Credential
from oauth.passwords import hash_password_aside, verify_password_aside
from resolvers.accounts import find_user, insert_user, lock_user
from resolvers.browser_sessions import IN_A_BROWSER, end_session, end_sessions, start_session
from resolvers.context import Context
from resolvers.forgotten_passwords import mail_password_change
from resolvers.mailed_links import end_links, mail_link
from resolvers.operations import public, requires
from schema.accounts import PasswordChange, SignIn, SignUp
from schema.errors import Invalid, problem
from storage.enums import LinkPurpose
from storage.rows import Duplicate, table_of, update_row
from storage.tables.users import UserRow

_users = table_of(UserRow)


@public("it is how one comes by a credential", restricted=True)
async def sign_up(
    ctx: Context, data: SignUp, session: str | None = None, user_agent: str | None = None
) -> Credential:
    """A session of a new user, of whom nobody knows yet whether the address is theirs.

    The address is mailed a link that proves it. The session takes the place of `session`, which the browser
    had. Raises `Invalid` where the address is taken.
    """
    password_hash = await hash_password_aside(data.password)
    try:
        async with ctx.change() as unit:
            user = await insert_user(unit.unit, data.email, password_hash, data.name)
            await mail_link(unit, user["id"], LinkPurpose.ADDRESS)
            return await _start(unit.unit, ctx, user["id"], session, user_agent)
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
        if (await lock_user(connection, user["id"]))["password_hash"] != user["password_hash"]:
            raise _wrong()
        return await _start(connection, ctx, user["id"], session, user_agent)


async def sign_out(ctx: Context, session: str) -> None:
    """End the session with this text."""
    async with ctx.services.database.write() as connection:
        await end_session(connection, session)


@requires(None, kinds=IN_A_BROWSER)
async def change_password(ctx: Context, data: PasswordChange) -> None:
    """Change the user's password and end all other sessions, and the links for who forgot it.

    The user is told by mail, if the address is known to be theirs. Raises `Invalid` for a wrong current one.
    """
    await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=True)
    wanted = select(_users).where(_users.c.id == ctx.principal.user_id)
    async with ctx.read() as connection:
        user = (await connection.execute(wanted)).mappings().one()
    if not await verify_password_aside(data.current_password, user["password_hash"]):
        raise _not_current()
    password_hash = await hash_password_aside(data.new_password)
    async with ctx.change() as unit:
        row = await lock_user(unit.unit, user["id"])
        if row["password_hash"] != user["password_hash"]:
            raise _not_current()
        await update_row(unit.unit, UserRow, row, password_hash=password_hash)
        await end_sessions(unit.unit, user["id"], kept=ctx.principal.credential_id)
        await end_links(unit.unit, user["id"], LinkPurpose.PASSWORD)
        # Nobody is mailed again and again who may not be the one who has signed up.
        if row["email_verified_at"] is not None:
            await mail_password_change(unit, row)


async def _start(
    connection: AsyncConnection, ctx: Context, user_id: UUID, session: str | None, user_agent: str | None
) -> Credential:
    if session is not None:
        await end_session(connection, session)
    return await start_session(connection, user_id, ctx.caller.address, user_agent)


def _wrong() -> Invalid:
    message = "The e-mail address or the password is not right"
    return Invalid([problem(("data",), message, "credentials")])


def _not_current() -> Invalid:
    message = "This is not your current password"
    return Invalid([problem(("data", "current_password"), message, "credentials")])
