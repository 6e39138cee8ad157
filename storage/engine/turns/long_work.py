"""Statements that last long: each payer's key runs only a few of them at a time.

They take processor time from everybody who uses the database. The quick statements of a key do not wait for
its long ones.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from os import cpu_count

from sqlalchemy.exc import TimeoutError as PoolTimeout

from storage.engine.statements.kept import Kept
from storage.engine.turns.waits import PATIENCE_SECONDS

LONG_SECONDS = 0.1
# A statement that was long has to be quick this often, for each second that it took, to count as quick again.
DEBT_PER_SECOND, MOST_DEBT = 100, 100
# No answer is read while the event loop works, so this much of its own work is taken off a run.
MOST_OWN_SECONDS = 1.0
# After so many all are forgotten. A record takes some 200 bytes.
MOST_RECORDS = 20_000


def default_most(most_of_one: int) -> int:
    """Half as many as this machine has processors: that of the database is taken to have as many."""
    return max(1, min(most_of_one, (cpu_count() or 1) // 2))


class LongWork:
    """Gives each key `most` turns at a time for statements that were long, and one for those it never ran.

    One that was long is quick again after as many quick runs as there are 10 ms in the long one.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # The quick runs that each statement of a key still needs.
        self._debts: dict[tuple[str, int], int] = {}
        # By key, for long statements and for new ones.
        self._turns: dict[tuple[str, bool], asyncio.Semaphore] = {}
        self._users: dict[tuple[str, bool], int] = {}
        self.waiting = 0

    def debt(self, key: str, kept: Kept) -> int | None:
        """How often it has to be quick; None if nothing is known of it."""
        return self._debts.get((key, kept.number))

    def note(
        self, key: str, kept: Kept, seconds: float, *, own_seconds: float = 0, has_ended: bool = True
    ) -> None:
        """Note how long a run of the statement lasted; one that did not end only tells if it was long.

        `own_seconds` is how long the event loop's thread worked meanwhile.
        """
        seconds -= min(own_seconds, MOST_OWN_SECONDS)
        record = key, kept.number
        debt = self._debts.get(record)
        if seconds > LONG_SECONDS:
            left = min(MOST_DEBT, int(seconds * DEBT_PER_SECOND))
        elif has_ended:
            left = max(0, (debt or 0) - 1)
        else:
            return
        if debt is None and len(self._debts) >= MOST_RECORDS:
            self._debts.clear()
        self._debts[record] = left

    @asynccontextmanager
    async def turn_for(self, key: str, kept: Kept) -> AsyncIterator[None]:
        """The turn that the statement needs, if it needs one. Raises as `turn` does."""
        if self.debt(key, kept) is None:
            async with self.turn(key, is_new=True):
                if self.debt(key, kept) is None:
                    yield
                    return
        # What waited knows by now what those before it were.
        if self.debt(key, kept) != 0:
            async with self.turn(key):
                if self.debt(key, kept) != 0:
                    yield
                    return
        yield

    @asynccontextmanager
    async def turn(self, key: str, *, is_new: bool = False) -> AsyncIterator[None]:
        """A turn of the key, in the order of asking. Raises SQLAlchemy's `TimeoutError` if none comes."""
        queue = key, is_new
        turns = self._turns.setdefault(queue, asyncio.Semaphore(1 if is_new else self._most))
        self._users[queue] = self._users.get(queue, 0) + 1
        try:
            if turns.locked():
                await self._wait(turns)
            else:
                await turns.acquire()
            try:
                yield
            finally:
                turns.release()
        finally:
            self._users[queue] -= 1
            if not self._users[queue]:
                del self._users[queue], self._turns[queue]

    async def _wait(self, turns: asyncio.Semaphore) -> None:
        self.waiting += 1
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await turns.acquire()
        except TimeoutError:
            raise PoolTimeout(
                f"Long statements of the same caller did not end within {PATIENCE_SECONDS} seconds."
            ) from None
        finally:
            self.waiting -= 1
