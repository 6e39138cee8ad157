"""Statements that last long: each payer's key has few of them run at a time.

Their processor time is taken from everybody on the machine of the database. The quick statements of a key do
not wait for its long ones.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from sqlalchemy.exc import TimeoutError as PoolTimeout

from storage.engine.lending.waits import PATIENCE_SECONDS

LONG_SECONDS = 0.1
# How often a statement that was long has to be quick to be so again, at most.
MOST_DEBT = 100
# After so many all are forgotten. A record takes some 200 bytes.
MOST_RECORDS = 20_000


class LongWork:
    """Gives each key `most` turns at a time for statements that were long, or that it has not run before.

    One that was long is quick again after as many quick runs as there are 100 ms in the long one.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # The quick runs that each statement of a key still needs. By hash, so that it keeps no statement.
        self._needed: dict[tuple[str, int], int] = {}
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._users: dict[str, int] = {}
        self.waiting = 0

    def is_quick(self, key: str, statement: Hashable) -> bool:
        return self._needed.get((key, hash(statement))) == 0

    def was_long(self, key: str, statement: Hashable) -> bool:
        return self._needed.get((key, hash(statement)), 0) > 0

    def note(self, key: str, statement: Hashable, seconds: float, *, has_ended: bool = True) -> None:
        """Note how long a run of the statement lasted; one that did not end only tells if it was long."""
        record = key, hash(statement)
        if seconds > LONG_SECONDS:
            needed = min(MOST_DEBT, int(seconds / LONG_SECONDS))
        elif has_ended:
            needed = max(0, self._needed.get(record, 0) - 1)
        else:
            return
        if len(self._needed) >= MOST_RECORDS:
            self._needed.clear()
        self._needed[record] = needed

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[None]:
        """A turn of the key, in the order of asking. Raises SQLAlchemy's `TimeoutError` if none comes."""
        turns = self._turns.setdefault(key, asyncio.Semaphore(self._most))
        self._users[key] = self._users.get(key, 0) + 1
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
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key], self._turns[key]

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
