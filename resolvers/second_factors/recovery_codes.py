"""Recovery codes: ten for each user with a second factor, shown once, each used once."""

import re
import secrets
from contextlib import suppress
from uuid import UUID

from sqlalchemy import and_, delete, func, select

from oauth.credentials import digest
from oauth.scopes import Scope
from resolvers.accounts.users import lock_user
from resolvers.credentials.browser_sessions import IN_A_BROWSER
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.second_factors.factors import Event, has_factor, notify_owner
from schema.errors import NotFound
from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.rows import every_of, insert_rows, table_of, update_row
from storage.sealing import Purpose, Unreadable, is_signed, seal, unseal
from storage.tables.accounts.second_factors import RecoveryCodeRow
from storage.tables.accounts.users import UserRow

COUNT = 10
# 59 bits, without characters that look alike: 0 and O, 1 and I.
LENGTH, GROUP = 12, 4
ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

_BETWEEN_GROUPS = re.compile(r"[\s-]")
_codes = table_of(RecoveryCodeRow)


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=IN_A_BROWSER, fresh=True, causes=())
async def renew_recovery_codes(ctx: Context) -> list[str]:
    """Replace the user's codes with ten new ones. Raises `NotFound` for a user without a factor."""
    user = await lock_user(ctx.connection, session_user_id(ctx))
    if not await has_factor(ctx.connection, user.id):
        raise NotFound("You have no second factor: set one up first.")
    await notify_owner(ctx, user, Event.CODES_RENEWED)
    return await make_codes(ctx, user.id)


async def make_codes(change: Context, user_id: UUID) -> list[str]:
    """Create ten codes, which replace the previous ones."""
    await change.connection.execute(delete(_codes).where(_codes.c.user_id == user_id))
    codes = ["".join(secrets.choice(ALPHABET) for _ in range(LENGTH)) for _ in range(COUNT)]
    rows = [{"user_id": user_id, "hash": _sealed(change, user_id, code)} for code in codes]
    await insert_rows(change.connection, RecoveryCodeRow, rows)
    return ["-".join(code[at : at + GROUP] for at in range(0, LENGTH, GROUP)) for code in codes]


async def make_first_codes(change: Context, user_id: UUID) -> list[str]:
    """Create ten codes for a user who has none, with the first factor; else an empty list."""
    own_code = select(_codes.c.id).where(_codes.c.user_id == user_id).limit(1)
    return [] if (await change.connection.execute(own_code)).first() else await make_codes(change, user_id)


async def use_code(change: Context, user: UserRow, typed: str) -> bool:
    """Use an unused code of the user, who must be locked and is notified; whether it was right."""
    unused = select(_codes).where(_codes.c.user_id == user.id, _codes.c.used_at.is_(None))
    rows = await every_of(change.connection, RecoveryCodeRow, unused)
    code = normalize_code(typed)
    row = next((each for each in rows if _is_of(change, each, code)), None)
    if row is None:
        return False
    await update_row(change.connection, RecoveryCodeRow, row, used_at=now())
    await notify_owner(change, user, Event.CODE_USED, left=await count_codes(change.connection, user.id))
    return True


async def count_codes(connection: Connection, user_id: UUID) -> int:
    """The number of the user's unused codes."""
    unused = and_(_codes.c.user_id == user_id, _codes.c.used_at.is_(None))
    result = await connection.execute(select(func.count()).select_from(_codes).where(unused))
    return int(result.scalar_one())


def normalize_code(typed: str) -> str:
    """A typed code in capitals, without spaces and hyphens."""
    return _BETWEEN_GROUPS.sub("", typed).upper()


def is_recovery_code(typed: str) -> bool:
    """Whether this is written as a recovery code, and so is no code of an app."""
    code = normalize_code(typed)
    return len(code) == LENGTH and set(code).issubset(ALPHABET)


def session_user_id(ctx: Context) -> UUID:
    """The id of the browser session's user."""
    user_id = ctx.principal.user_id
    if user_id is None:
        raise RuntimeError("A browser session always has a user.")
    return user_id


def _sealed(ctx: Context, user_id: UUID, code: str) -> str:
    """The digest of the code, which another secret key can seal anew without the code."""
    return seal(ctx.services.secret_key, Purpose.RECOVERY_CODE, digest(code).encode(), str(user_id))


def _is_of(ctx: Context, row: RecoveryCodeRow, code: str) -> bool:
    secret, user_id = ctx.services.secret_key, str(row.user_id)
    if "." not in row.hash:
        # An earlier version signed the code itself.
        return is_signed(secret, Purpose.RECOVERY_CODE, row.hash, user_id, code)
    with suppress(Unreadable):
        kept = unseal(secret, Purpose.RECOVERY_CODE, row.hash, user_id)
        return secrets.compare_digest(kept, digest(code).encode())
    return False
