"""Counts that a process gathers in memory, and that it would lose if it were killed: written in batches."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Generic, TypeVar
from uuid import UUID

from storage.engine.connections import Connection
from storage.engine.database import Database

ROWS_AT_A_TIME = 1_000

Key = TypeVar("Key")
Count = TypeVar("Count")


class CountsInMemory(ABC, Generic[Key, Count]):
    """The counts of one process since they were last written, by key.

    If the database is away for long and `most` are unwritten, further ones wait where they are gathered.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._unwritten: dict[Key, Count] = {}
        self._writing = asyncio.Lock()

    async def write(self, database: Database) -> bool:
        """Write what was gathered, in short transactions; what fails is written the next time.

        Returns False: nothing is left that can be written.
        """
        async with self._writing:
            if len(self._unwritten) < self.most:
                self._collect()
            while self._unwritten:
                async with database.write() as connection:
                    counts = dict(islice(self._writable(connection.reachable), ROWS_AT_A_TIME))
                    if not counts:
                        break
                    await self._write(connection, counts)
                for key in counts:
                    del self._unwritten[key]
        return False

    def _writable(self, reachable: frozenset[UUID] | None) -> Iterator[tuple[Key, Count]]:
        """Yield what is unwritten and not of a workspace whose node does not answer."""
        for key, count in self._unwritten.items():
            if reachable is None or (id := self._workspace_of(key)) is None or id in reachable:
                yield key, count

    def _workspace_of(self, key: Key) -> UUID | None:
        """The workspace whose node the count is written to; None if that is the coordinator."""
        return None

    @abstractmethod
    def _collect(self) -> None:
        """Add what was gathered since the last time to `_unwritten`."""

    @abstractmethod
    async def _write(self, connection: Connection, counts: Mapping[Key, Count]) -> None:
        """Add these counts to their rows."""
