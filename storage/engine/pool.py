"""The pool that lends connections to units of work."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine

from storage.dialects.sqlite_reader import SqliteReader
from storage.engine.connection_terms import Terms
from storage.engine.connections import (
    Connection,
    PostgresqlConnection,
    SqliteThread,
    Values,
)
from storage.engine.engines import keep_alive
from storage.engine.kept_statements import Kept
from storage.engine.outages import DatabaseUnreachable, is_lost
from storage.engine.watched_statements import StatementWatch, Watching, watch_engine

# How long a unit of work waits for a connection.
PATIENCE_SECONDS = 30


class Connections:
    """A pool of at most `size` connections: the one used last is lent first, in the order of asking.

    A connection that is given back goes straight to the unit of work that has waited longest. `watch` is
    entered around each statement.
    """

    def __init__(
        self, engine: AsyncEngine, size: int, terms: Terms, watch: StatementWatch | None = None
    ) -> None:
        self._engine = engine
        self._terms = terms
        self.watching = Watching(watch)
        if watch is not None:
            watch_engine(engine.sync_engine, watch)
        self.size = size
        self._free: list[Connection] = []
        # How many more connections may be opened.
        self._left = size
        # Units of work that wait get a connection, or None if they are to open one.
        self._waiting: deque[asyncio.Future[Connection | None]] = deque()

    @property
    def free(self) -> int:
        """How many open connections are not in use."""
        return len(self._free)

    @property
    def used(self) -> int:
        return self.size - self._left - len(self._free)

    @property
    def waiting(self) -> int:
        """How many units of work wait for a connection."""
        return len(self._waiting)

    def _take_fresh(self) -> Connection | None:
        """The connection used last, if it is free and surely usable."""
        return self._free.pop() if self._free and self._free[-1].is_fresh() else None

    async def take(self) -> Connection:
        """A connection, which the caller gives back. Raises SQLAlchemy's `TimeoutError` if none gets free."""
        if self._free:
            connection: Connection | None = self._free.pop()
        elif self._left:
            self._left -= 1
            connection = None
        else:
            connection = await self._wait()
        if connection is not None and connection.is_fresh():
            return connection
        try:
            while connection is not None:
                if await self._is_usable(connection):
                    return connection
                connection = self._another()
            return await self.open()
        except BaseException:
            self._lend(None)
            raise

    async def fetch(self, kept: Kept, values: Values) -> Sequence[Any]:
        """The rows of one kept statement, which commits by itself."""
        connection = self._take_fresh() or await self.take()
        try:
            rows = await connection.fetch(kept, values)
        except BaseException as error:
            await self.end_use(connection, error)
            raise
        self.give_back(connection)
        return rows

    async def end_use(self, connection: Connection, error: BaseException) -> None:
        """Take back a connection after an error: one that may be in the middle of a statement is dropped."""
        is_usable = False
        try:
            is_usable = isinstance(error, Exception) and not is_lost(error) and await connection.is_usable()
        finally:
            # The unit may be cancelled while it waits for the server to answer.
            if is_usable:
                self.give_back(connection)
            else:
                await self.drop(connection)

    def give_back(self, connection: Connection) -> None:
        connection.note_use()
        if self._waiting:
            self._lend(connection)
        else:
            self._free.append(connection)

    async def drop(self, connection: Connection) -> None:
        """Take back a connection that is not used again."""
        try:
            await connection.discard()
        finally:
            self._lend(None)

    def abort_free(self) -> None:
        """Cut the connections that are not in use; those that ask for one find them closed."""
        for connection in self._free:
            connection.abort()

    async def close(self) -> None:
        """Close the connections that are not in use."""
        while self._free:
            self._left += 1
            await self._free.pop().close()
        await self._engine.dispose()

    def _lend(self, connection: Connection | None) -> None:
        """Hand a connection, or with None the right to open one, to the unit that has waited longest."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(connection)
                return
        if connection is None:
            self._left += 1
        else:
            self._free.append(connection)

    async def _wait(self) -> Connection | None:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Connection | None] = loop.create_future()
        timer = loop.call_later(PATIENCE_SECONDS, _give_up, waiter)
        self._waiting.append(waiter)
        try:
            return await waiter
        except BaseException:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            elif waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                # It was served in the moment in which its unit was cancelled.
                self._lend(waiter.result())
            raise
        finally:
            timer.cancel()

    def _another(self) -> Connection | None:
        """A free connection in place of one that was closed, which may be opened again by others."""
        if not self._free:
            return None
        self._left += 1
        return self._free.pop()

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
        """A connection outside the pool, which the caller closes. Raises `DatabaseUnreachable`."""
        try:
            alchemy = await self._engine.connect()
        except OSError as error:
            raise DatabaseUnreachable(error.errno, f"No connection to the database: {error}") from error
        adapted: Any = (await alchemy.get_raw_connection()).dbapi_connection
        if self._engine.dialect.name == "sqlite":
            return SqliteThread(alchemy, adapted, self.watching)
        await alchemy.execution_options(isolation_level="AUTOCOMMIT")
        keep_alive(adapted.driver_connection)
        return PostgresqlConnection(alchemy, adapted, self.watching, self._terms)


class SqliteConnections(Connections):
    """Runs short reads on the event loop, without a connection of the pool."""

    def __init__(
        self, engine: AsyncEngine, size: int, terms: Terms, watch: StatementWatch | None = None
    ) -> None:
        super().__init__(engine, size, terms, watch)
        self._reader = SqliteReader(engine.dialect, engine.url)

    async def fetch(self, kept: Kept, values: Values) -> Sequence[Any]:
        written = kept.on(self._engine.dialect)
        with self.watching.watched(written.text):
            rows = self._reader.fetch(written.text, written.arguments(values))
        if rows is None:
            # A watch sees the statement twice.
            return await super().fetch(kept, values)
        self.watching.tell(written.text)
        return rows

    async def close(self) -> None:
        self._reader.close()
        await super().close()


def _give_up(waiter: asyncio.Future[Connection | None]) -> None:
    if not waiter.done():
        message = f"No connection to the database got free within {PATIENCE_SECONDS} seconds."
        waiter.set_exception(PoolTimeout(message))
