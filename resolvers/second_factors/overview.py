"""All second factors of a user: their state, and their reset by an operator."""

from uuid import UUID

from sqlalchemy import func, select

from oauth.scopes import Scope
from resolvers.accounts.users import lock_user
from resolvers.credentials.browser_sessions import IN_A_BROWSER
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.second_factors.factors import Event, drop_factors, end_steps, factor_mail
from resolvers.second_factors.recovery_codes import count_codes, session_user_id
from schema.accounts.second_factors import SecondFactors
from storage.engine.connections import Connection
from storage.queues.mails import write_mail
from storage.rows.rows import first, table_of
from storage.tables.accounts.second_factors import PasskeyRow, TotpSecretRow

_totp, _passkeys = table_of(TotpSecretRow), table_of(PasskeyRow)


@requires(Scope.ACCESS_TOKENS_READ, kinds=IN_A_BROWSER)
async def get_second_factors(ctx: Context) -> SecondFactors:
    """Returns the state of the user's second factors."""
    async with ctx.snapshot() as connection:
        return await state_of(connection, session_user_id(ctx))


async def reset_factors(connection: Connection, auth_url: str, user_id: UUID) -> SecondFactors:
    """Remove all factors of a user who lost them, and notify the user; returns the former state."""
    user = await lock_user(connection, user_id)
    state = await state_of(connection, user_id)
    await drop_factors(connection, user_id)
    await end_steps(connection, user_id)
    if state.enabled:
        await write_mail(connection, factor_mail(auth_url, user, Event.RESET))
    return state


async def state_of(connection: Connection, user_id: UUID) -> SecondFactors:
    totp = await first(connection, TotpSecretRow, _totp.c.user_id == user_id)
    count = select(func.count()).select_from(_passkeys).where(_passkeys.c.user_id == user_id)
    passkeys = (await connection.execute(count)).scalar_one()
    return SecondFactors(
        enabled=totp is not None or passkeys > 0,
        totp_created_at=totp and totp.created_at,
        totp_last_used_at=totp and totp.last_used_at,
        passkeys=passkeys,
        recovery_codes=await count_codes(connection, user_id),
    )
