"""SQLAlchemy's driver for SQLite, with one hop to the connection's thread per statement instead of four.

Statements without a result, BEGIN and those that are `put_off`, run with the next statement or the COMMIT.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any, cast

import aiosqlite
from sqlalchemy.connectors.asyncio import AsyncAdapt_dbapi_connection, AsyncAdapt_dbapi_cursor
from sqlalchemy.dialects.sqlite.aiosqlite import (
    AsyncAdapt_aiosqlite_connection,
    AsyncAdapt_aiosqlite_cursor,
    AsyncAdapt_aiosqlite_dbapi,
)
from sqlalchemy.util import EMPTY_DICT
from sqlalchemy.util.concurrency import await_

from storage.dialects.metadata_text import metadata_text
from storage.dialects.refusals import ChangesRefused

SECONDS_BETWEEN_INTERRUPTS = 0.01

Finished = tuple[sqlite3.Cursor, Sequence[Any]]
Step = Callable[[sqlite3.Connection], sqlite3.Cursor]


class _Cursor(AsyncAdapt_aiosqlite_cursor):
    """Makes, reads and closes SQLite's cursor in one hop; the cursor's description stays readable."""

    __slots__ = ()

    def __init__(self, adapt_connection: AsyncAdapt_dbapi_connection) -> None:
        self._adapt_connection = adapt_connection
        self._connection = adapt_connection._connection
        self._soft_closed_memoized = EMPTY_DICT
        self._rows = deque()

    async def _execute_async(self, operation: Any, parameters: Any) -> None:
        await self._run(sqlite3.Connection.execute, operation, () if parameters is None else parameters)

    async def _executemany_async(self, operation: Any, seq_of_parameters: Any) -> None:
        await self._run(sqlite3.Connection.executemany, operation, seq_of_parameters)

    async def _run(self, execute: Callable[..., sqlite3.Cursor], *arguments: Any) -> None:
        driver: Any = self._connection
        adapted = cast(SqliteConnection, self._adapt_connection)
        async with adapted._execute_mutex:
            self._cursor, rows = await driver._execute(
                _finish, adapted.take_waiting(), execute, driver._conn, *arguments
            )
        self._rows = deque(rows)

    async def _async_soft_close(self) -> None:
        """SQLite's cursor is closed already."""

    def close(self) -> None:
        self._rows.clear()


def _finish(
    waiting: Sequence[Step],
    execute: Callable[..., sqlite3.Cursor],
    connection: sqlite3.Connection,
    *arguments: Any,
) -> Finished:
    _run_all(waiting, connection)
    try:
        cursor = execute(connection, *arguments)
    except sqlite3.IntegrityError as error:
        raise _told_by_trigger(error) from error
    rows = cursor.fetchall() if cursor.description else ()
    cursor.close()
    return cursor, rows


def _run_all(waiting: Sequence[Step], connection: sqlite3.Connection) -> None:
    try:
        for step in waiting:
            step(connection).close()
    except sqlite3.IntegrityError as error:
        raise _told_by_trigger(error) from error


def _interrupt_until_it_ends(thread: Thread, connection: sqlite3.Connection) -> None:
    """Interrupt what a thread runs, again and again until the thread has ended."""
    # SQLite forgets an interrupt that comes before a statement or between two.
    if thread.is_alive():
        # It raises if the thread has closed the connection.
        with suppress(sqlite3.ProgrammingError):
            connection.interrupt()
        again = partial(_interrupt_until_it_ends, thread, connection)
        asyncio.get_running_loop().call_later(SECONDS_BETWEEN_INTERRUPTS, again)


def _told_by_trigger(error: sqlite3.IntegrityError) -> Exception:
    """`ChangesRefused` for the error of a trigger, which is not about the row; otherwise the error itself."""
    is_refusal = error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_TRIGGER
    return ChangesRefused(str(error)) if is_refusal else error


def _commit(waiting: Sequence[Step], connection: sqlite3.Connection) -> None:
    _run_all(waiting, connection)
    connection.commit()


class SqliteConnection(AsyncAdapt_aiosqlite_connection):
    """Begins a transaction together with its first statement, and ends it only if it has begun."""

    __slots__ = ("_begin", "_put_off")

    _cursor_cls = _Cursor

    def __init__(self, dbapi: Any, connection: Any) -> None:
        super().__init__(dbapi, connection)
        self._begin: list[Step] = []
        self._put_off: list[Step] = []

    def begin(self, mode: str) -> None:
        """Begin a transaction, `DEFERRED` or `IMMEDIATE`, with the next statement."""
        self._begin = [lambda connection: connection.execute(f"BEGIN {mode}")]

    def put_off(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement, which no row can make fail, before the next one or before the COMMIT."""
        self._put_off.append(lambda connection: connection.executemany(statement, rows))

    def take_waiting(self) -> list[Step]:
        waiting, self._begin, self._put_off = self._begin + self._put_off, [], []
        return waiting

    async def fetch(self, statement: str, values: Sequence[Any]) -> Sequence[Any]:
        """The rows of a statement, without a cursor of SQLAlchemy's. Raises sqlite3's errors."""
        driver: Any = self._connection
        async with self._execute_mutex:
            _, rows = await driver._execute(
                _finish, self.take_waiting(), sqlite3.Connection.execute, driver._conn, statement, values
            )
        return cast("Sequence[Any]", rows)

    def cursor(self, server_side: bool = False) -> AsyncAdapt_dbapi_cursor:
        if server_side:
            self._hop(_run_all)
        return super().cursor(server_side)

    def rollback(self) -> None:
        self.take_waiting()
        if self._is_in_transaction:
            super().rollback()

    def commit(self) -> None:
        if self._put_off:
            self._hop(_commit)
        elif self._is_in_transaction:
            super().commit()
        self.take_waiting()

    def terminate(self) -> None:
        """Close the connection; interrupts a statement whose caller gave up, even if it has yet to begin."""
        driver: Any = self._connection
        if driver._connection is not None:
            driver._connection.interrupt()
        super().terminate()

    async def _terminate_graceful_close(self) -> None:
        driver: Any = self._connection
        if driver._connection is not None:
            _interrupt_until_it_ends(driver._thread, driver._connection)
        # Not `driver.close()`: if its caller is cancelled again, SQLAlchemy stops the driver meanwhile, and
        # the stop at the end of `close` is never answered.
        if driver._running:
            await driver.stop()

    def _hop(self, run: Callable[[Sequence[Step], sqlite3.Connection], None]) -> None:
        driver: Any = self._connection
        try:
            await_(driver._execute(run, self.take_waiting(), driver._conn))
        except (sqlite3.Error, ValueError) as error:
            self._handle_exception(error)

    @property
    def _is_in_transaction(self) -> bool:
        driver: Any = self._connection
        return driver._connection is not None and driver.in_transaction


class SqliteDriver(AsyncAdapt_aiosqlite_dbapi):
    """The DB-API module that an engine is given as `module`."""

    def __init__(self) -> None:
        super().__init__(aiosqlite, sqlite3)

    def connect(self, *args: Any, **options: Any) -> AsyncAdapt_aiosqlite_connection:
        connection = self.aiosqlite.connect(*args, **options)
        connection._thread.daemon = True
        return SqliteConnection(self, await_(connection))


def prepare_connection(connection: Any, _record: Any = None) -> None:
    """Set up a new connection, of this driver or of sqlite3's own."""
    # None: the driver never begins a transaction; we do.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
    connection.create_function("metadata_text", 2, metadata_text, deterministic=True)
