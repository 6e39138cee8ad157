"""The pool that lends connections to units of work."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from time import monotonic, thread_time
from typing import Any, TypeAlias
from weakref import WeakSet

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from storage.engine.connection_terms import Terms
from storage.engine.connections import (
    Connection,
    PostgresqlConnection,
    SqliteThread,
    Values,
)
from storage.engine.engines import keep_alive
from storage.engine.outages import DatabaseUnreachable, is_lost
from storage.engine.payers import PART, Held, Payer, key_of
from storage.engine.statements.kept import Kept
from storage.engine.statements.watched import StatementWatch, Watching, watch_engine
from storage.engine.turns.long_work import LONG_SECONDS, LongWork, default_most
from storage.engine.turns.waits import Waits

PostgresqlKind: TypeAlias = Callable[[AsyncConnection, Any, Watching, Terms], PostgresqlConnection]


class Connections:
    """A pool of at most `size` connections: the one used last is lent first.

    A payer's key holds at most `most_of_one`, by default a quarter, and of these `most_long` for statements
    that last long. Of the units of work that wait, the keys take turns, and those of one key are served in
    the order of asking: a connection that is given back goes straight to the next one. `watch` is entered
    around each statement.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        size: int,
        terms: Terms,
        watch: StatementWatch | None = None,
        *,
        most_of_one: int | None = None,
        most_long: int | None = None,
    ) -> None:
        self.engine = engine
        self._terms = terms
        self.watching = Watching(watch)
        if watch is not None:
            watch_engine(engine.sync_engine, watch)
        self.size = size
        self._free: list[Connection] = []
        # How many more connections may be opened.
        self._left = size
        most_of_one = most_of_one or max(1, size // PART)
        self._held = Held(most_of_one)
        self.long_work = LongWork(most_long or default_most(most_of_one))
        self._kind: PostgresqlKind = PostgresqlConnection
        self._opened: WeakSet[PostgresqlConnection] = WeakSet()
        self._waits = Waits()

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
        return len(self._waits)

    def _take_fresh(self, payer: Payer | None) -> Connection | None:
        """The connection used last, if it is free, surely usable, and the payer may have it."""
        if not (self._free and self._free[-1].is_fresh() and self._held.take(key_of(payer))):
            return None
        return _lent(self._free.pop(), payer)

    async def take(self, payer: Payer | None = None) -> Connection:
        """A connection, which the caller gives back. Raises SQLAlchemy's `TimeoutError` if none gets free."""
        key = key_of(payer)
        if (self._free or self._left) and self._held.take(key):
            connection = self._next_connection()
        else:
            connection = await self._wait(key)
        if connection is None or not connection.is_fresh():
            try:
                connection = await self._usable(connection)
            except BaseException:
                self._held.end(key)
                self._take_back(None)
                raise
        return _lent(connection, payer)

    def fetch(
        self, kept: Kept, values: Values, payer: Payer | None = None
    ) -> Coroutine[Any, Any, Sequence[Any]]:
        """The rows of one kept statement, which commits by itself."""
        if payer is None or self.long_work.debt(payer.key, kept) == 0:
            return self._fetch(kept, values, payer)
        return self._fetch_in_turn(kept, values, payer)

    async def _fetch_in_turn(self, kept: Kept, values: Values, payer: Payer) -> Sequence[Any]:
        async with self.long_work.turn_for(payer.key, kept):
            return await self._fetch(kept, values, payer, is_quick=False)

    async def _fetch(
        self, kept: Kept, values: Values, payer: Payer | None, *, is_quick: bool = True
    ) -> Sequence[Any]:
        connection = self._take_fresh(payer) or await self.take(payer)
        began, worked = connection.lent_at, thread_time()
        try:
            rows = await connection.fetch(kept, values)
        except BaseException as error:
            if payer is not None and not is_lost(error):
                seconds, own = monotonic() - began, thread_time() - worked
                self.long_work.note(payer.key, kept, seconds, own_seconds=own, has_ended=False)
            await self.end_use(connection, error)
            raise
        seconds = self.give_back(connection)
        if payer is not None and (seconds > LONG_SECONDS or not is_quick):
            self.long_work.note(payer.key, kept, seconds, own_seconds=thread_time() - worked)
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

    def give_back(self, connection: Connection) -> float:
        """Take back a connection; gives the seconds for which its payer had it."""
        connection.note_use()
        seconds = self._end_turn(connection)
        if self._waits:
            self._take_back(connection)
        else:
            self._free.append(connection)
        return seconds

    async def drop(self, connection: Connection) -> None:
        """Take back a connection that is not used again."""
        try:
            await connection.discard()
        finally:
            self._end_turn(connection)
            self._take_back(None)

    def replace_all(self, kind: PostgresqlKind, held: Callable[[Held, int], Held]) -> None:
        """Open connections of another kind, and close those that are open once they are given back.

        `held` makes what counts them of what did so before and of the pool's size.
        """
        self._kind, self._held = kind, held(self._held, self.size)
        for connection in self._opened:
            connection.end_life()

    def abort_free(self) -> None:
        """Cut the connections that are not in use; those that ask for one find them closed."""
        for connection in self._free:
            connection.abort()

    async def close(self) -> None:
        """Close the connections that are not in use."""
        while self._free:
            self._left += 1
            await self._free.pop().close()
        await self.engine.dispose()

    def _next_connection(self) -> Connection | None:
        """The connection used last, which is no longer free; None if one is to be opened."""
        if self._free:
            return self._free.pop()
        self._left -= 1
        return None

    def _end_turn(self, connection: Connection) -> float:
        """Count the connection and its time for the payer, who has it no longer."""
        payer = connection.payer
        if payer is None:
            return 0.0
        connection.payer = None
        seconds = monotonic() - connection.lent_at
        payer.seconds += seconds
        self._held.end(payer.key)
        return seconds

    def _take_back(self, connection: Connection | None) -> None:
        """Lend a connection, or with None the right to open one, to the next unit of work, or keep it."""
        if connection is None:
            self._left += 1
        else:
            self._free.append(connection)
        # More than one may be served: a key that gave this one back may have another that was free.
        while (self._free or self._left) and (waiter := self._waits.take_next(self._held.take)) is not None:
            waiter.served.set_result(self._next_connection())

    async def _wait(self, key: str | None) -> Connection | None:
        waiter = self._waits.add(key)
        served: asyncio.Future[Connection | None] = waiter.served
        try:
            return await served
        except BaseException:
            self._waits.leave(key, waiter)
            if served.done() and not served.cancelled() and served.exception() is None:
                # It was served in the moment in which its unit was cancelled.
                self._held.end(key)
                self._take_back(served.result())
            raise

    async def _usable(self, connection: Connection | None) -> Connection:
        """The connection, or another one if it was closed meanwhile. Raises `DatabaseUnreachable`."""
        while connection is not None:
            if await self._is_usable(connection):
                return connection
            connection = self._another()
        return await self.open()

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
            alchemy = await self.engine.connect()
        except OSError as error:
            raise DatabaseUnreachable(error.errno, f"No connection to the database: {error}") from error
        adapted: Any = (await alchemy.get_raw_connection()).dbapi_connection
        if self.engine.dialect.name == "sqlite":
            return SqliteThread(alchemy, adapted, self.watching)
        await alchemy.execution_options(isolation_level="AUTOCOMMIT")
        keep_alive(adapted.driver_connection)
        connection = self._kind(alchemy, adapted, self.watching, self._terms)
        self._opened.add(connection)
        return connection


def _lent(connection: Connection, payer: Payer | None) -> Connection:
    """The connection, which works for the payer from now on."""
    if payer is not None:
        connection.payer, connection.lent_at = payer, monotonic()
    return connection
