"""Sign-in and sign-out in a browser: on no API surface, but under the same rules."""

from dataclasses import dataclass, field
from functools import partial

from oauth.credentials import Credential
from oauth.revocation.grants import end_user
from oauth.sign_in.passwords import verify_password_aside
from resolvers.accounts.users import find_user, lock_user
from resolvers.credentials.browser_sessions import (
    IN_A_BROWSER,
    end_browser_session,
    end_browser_sessions,
    start_browser_session,
)
from resolvers.mails.mails import NOBODY, Reader
from resolvers.operations.context import Context
from resolvers.operations.declaration import public, requires
from resolvers.operations.security_events import note_refusal, note_sign_in
from resolvers.sign_in.attempts import (
    NOTIFIED_FROM,
    Subject,
    address_subject,
    count_attempt,
    forget_attempts,
    may_notify,
)
from resolvers.sign_in.forgotten_passwords import mail_password_change, mail_wrong_passwords
from resolvers.sign_in.known_browsers import find_token, renew_token
from resolvers.sign_in.mailed_links import end_links
from resolvers.sign_in.new_passwords import hash_new_password
from resolvers.sign_in.second_steps import PendingSignIn, begin_second_step
from schema.accounts.accounts import PasswordChange, SignIn
from schema.errors import Invalid, RateLimited, problem
from storage.engine.connections import Connection
from storage.enums import LinkPurpose
from storage.rows.rows import one, table_of, update_row
from storage.tables.accounts.users import UserRow

_users = table_of(UserRow)


@dataclass(frozen=True)
class Browser:
    """The browser in which a user signs in.

    `session` is the token of its previous session, which ends. `authorization_digest` names the
    authorization request that the sign-in is for. `known_tokens` are the tokens of its former users.
    """

    session: str | None = field(default=None, repr=False)
    user_agent: str | None = None
    authorization_digest: str | None = None
    known_tokens: str = field(default="", repr=False)


@dataclass(frozen=True)
class OpenedSession:
    """The values that the browser keeps after a sign-in: its session and its known-browser tokens."""

    credential: Credential
    known_tokens: str = field(repr=False)


@public("it creates the credential", restricted=True)
async def sign_in(ctx: Context, data: SignIn, browser: Browser) -> OpenedSession | PendingSignIn:
    """Sign in by password; the new session replaces the browser's previous one.

    A user with a second factor gets a second step instead. Raises `Invalid`, and `RateLimited` after too many
    attempts, with the same text and timing for an unknown email as for a wrong password.
    """
    user = await check_password(ctx, data, browser)
    async with ctx.services.database.write() as connection:
        await lock_unchanged(connection, user)
        pending = await begin_second_step(connection, user, browser.authorization_digest)
        return pending or await complete_sign_in(connection, ctx, user, browser)


async def check_password(ctx: Context, data: SignIn, browser: Browser) -> UserRow:
    """The first step of a sign-in: the user with this email and password.

    Raises `Invalid`, and `RateLimited` after too many wrong passwords: of this browser if the user has
    signed in with it before, else of all other browsers together.
    """
    async with ctx.services.database.read() as connection:
        user = await find_user(connection, data.email)
    token = find_token(ctx, user, browser.known_tokens)
    subject = Subject.of(ctx, "browser", token) if token else address_subject(ctx, data.email)
    try:
        failures = await count_attempt(ctx, subject)
    except RateLimited:
        note_refusal("password", user.id if user else None)
        raise
    if not await verify_password_aside(data.password, user.password_hash if user else None) or not user:
        note_refusal("password", user.id if user else None)
        if failures >= NOTIFIED_FROM:
            is_confirmed = user is not None and user.email_verified_at is not None
            owner = Reader(user.email, user.language) if user and is_confirmed else NOBODY
            ctx.caller.after_response.append(partial(_notify_owner, ctx, subject, owner))
        raise _wrong()
    async with ctx.services.database.write() as connection:
        await forget_attempts(connection, subject)
    return user


async def lock_unchanged(connection: Connection, user: UserRow) -> None:
    """Lock the user. Raises `Invalid` if the password has been changed meanwhile."""
    if (await lock_user(connection, user.id)).password_hash != user.password_hash:
        raise _wrong()


async def complete_sign_in(
    connection: Connection, ctx: Context, user: UserRow, browser: Browser
) -> OpenedSession:
    """The last step of a sign-in: the new session replaces the browser's previous one."""
    if browser.session is not None:
        await end_browser_session(connection, browser.session)
    credential = await start_browser_session(
        connection, user.id, ctx.caller.address, browser.user_agent, browser.authorization_digest
    )
    note_sign_in(user.id)
    return OpenedSession(credential, renew_token(ctx, user, browser.known_tokens))


async def sign_out(ctx: Context, session: str) -> None:
    """End the session with this token."""
    async with ctx.services.database.write() as connection:
        await end_browser_session(connection, session)


@requires(None, kinds=IN_A_BROWSER, audits=True)
async def change_password(ctx: Context, data: PasswordChange, known_tokens: str = "") -> str:
    """Change the user's password, and end all other sessions and the links to reset it or change the address.

    With `end_everything`, personal access tokens and the authorizations of applications end too. The user is
    notified if the email is confirmed. Returns the browser's tokens with one for the new password. Raises
    `Invalid` for a wrong current password and for a new one that is easy to guess.
    """
    await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=True)
    user = await find_own_user(ctx)
    if not await is_own_password(ctx, user, data.current_password):
        raise _not_current()
    password_hash = await hash_new_password(
        ctx, data.new_password, user.email, user.name, account=str(user.id), field="new_password"
    )
    async with ctx.change() as change:
        row = await lock_user(change.connection, user.id)
        if row.password_hash != user.password_hash:
            raise _not_current()
        row = await update_row(change.connection, UserRow, row, password_hash=password_hash)
        if data.end_everything:
            await end_user(change.connection, user.id, kept=ctx.principal.credential_id)
        await end_browser_sessions(change.connection, user.id, kept=ctx.principal.credential_id)
        await end_links(change.connection, user.id, LinkPurpose.PASSWORD)
        await end_links(change.connection, user.id, LinkPurpose.NEW_ADDRESS)
        # An unconfirmed email may belong to another person, who should not get more of these.
        if row.email_verified_at is not None:
            await mail_password_change(change, row, everything_ended=data.end_everything)
    return renew_token(ctx, row, known_tokens)


async def _notify_owner(ctx: Context, subject: Subject, owner: Reader) -> None:
    """Email the owner that wrong passwords were entered, at most once a day."""
    async with ctx.change() as change:
        if await may_notify(change.connection, subject):
            await mail_wrong_passwords(change, owner)


async def is_own_password(ctx: Context, user: UserRow, password: str) -> bool:
    """Whether this is the password of the session's user. Raises `RateLimited` after too many wrong ones."""
    subject = Subject.of(ctx, "session", str(ctx.principal.credential_id))
    await count_attempt(ctx, subject)
    if not await verify_password_aside(password, user.password_hash):
        note_refusal("password", user.id)
        return False
    async with ctx.services.database.write() as connection:
        await forget_attempts(connection, subject)
    return True


async def find_own_user(ctx: Context) -> UserRow:
    """The user of the browser session."""
    async with ctx.read() as connection:
        return await one(connection, UserRow, _users.c.id == ctx.principal.user_id)


def _wrong() -> Invalid:
    message = "Wrong email or password"
    return Invalid([problem(("data",), message, "credentials")])


def _not_current() -> Invalid:
    message = "This is not your current password"
    return Invalid([problem(("data", "current_password"), message, "credentials")])
