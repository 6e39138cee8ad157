"""Counts that a process gathers in memory, and that it would lose if it were killed: written in batches."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from itertools import islice
from typing import Generic, TypeVar

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

        Returns False: nothing is left to write.
        """
        async with self._writing:
            if len(self._unwritten) < self.most:
                self._collect()
            while self._unwritten:
                counts = dict(islice(self._unwritten.items(), ROWS_AT_A_TIME))
                async with database.write() as connection:
                    await self._write(connection, counts)
                for key in counts:
                    del self._unwritten[key]
        return False

    @abstractmethod
    def _collect(self) -> None:
        """Add what was gathered since the last time to `_unwritten`."""

    @abstractmethod
    async def _write(self, connection: Connection, counts: Mapping[Key, Count]) -> None:
        """Add these counts to their rows."""
