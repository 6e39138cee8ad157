"""The pool that lends connections to units of work."""

import asyncio
from collections.abc import Sequence
from time import monotonic
from typing import Any

from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine

from storage.connections import Connection, Listener, PostgresqlConnection, SqliteThread, Values
from storage.kept import Kept

# How long a unit of work waits for a connection.
PATIENCE_SECONDS = 30


class Connections:
    """A pool of at most `size` connections: the one used last is lent first, in the order of asking."""

    def __init__(self, engine: AsyncEngine, size: int) -> None:
        self._engine = engine
        self._slots = asyncio.Semaphore(size)
        self._free: list[Connection] = []
        self.listeners: list[Listener] = []

    async def take(self) -> Connection:
        """A connection, which the caller gives back. Raises SQLAlchemy's `TimeoutError` if none gets free."""
        if self._slots.locked():
            await self._wait()
        else:
            await self._slots.acquire()
        try:
            while self._free:
                connection = self._free.pop()
                if await self._is_usable(connection):
                    return connection
            return await self.open()
        except BaseException:
            self._slots.release()
            raise

    async def fetch(self, kept: Kept, values: Values) -> Sequence[Any]:
        """The rows of one kept statement, which commits by itself."""
        connection = await self.take()
        try:
            rows = await connection.fetch(kept, values)
        except BaseException as error:
            await self.end_use(connection, error)
            raise
        self.give_back(connection)
        return rows

    async def end_use(self, connection: Connection, error: BaseException) -> None:
        """Take back a connection after an error: one that may be in the middle of a statement is dropped."""
        if isinstance(error, Exception) and await connection.is_usable():
            self.give_back(connection)
        else:
            await self.drop(connection)

    def give_back(self, connection: Connection) -> None:
        connection.last_use = monotonic()
        self._free.append(connection)
        self._slots.release()

    async def drop(self, connection: Connection) -> None:
        """Take back a connection that is not used again."""
        try:
            await connection.discard()
        finally:
            self._slots.release()

    async def close(self) -> None:
        """Close the connections that are not in use."""
        while self._free:
            await self._free.pop().close()
        await self._engine.dispose()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._slots.acquire()
        except TimeoutError:
            message = f"No connection to the database got free within {PATIENCE_SECONDS} seconds."
            raise PoolTimeout(message) from None

    async def _is_usable(self, connection: Connection) -> bool:
        """Whether the connection can be lent; another one is closed."""
        is_usable = False
        try:
            is_usable = await connection.is_usable()
        finally:
            if not is_usable:
                await connection.discard()
        return is_usable

    async def open(self) -> Connection:
        """A connection outside the pool, which the caller closes."""
        alchemy = await self._engine.connect()
        adapted = (await alchemy.get_raw_connection()).dbapi_connection
        if self._engine.dialect.name == "sqlite":
            return SqliteThread(alchemy, adapted, self.listeners)
        await alchemy.execution_options(isolation_level="AUTOCOMMIT")
        return PostgresqlConnection(alchemy, adapted, self.listeners)
