"""SQLAlchemy's driver of SQLite, with one hop to the connection's thread for a statement instead of four."""

import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
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

Finished = tuple[sqlite3.Cursor, Sequence[Any]]


class _Cursor(AsyncAdapt_aiosqlite_cursor):
    """Makes, reads and closes SQLite's cursor in one go; what it says of the statement stays readable."""

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

    async def _run(self, execute: Callable[..., sqlite3.Cursor], *what: Any) -> None:
        driver: Any = self._connection
        adapted = cast(SqliteConnection, self._adapt_connection)
        async with adapted._execute_mutex:
            self._cursor, rows = await driver._execute(
                _finish, adapted.take_begin(), execute, driver._conn, *what
            )
        self._rows = deque(rows)

    async def _async_soft_close(self) -> None:
        """SQLite's cursor is closed already."""

    def close(self) -> None:
        self._rows.clear()


def _finish(
    begin: str | None, execute: Callable[..., sqlite3.Cursor], connection: sqlite3.Connection, *what: Any
) -> Finished:
    if begin is not None:
        connection.execute(begin).close()
    cursor = execute(connection, *what)
    rows = cursor.fetchall() if cursor.description else ()
    cursor.close()
    return cursor, rows


class SqliteConnection(AsyncAdapt_aiosqlite_connection):
    """Begins a transaction together with its first statement, and ends one only where there is one."""

    __slots__ = ("_begin",)

    _cursor_cls = _Cursor

    def __init__(self, dbapi: Any, connection: Any) -> None:
        super().__init__(dbapi, connection)
        self._begin: str | None = None

    def begin(self, mode: str) -> None:
        """Have the next statement begin a transaction: `DEFERRED` or `IMMEDIATE`."""
        self._begin = f"BEGIN {mode}"

    def take_begin(self) -> str | None:
        begin, self._begin = self._begin, None
        return begin

    def cursor(self, server_side: bool = False) -> AsyncAdapt_dbapi_cursor:
        if server_side and (begin := self.take_begin()):
            self.execute(begin)
        return super().cursor(server_side)

    def rollback(self) -> None:
        self._begin = None
        if self._is_in_transaction:
            super().rollback()

    def commit(self) -> None:
        self._begin = None
        if self._is_in_transaction:
            super().commit()

    @property
    def _is_in_transaction(self) -> bool:
        driver: Any = self._connection
        return driver._connection is not None and driver.in_transaction


class SqliteDriver(AsyncAdapt_aiosqlite_dbapi):
    """The `module` of an engine."""

    def __init__(self) -> None:
        super().__init__(aiosqlite, sqlite3)

    def connect(self, *args: Any, **options: Any) -> AsyncAdapt_aiosqlite_connection:
        connection = self.aiosqlite.connect(*args, **options)
        connection._thread.daemon = True
        return SqliteConnection(self, await_(connection))
