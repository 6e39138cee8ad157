"""Wrong passwords and recovery codes, counted for each account, with growing delays.

An attempt is counted before its password is checked, so that concurrent attempts gain nothing over sequential
ones. Unknown addresses are counted like known ones.
"""

from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from sqlalchemy import ColumnElement, update

from resolvers.operations.context import Context
from schema.errors import RateLimited
from storage.clock import now
from storage.dialects.upsert import upsert
from storage.emails import fold_email
from storage.engine.connections import Connection
from storage.rows.rows import first, one, table_of
from storage.sealing import Purpose, sign
from storage.tables.accounts.sign_in_attempts import SignInAttemptRow

SLOTS = 65_536
# After this many wrong passwords in a row the delays begin.
FREE_ATTEMPTS = 5
FIRST_DELAY, LONGEST_DELAY = timedelta(seconds=15), timedelta(hours=1)
FORGOTTEN_AFTER = timedelta(days=1)
NOTIFIED_FROM = 10
NOTIFIED_EVERY = timedelta(days=1)
_TOO_MANY_PASSWORDS = (
    "Too many wrong passwords for this account. Try again in {wait}, or reset your password by email."
)

_table = table_of(SignInAttemptRow)


@dataclass(frozen=True)
class Subject:
    """An account with the browsers that share one count of attempts; `digest` is keyed with our secret."""

    digest: str

    @classmethod
    def of(cls, ctx: Context, *parts: str) -> "Subject":
        return cls(sign(ctx.services.secret_key, Purpose.SIGN_IN_SUBJECT, *parts))

    @property
    def slot(self) -> int:
        return int.from_bytes(self.digest.encode()[:16]) % SLOTS

    @property
    def row(self) -> ColumnElement[bool]:
        return (_table.c.slot == self.slot) & (_table.c.subject == self.digest)


def address_subject(ctx: Context, email: str) -> Subject:
    """The attempts for an address from all browsers that it has not signed in with."""
    return Subject.of(ctx, "address", fold_email(email))


async def count_attempt(ctx: Context, subject: Subject) -> int:
    """Count an attempt and return the number in a row.

    Raises `RateLimited` while the subject has to wait; such attempts are not counted.
    """
    async with ctx.services.database.write() as connection:
        return await count_in(connection, subject, _TOO_MANY_PASSWORDS)


async def count_in(connection: Connection, subject: Subject, refusal: str) -> int:
    """The same in a transaction in progress; `refusal` is told with `{wait}` filled in."""
    row, moment = await _lock(connection, subject), now()
    failures = 0
    if row.subject == subject.digest and moment - row.attempted_at < FORGOTTEN_AFTER:
        failures = row.failures
    wait = row.attempted_at + delay_after(failures) - moment
    if failures and wait > timedelta(0):
        seconds = ceil(wait.total_seconds())
        raise RateLimited(refusal.format(wait=_in_words(seconds)), {"Retry-After": str(seconds)})
    values = {"subject": subject.digest, "failures": failures + 1, "attempted_at": moment}
    if row.subject != subject.digest:
        values["notified_at"] = None
    await connection.execute(update(_table).where(_table.c.slot == subject.slot).values(values))
    return failures + 1


async def forget_attempts(connection: Connection, subject: Subject) -> None:
    """Reset the count after a right password."""
    await connection.execute(update(_table).where(subject.row).values(failures=0))


async def may_notify(connection: Connection, subject: Subject) -> bool:
    """Whether the owner can be notified of wrong passwords: at most once a day. True counts as a notice."""
    row, moment = await first(connection, SignInAttemptRow, subject.row, lock=True), now()
    if row is None or (row.notified_at and moment - row.notified_at < NOTIFIED_EVERY):
        return False
    await connection.execute(update(_table).where(subject.row).values(notified_at=moment))
    return True


def delay_after(failures: int) -> timedelta:
    """The delay before the next attempt, after this many wrong passwords in a row."""
    if failures < FREE_ATTEMPTS:
        return timedelta(0)
    doublings = min(failures - FREE_ATTEMPTS, 16)
    return min(FIRST_DELAY * (1 << doublings), LONGEST_DELAY)


async def _lock(connection: Connection, subject: Subject) -> SignInAttemptRow:
    """Lock the row of the subject's slot, which may hold another subject.

    The insert always runs, so that a first attempt takes the same steps as any other.
    """
    values = {"slot": subject.slot, "subject": subject.digest, "failures": 0, "attempted_at": now()}
    statement = upsert(connection.dialect.name, _table).values(values).on_conflict_do_nothing()
    await connection.execute(statement)
    return await one(connection, SignInAttemptRow, _table.c.slot == subject.slot, lock=True)


def _in_words(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} seconds"
    return f"{-(-seconds // 60)} minutes"
