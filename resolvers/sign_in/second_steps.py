"""The second step of a sign-in, after the right password: begun, read, checked by a code, and ended."""

import math
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import and_, delete, func, select

from oauth.credentials import digest
from resolvers.accounts.users import lock_user
from resolvers.operations.context import Context
from resolvers.operations.security_events import note_refusal
from resolvers.second_factors.factors import Event, has_factor, notify_owner
from resolvers.second_factors.recovery_codes import is_recovery_code, normalize_code, use_code
from resolvers.second_factors.totp import use_totp
from resolvers.sign_in.attempts import Subject, count_in, forget_attempts
from schema.errors import Invalid, RateLimited, problem
from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.rows import first, insert_row, one, table_of, update_row
from storage.tables.accounts.second_steps import SecondStepRow
from storage.tables.accounts.users import UserRow

LIFETIME = timedelta(minutes=5)
# The wrong codes that end a step, and the most for all steps of a user in an hour.
MOST_TRIES, MOST_TRIES_IN_WINDOW, WINDOW = 5, 10, timedelta(hours=1)
_TOO_MANY_RECOVERY_CODES = (
    "Too many wrong recovery codes were entered for this account. Try again in {wait}, or use a passkey."
)

_steps, _users = table_of(SecondStepRow), table_of(UserRow)


@dataclass(frozen=True)
class OpenStep:
    """A step that has not ended, and its user."""

    row: SecondStepRow
    user: UserRow


@dataclass(frozen=True)
class PendingSignIn:
    """A sign-in that needs a second factor; the browser keeps `text`, which grants no access."""

    text: str = field(repr=False)


async def begin_second_step(
    connection: Connection, user: UserRow, authorization_digest: str | None
) -> PendingSignIn | None:
    """Begin the step of a locked user whose password was right; None if the user has no second factor.

    `authorization_digest` names the authorization request that the sign-in is for.
    """
    if not await has_factor(connection, user.id):
        return None
    text = secrets.token_urlsafe(32)
    await _insert(connection, user, text, authorization_digest=authorization_digest)
    return PendingSignIn(text)


async def find_step(connection: Connection, pending: str) -> OpenStep | None:
    """The step and its user; None if it has ended."""
    step = await _first(connection, pending)
    if step is None:
        return None
    return _if_open(step, await one(connection, UserRow, _users.c.id == step.user_id))


async def lock_step(connection: Connection, pending: str) -> OpenStep | None:
    """The same, with the user locked, so that only one request completes the step."""
    step = await _first(connection, pending)
    if step is None:
        return None
    user = await lock_user(connection, step.user_id)
    # Read again under the lock: another request may have completed the step meanwhile.
    return _if_open(await _first(connection, pending), user)


async def end_step(connection: Connection, step: SecondStepRow) -> None:
    await update_row(connection, SecondStepRow, step, ended_at=now())


async def take_code(change: Context, user: UserRow, typed: str, step: SecondStepRow | None = None) -> bool:
    """Use a code of the user's app or a recovery code; whether it was right. The user must be locked.

    Wrong codes of an app are counted, and the fifth ends the step; without a step they count only for the
    user. Raises `RateLimited` after too many. Recovery codes have a count of their own, so that a guesser who
    knows the password keeps no owner out.
    """
    is_right = False
    try:
        if is_recovery_code(typed):
            is_right = await _take_recovery_code(change, user, typed)
        else:
            is_right = await _take_code_of_app(change, user, typed, step)
    finally:
        if not is_right:
            note_refusal("code", user.id)
    return is_right


async def _take_code_of_app(change: Context, user: UserRow, typed: str, step: SecondStepRow | None) -> bool:
    before = await _check_pace(change.connection, user.id)
    if await use_totp(change, user, normalize_code(typed)):
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
    message = "This code is wrong or has been used"
    return Invalid([problem(("data", "code"), message, "code")])


async def _take_recovery_code(change: Context, user: UserRow, typed: str) -> bool:
    subject = Subject.of(change, "recovery", str(user.id))
    failures = await count_in(change.connection, subject, _TOO_MANY_RECOVERY_CODES)
    if await use_code(change, user, typed):
        await forget_attempts(change.connection, subject)
        return True
    if failures == MOST_TRIES:
        await notify_owner(change, user, Event.WRONG_CODES, tries=MOST_TRIES)
    return False


async def _insert(connection: Connection, user: UserRow, text: str, **values: Any) -> None:
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


async def _check_pace(connection: Connection, user_id: UUID) -> int:
    """The user's wrong codes of the last hour. Raises `RateLimited` if they are too many."""
    moment = now()
    recent = and_(_steps.c.user_id == user_id, _steps.c.created_at > moment - WINDOW, _steps.c.tries > 0)
    statement = select(func.coalesce(func.sum(_steps.c.tries), 0), func.min(_steps.c.created_at)).where(
        recent
    )
    tries, oldest = (await connection.execute(statement)).one()
    if tries >= MOST_TRIES_IN_WINDOW:
        seconds = max(math.ceil((oldest + WINDOW - moment).total_seconds()), 1)
        raise RateLimited(
            f"Too many wrong codes were entered for this account. Try again in {math.ceil(seconds / 60)} "
            "minutes, or use a recovery code or a passkey.",
            {"Retry-After": str(seconds)},
        )
    return int(tries)


async def _first(connection: Connection, pending: str) -> SecondStepRow | None:
    return await first(connection, SecondStepRow, _steps.c.hash == digest(pending))


def _if_open(step: SecondStepRow | None, user: UserRow) -> OpenStep | None:
    if step is None or step.ended_at is not None or step.expires_at <= now():
        return None
    return OpenStep(step, user) if step.password_digest == digest(user.password_hash) else None
