"""Connections to a database, on which SQLAlchemy's statements and kept ones run side by side."""

import logging
import socket
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from random import uniform
from time import monotonic
from typing import Any, TypeVar

import asyncpg
from sqlalchemy import Executable
from sqlalchemy.engine import CursorResult, Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.util.concurrency import greenlet_spawn

from storage.caches import Cache
from storage.dialects.sqlite_driver import SqliteConnection
from storage.engine.connection_terms import Terms
from storage.engine.kept_statements import Kept, KeptText
from storage.engine.outages import DatabaseUnreachable

log = logging.getLogger(__name__)

# A connection that has been idle for longer is asked before use.
TRUSTED_SECONDS = 5
# Of the longest life of a connection: those that are opened together are not replaced together.
LIFE_PART = (0.9, 1.0)
# The server's process keeps the plan of each prepared statement: some 45 bytes for each letter of its text,
# measured with `pg_backend_memory_contexts`; that of a list with nested lists takes 200 KB.
BYTES_OF_A_LETTER = 50
BYTES_PREPARED = 8 * 1024 * 1024
# A server or proxy that is gone without a word is noticed after 60 seconds.
KEEP_ALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 60_000}

DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)

Listener = Callable[[str], None]
Values = Mapping[str, Any]
Result = TypeVar("Result")


def listeners_of_log() -> list[Listener]:
    """The log, if it shows statements now; asking it at each one takes 0.5 % of a short request."""
    return [partial(log.debug, "%s")] if log.isEnabledFor(logging.DEBUG) else []


def tell(listeners: Sequence[Listener], written: KeptText) -> None:
    """Tell the listeners which kept statement runs."""
    for listener in listeners:
        listener(written.text)


class Connection(ABC):
    """An open connection: `execute` runs SQLAlchemy's statements, `fetch` kept ones, in the same session.

    Without `begin`, each statement commits by itself. `driver` is the driver's own connection. `listeners`
    are told the text of each kept statement; SQLAlchemy has events for the others. `works` is what the
    transaction leaves to its end (`storage/engine/before_commit.py`); None outside `Database.write`.
    """

    def __init__(self, alchemy: AsyncConnection, adapted: Any, listeners: Sequence[Listener]) -> None:
        self._alchemy = alchemy
        self._adapted = adapted
        self._listeners = listeners
        self.driver: Any = adapted.driver_connection
        self.dialect: Dialect = alchemy.dialect
        self.last_use = monotonic()
        self.works: dict[Any, Any] | None = None
        self._is_broken = False

    async def execute(
        self, statement: Executable, values: Values | Sequence[Values] | None = None
    ) -> CursorResult[*tuple[Any, ...]]:
        return await self._alchemy.execute(statement, values)

    async def exec_driver_sql(self, text: str, values: Any = None) -> CursorResult[*tuple[Any, ...]]:
        """A statement in the database's own SQL."""
        return await self._alchemy.exec_driver_sql(text, values)

    def stream(self, statement: Executable) -> Any:
        """The rows of a statement while they arrive, like `AsyncConnection.stream`."""
        return self._alchemy.stream(statement)

    async def run_sync(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """The function's result: SQLAlchemy's connection is its first argument, and it may wait inside."""
        return await self._alchemy.run_sync(function, *arguments)

    @abstractmethod
    async def fetch(self, kept: Kept, values: Values) -> Sequence[Any]:
        """All rows of a kept statement, as the driver returns them. Raises `DBAPIError`."""

    @abstractmethod
    async def begin(self, *, writes: bool, repeatable: bool) -> None:
        """Begin a transaction; with `repeatable` all its statements see the same state."""

    @abstractmethod
    async def commit(self) -> None:
        """End a transaction. Raises `DBAPIError`, and `RuntimeError` if the server has rolled it back."""

    async def rollback(self) -> None:
        """End a transaction that failed, if it has not ended. Never raises."""
        try:
            await self._rollback()
        except (DBAPIError, OSError, sqlite3.Error):
            self._is_broken = True

    @abstractmethod
    async def _rollback(self) -> None:
        """End a transaction that failed, if it has not ended. Raises `DBAPIError` or the driver's errors."""

    def is_fresh(self) -> bool:
        """Whether the connection was used so recently that the server surely still answers."""
        return monotonic() - self.last_use < TRUSTED_SECONDS and not self._is_broken and not self.is_closed()

    def note_use(self) -> None:
        """Remember that the connection was used now."""
        self.last_use = monotonic()

    def is_closed(self) -> bool:
        """Whether this side has closed the connection, as SQLAlchemy does if a statement is cancelled."""
        return self._alchemy.invalidated

    async def is_usable(self) -> bool:
        """Whether the server still answers; after recent use this is assumed."""
        return not (self._is_broken or self.is_closed())

    def abort(self) -> None:
        """Cut the connection at once: a statement that waits for the server fails."""
        self.driver.terminate()

    async def close(self) -> None:
        with suppress(DBAPIError, OSError):
            await self._alchemy.close()

    async def discard(self) -> None:
        """Close a connection that may be in the middle of a statement."""
        with suppress(DBAPIError, OSError):
            await self._alchemy.invalidate()
            await self._alchemy.close()

    def _translated(self, error: Exception) -> Exception:
        """The error as SQLAlchemy would raise it, without the values of the statement."""
        if isinstance(error, asyncpg.InternalClientError):
            return DatabaseUnreachable("The connection to the database is ending.")
        base = self.dialect.loaded_dbapi.Error
        try:
            self._adapted._handle_exception(error)
        except base as adapted:
            return DBAPIError.instance(
                "a kept statement", None, adapted, base, hide_parameters=True, dialect=self.dialect
            )
        except OSError as lost:
            return DatabaseUnreachable(lost.errno, f"The connection to the database was lost: {lost}")
        raise AssertionError("unreachable")


class PostgresqlConnection(Connection):
    """A connection whose kept statements are prepared under names, so that the server keeps their plans.

    Behind a pooler they have no names: what is kept is how to write their values and read their rows.
    """

    def __init__(
        self, alchemy: AsyncConnection, adapted: Any, listeners: Sequence[Listener], terms: Terms
    ) -> None:
        super().__init__(alchemy, adapted, listeners)
        self._prepared: Cache[KeptText, Any] = Cache(BYTES_PREPARED)
        self._in_transaction = False
        self._is_pooled = terms.pooled
        self._beginning = terms.beginning
        part = uniform(*LIFE_PART)  # noqa: S311 - nothing secret depends on it
        self._end_of_life = self.last_use + part * terms.life_seconds

    async def fetch(self, kept: Kept, values: Values) -> Sequence[Any]:
        written = kept.on(self.dialect)
        if self._listeners:
            tell(self._listeners, written)
        arguments = written.arguments(values)
        try:
            prepared = self._prepared.get(written) or await self._prepare(written)
            protocol = self.driver._protocol
            if protocol is None:
                raise asyncpg.InterfaceError("The connection is closed.")
            # What `prepared.fetch(*arguments)` does, without its four inner calls: a tenth of a short read.
            rows: Sequence[Any] = await protocol.bind_execute(prepared._state, arguments, "", 0, False, None)
            return rows
        except asyncpg.InvalidCachedStatementError as error:
            # A migration changed a table. In a transaction, which has failed, the client has to try again.
            self._prepared.clear()
            if self._in_transaction:
                raise self._translated(error) from error
        except DRIVER_ERRORS as error:
            raise self._translated(error) from error
        return await self.fetch(kept, values)

    async def _prepare(self, written: KeptText) -> Any:
        prepared = await self.driver.prepare(written.text, name="" if self._is_pooled else None)
        self._prepared.keep(written, prepared, BYTES_OF_A_LETTER * len(written.text))
        return prepared

    async def begin(self, *, writes: bool, repeatable: bool) -> None:
        isolation = " ISOLATION LEVEL REPEATABLE READ" if repeatable else ""
        await self._run(f"BEGIN{isolation}{'' if writes else ' READ ONLY'}{self._beginning}")
        self._in_transaction = True

    async def commit(self) -> None:
        self._in_transaction = False
        if await self._run("COMMIT") != "COMMIT":
            # This is the answer to the COMMIT of a transaction in which a statement has failed.
            raise RuntimeError("A statement failed without ending the unit, which is rolled back.")

    async def _rollback(self) -> None:
        if self._in_transaction:
            self._in_transaction = False
            await self._run("ROLLBACK")

    def note_use(self) -> None:
        now = monotonic()
        # One that is too old is no longer fresh, and `is_usable` finds out why.
        self.last_use = now if now < self._end_of_life else -inf

    def is_closed(self) -> bool:
        return bool(self.driver.is_closed())

    async def is_usable(self) -> bool:
        if not await super().is_usable() or self.last_use == -inf:
            return False
        # Behind a pooler, a statement that failed before it was sent still holds a server's connection.
        if self._is_pooled or not self.is_fresh():
            try:
                await self._run("SELECT 1")
            except (DBAPIError, OSError):
                return False
        return True

    async def _run(self, text: str) -> str:
        """Run a command and return the server's word for what was done. Raises `DBAPIError`."""
        try:
            return str(await self.driver.execute(text))
        except DRIVER_ERRORS as error:
            raise self._translated(error) from error


def keep_alive(driver: Any) -> None:
    """Let the kernel notice that the other end is gone."""
    connected: socket.socket = driver._transport.get_extra_info("socket")
    if connected.family == socket.AF_UNIX:
        return
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE.items():
        if (option := getattr(socket, name, None)) is not None:  # Not on every system.
            connected.setsockopt(socket.IPPROTO_TCP, option, value)


class SqliteThread(Connection):
    """A connection with a thread of its own, to which each kept statement takes one hop."""

    async def fetch(self, kept: Kept, values: Values) -> Sequence[Any]:
        written = kept.on(self.dialect)
        if self._listeners:
            tell(self._listeners, written)
        adapted: SqliteConnection = self._adapted
        try:
            return await adapted.fetch(written.text, written.arguments(values))
        except (sqlite3.Error, OSError) as error:
            raise self._translated(error) from error

    def put_off(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement in SQLite's own SQL together with the next one or with the COMMIT."""
        self._adapted.put_off(statement, rows)

    async def begin(self, *, writes: bool, repeatable: bool) -> None:
        # Writers take the lock at once, so that none fails half-way on a stale snapshot.
        self._adapted.begin("IMMEDIATE" if writes else "DEFERRED")

    async def commit(self) -> None:
        try:
            await greenlet_spawn(self._adapted.commit)
        except sqlite3.Error as error:
            raise self._translated(error) from error

    async def _rollback(self) -> None:
        await greenlet_spawn(self._adapted.rollback)
