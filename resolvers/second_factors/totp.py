"""Authenticator apps: set up, confirmed by a code, used and removed."""

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete

from oauth.scopes import Scope
from oauth.sign_in.totp import DIGITS, matching_step, new_secret, provisioning_uri
from resolvers.accounts.users import lock_user
from resolvers.credentials.browser_sessions import IN_A_BROWSER
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.second_factors.factors import Event, check_confirmed, drop_codes_without_factor, notify_owner
from resolvers.second_factors.recovery_codes import make_first_codes, normalize_code, session_user_id
from schema.accounts.second_factors import TotpConfirmation
from schema.errors import Invalid, NotFound, NotPermitted, problem
from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.rows import first, insert_row, one, table_of, update_row
from storage.sealing import Purpose, Unreadable, seal, unseal
from storage.tables.accounts.second_factors import TotpSecretRow
from storage.tables.accounts.users import UserRow

# How long a secret that the page shows can be confirmed.
ENROLMENT_LIFETIME = timedelta(minutes=30)

_table, _users = table_of(TotpSecretRow), table_of(UserRow)


@dataclass(frozen=True)
class Enrolment:
    """A secret to set up. The page sends `sealed` back, so nothing is stored before the confirmation."""

    secret: str = field(repr=False)
    uri: str = field(repr=False)
    sealed: str


@requires(Scope.ACCESS_TOKENS_READ, kinds=IN_A_BROWSER)
async def begin_totp(ctx: Context, sealed: str | None = None) -> Enrolment:
    """A new secret for an authenticator app, or the one in `sealed` if it can still be confirmed."""
    async with ctx.read() as connection:
        user = await one(connection, UserRow, _users.c.id == session_user_id(ctx))
        existing = await find_totp(connection, user)
    _check_free(user, existing)
    secret = None if sealed is None else _opened(ctx, sealed)
    if sealed is None or secret is None:
        secret = new_secret()
        end = int((now() + ENROLMENT_LIFETIME).timestamp())
        plain = f"{end}.{secret}".encode()
        sealed = seal(ctx.services.secret_key, Purpose.TOTP_ENROLMENT, plain, _session(ctx))
    return Enrolment(secret, provisioning_uri(secret, user.email), sealed)


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=IN_A_BROWSER, fresh=True, causes=())
async def confirm_totp(ctx: Context, data: TotpConfirmation) -> list[str]:
    """Set up the app: a current code proves that it has the secret. The first factor returns recovery codes.

    Raises `Invalid` for a wrong code.
    """
    user = await lock_user(ctx.connection, session_user_id(ctx))
    _check_free(user, await find_totp(ctx.connection, user))
    secret = _opened(ctx, data.enrolment)
    if secret is None:
        raise _wrong("This page was open for too long: scan the new QR code.")
    step = matching_step(secret, normalize_code(data.code), now())
    if step is None:
        raise _wrong("This is not the current code: wait for the next one and enter it.")
    await insert_row(
        ctx.connection,
        TotpSecretRow,
        user_id=user.id,
        sealed=seal(ctx.services.secret_key, Purpose.TOTP, secret.encode(), str(user.id)),
        last_step=step,
    )
    await notify_owner(ctx, user, Event.TOTP_ADDED)
    return await make_first_codes(ctx, user.id)


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=IN_A_BROWSER, fresh=True, causes=())
async def delete_totp(ctx: Context) -> UUID:
    """Removes the user's authenticator app, and the recovery codes if there is no other factor.

    Returns the user's id.
    """
    user = await lock_user(ctx.connection, session_user_id(ctx))
    if await find_totp(ctx.connection, user) is None:
        raise NotFound("There is no authenticator app.")
    await ctx.connection.execute(delete(_table).where(_table.c.user_id == user.id))
    await drop_codes_without_factor(ctx.connection, user.id)
    await notify_owner(ctx, user, Event.TOTP_REMOVED)
    return session_user_id(ctx)


async def find_totp(connection: Connection, user: UserRow) -> TotpSecretRow | None:
    return await first(connection, TotpSecretRow, _table.c.user_id == user.id)


async def use_totp(change: Context, user: UserRow, code: str) -> bool:
    """Use a code of the app if it is later than the last one accepted. The user must be locked."""
    row = await find_totp(change.connection, user)
    if row is None or len(code) != DIGITS or not code.isdecimal():
        return False
    try:
        secret = unseal(change.services.secret_key, Purpose.TOTP, row.sealed, str(user.id))
    except Unreadable:
        return False
    step = matching_step(secret.decode(), code, now(), after=row.last_step)
    if step is None:
        return False
    await update_row(change.connection, TotpSecretRow, row, last_step=step, last_used_at=now())
    return True


def _check_free(user: UserRow, existing: TotpSecretRow | None) -> None:
    check_confirmed(user)
    if existing is not None:
        raise NotPermitted("You already have an authenticator app: remove it before you set up another.")


def _opened(ctx: Context, sealed: str) -> str | None:
    """The secret of an enrolment of this session that has not expired."""
    try:
        plain = unseal(ctx.services.secret_key, Purpose.TOTP_ENROLMENT, sealed, _session(ctx)).decode()
    except Unreadable:
        return None
    end, _, secret = plain.partition(".")
    return secret if now().timestamp() < int(end) else None


def _session(ctx: Context) -> str:
    return f"{session_user_id(ctx)} {ctx.principal.credential_id}"


def _wrong(message: str) -> Invalid:
    return Invalid([problem(("data", "code"), message, "code")])
