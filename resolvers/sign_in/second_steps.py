"""The step of a sign-in that comes after the right password: begun, found, taken by a code, and ended."""

import math
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import and_, delete, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.credentials import digest
from resolvers.accounts.users import lock_user
from resolvers.operations.context import Context
from resolvers.second_factors.factors import Event, has_factor, notify_owner
from resolvers.second_factors.recovery_codes import normalize_code, use_code
from resolvers.second_factors.totp import use_totp
from schema.errors import Invalid, RateLimited, problem
from storage.clock import now
from storage.rows import first, insert_row, one, table_of, update_row
from storage.tables.second_steps import SecondStepRow
from storage.tables.users import UserRow

LIFETIME = timedelta(minutes=5)
# Wrong codes that end a step, and that a user's steps have together in any hour.
MOST_TRIES, MOST_TRIES_IN_WINDOW, WINDOW = 5, 10, timedelta(hours=1)

_steps, _users = table_of(SecondStepRow), table_of(UserRow)


@dataclass(frozen=True)
class OpenStep:
    """A step that still counts, and its user."""

    row: SecondStepRow
    user: UserRow


@dataclass(frozen=True)
class PendingSignIn:
    """A sign-in whose second factor is missing: `text` is what the browser keeps, and grants nothing."""

    text: str = field(repr=False)


async def begin_second_step(
    connection: AsyncConnection, user: UserRow, authorization_digest: str | None
) -> PendingSignIn | None:
    """The step for a user whose password was right and who is locked; None if that was enough.

    `authorization_digest` names the authorization request that the sign-in is for.
    """
    if not await has_factor(connection, user.id):
        return None
    text = secrets.token_urlsafe(32)
    await _insert(connection, user, text, authorization_digest=authorization_digest)
    return PendingSignIn(text)


async def find_step(connection: AsyncConnection, pending: str) -> OpenStep | None:
    """The step that still counts and its user."""
    step = await _first(connection, pending)
    if step is None:
        return None
    return _if_open(step, await one(connection, UserRow, _users.c.id == step.user_id))


async def lock_step(connection: AsyncConnection, pending: str) -> OpenStep | None:
    """The step that still counts and its user, who is locked: only one request takes the step."""
    step = await _first(connection, pending)
    if step is None:
        return None
    user = await lock_user(connection, step.user_id)
    # Under the lock it is seen whether another request was faster.
    return _if_open(await _first(connection, pending), user)


async def end_step(connection: AsyncConnection, step: SecondStepRow) -> None:
    await update_row(connection, SecondStepRow, step, ended_at=now())


async def take_code(change: Context, user: UserRow, typed: str, step: SecondStepRow | None = None) -> bool:
    """Whether it is a code of the user's app or a recovery code, which is then used. The user is locked.

    A wrong one is noted, and the fifth of a step ends it; without a step it counts against the user alone.
    Raises `RateLimited` after too many.
    """
    before = await _check_pace(change.connection, user.id)
    if await use_totp(change, user, normalize_code(typed)) or await use_code(change, user, typed):
        return True
    if step is None:
        await _insert(change.connection, user, secrets.token_urlsafe(32), tries=1, ended_at=now())
    else:
        tries = step.tries + 1
        ended = {"ended_at": now()} if tries >= MOST_TRIES else {}
        await update_row(change.connection, SecondStepRow, step, tries=tries, **ended)
    if before + 1 == MOST_TRIES:
        await notify_owner(change, user, Event.WRONG_CODES, tries=MOST_TRIES)
    return False


def wrong_code() -> Invalid:
    message = "This code is wrong, or was used before"
    return Invalid([problem(("data", "code"), message, "code")])


async def _insert(connection: AsyncConnection, user: UserRow, text: str, **values: Any) -> None:
    moment = now()
    outdated = and_(_steps.c.user_id == user.id, _steps.c.created_at < moment - WINDOW)
    await connection.execute(delete(_steps).where(outdated))
    await insert_row(
        connection,
        SecondStepRow,
        user_id=user.id,
        hash=digest(text),
        password_digest=digest(user.password_hash),
        created_at=moment,
        expires_at=moment + LIFETIME,
        **values,
    )


async def _check_pace(connection: AsyncConnection, user_id: UUID) -> int:
    """The user's wrong codes within the hour. Raises `RateLimited` when there are too many."""
    moment = now()
    recent = and_(_steps.c.user_id == user_id, _steps.c.created_at > moment - WINDOW, _steps.c.tries > 0)
    wanted = select(func.coalesce(func.sum(_steps.c.tries), 0), func.min(_steps.c.created_at)).where(recent)
    tries, oldest = (await connection.execute(wanted)).one()
    if tries >= MOST_TRIES_IN_WINDOW:
        seconds = max(math.ceil((oldest + WINDOW - moment).total_seconds()), 1)
        raise RateLimited(
            f"Too many wrong codes were entered for this account. Try again in {math.ceil(seconds / 60)} "
            "minutes, or use a passkey.",
            {"Retry-After": str(seconds)},
        )
    return int(tries)


async def _first(connection: AsyncConnection, pending: str) -> SecondStepRow | None:
    return await first(connection, SecondStepRow, _steps.c.hash == digest(pending))


def _if_open(step: SecondStepRow | None, user: UserRow) -> OpenStep | None:
    if step is None or step.ended_at is not None or step.expires_at <= now():
        return None
    return OpenStep(step, user) if step.password_digest == digest(user.password_hash) else None
