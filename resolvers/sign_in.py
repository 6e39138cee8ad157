"""Signing up, in and out: what a person does in a browser. On no surface, but under the same rules."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.credentials import Credential
from oauth.passwords import hash_password_aside, verify_password_aside
from resolvers.accounts import find_user, insert_user, lock_user
from resolvers.browser_sessions import (
    IN_A_BROWSER,
    end_session,
    end_sessions,
    renew_session,
    start_session,
)
from resolvers.context import Context
from resolvers.forgotten_passwords import mail_password_change
from resolvers.mailed_links import end_links, mail_link
from resolvers.operations import public, requires
from schema.accounts import PasswordChange, PasswordConfirmation, SignIn, SignUp
from schema.errors import Invalid, problem
from storage.enums import LinkPurpose
from storage.rows import Duplicate, Values, table_of, update_row
from storage.tables.users import UserRow

_users = table_of(UserRow)


@dataclass(frozen=True)
class Browser:
    """The browser in which a user signs in.

    `session` is the text of the session that it had, which ends. `authorization_digest` names the
    authorization request that the sign-in is for.
    """

    session: str | None = field(default=None, repr=False)
    user_agent: str | None = None
    authorization_digest: str | None = None


@public("it is how one comes by a credential", restricted=True)
async def sign_up(ctx: Context, data: SignUp, browser: Browser) -> Credential:
    """A session of a new user, of whom nobody knows yet whether the address is theirs.

    The address is mailed a link that proves it. Raises `Invalid` where the address is taken.
    """
    password_hash = await hash_password_aside(data.password)
    try:
        async with ctx.change() as unit:
            user = await insert_user(unit.unit, data.email, password_hash, data.name)
            await mail_link(unit, user["id"], LinkPurpose.ADDRESS)
            return await open_session(unit.unit, ctx, user["id"], browser)
    except Duplicate:
        message = "Somebody has signed up with this address already"
        raise Invalid([problem(("data", "email"), message, "duplicate")]) from None


@public("it is how one comes by a credential", restricted=True)
async def sign_in(ctx: Context, data: SignIn, browser: Browser) -> Credential:
    """A new session in the place of the one that the browser had.

    Raises `Invalid`, the same and after the same time for an unknown address and a wrong password.
    """
    user = await check_password(ctx, data)
    async with ctx.services.database.write() as connection:
        await lock_unchanged(connection, user)
        return await open_session(connection, ctx, user["id"], browser)


async def check_password(ctx: Context, data: SignIn) -> Values:
    """The first step of a sign-in: the user with this address and password. Raises `Invalid`."""
    async with ctx.services.database.read() as connection:
        user = await find_user(connection, data.email)
    if not await verify_password_aside(data.password, user["password_hash"] if user else None) or not user:
        raise _wrong()
    return user


async def lock_unchanged(connection: AsyncConnection, user: Values) -> None:
    """Lock the user. Raises `Invalid` if the password has been changed meanwhile."""
    if (await lock_user(connection, user["id"]))["password_hash"] != user["password_hash"]:
        raise _wrong()


async def open_session(
    connection: AsyncConnection, ctx: Context, user_id: UUID, browser: Browser
) -> Credential:
    """The last step of a sign-in: the browser's new session, in the place of the one that it had."""
    if browser.session is not None:
        await end_session(connection, browser.session)
    return await start_session(
        connection, user_id, ctx.caller.address, browser.user_agent, browser.authorization_digest
    )


@requires(None, kinds=IN_A_BROWSER)
async def confirm_password(ctx: Context, data: PasswordConfirmation) -> datetime:
    """When the user proved again who they are: the session may hand out access for an hour from then.

    Raises `Invalid` for a wrong password.
    """
    await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=True)
    user = await _find_own(ctx)
    if not await verify_password_aside(data.password, user["password_hash"]):
        raise Invalid([problem(("data", "password"), "This is not your password", "credentials")])
    async with ctx.services.database.write() as connection:
        await lock_unchanged(connection, user)
        return await renew_session(connection, ctx.principal.credential_id)


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
    user = await _find_own(ctx)
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


async def _find_own(ctx: Context) -> Values:
    """The user of the browser session."""
    wanted = select(_users).where(_users.c.id == ctx.principal.user_id)
    async with ctx.read() as connection:
        return dict((await connection.execute(wanted)).mappings().one())


def _wrong() -> Invalid:
    message = "The e-mail address or the password is not right"
    return Invalid([problem(("data",), message, "credentials")])


def _not_current() -> Invalid:
    message = "This is not your current password"
    return Invalid([problem(("data", "current_password"), message, "credentials")])
