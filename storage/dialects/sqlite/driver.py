"""Connections to SQLite: aiosqlite's, with fewer hops to their threads, and an end for what was given up.

Statements without a result, BEGIN and those that are `put_off`, run with the next statement or the COMMIT.
"""

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from time import monotonic, sleep
from types import SimpleNamespace
from typing import Any, TypeVar
from weakref import WeakSet

import aiosqlite
from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_dbapi

from storage.dialects.json_rows import LONGEST_TEXT, InsideTooLong, LinesTooLong, NestedTooDeep
from storage.dialects.metadata_text import metadata_text
from storage.dialects.sqlite.refusals import ChangesRefused

SECONDS_BETWEEN_INTERRUPTS = 0.01
# How long a new connection tries to give a new file a write-ahead log.
WAL_SECONDS = 30
SECONDS_BETWEEN_TRIES = 0.01
# aiosqlite's own default.
_ROWS_AT_A_TIME = 64

Kind = TypeVar("Kind", bound=sqlite3.Connection)


class _ThreadsConnection(sqlite3.Connection):
    """The connection in the thread, which runs what waits before anything else.

    The event loop adds to what waits while the thread has nothing to do.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.begin = ""
        self.put_off: list[tuple[str, Sequence[Sequence[Any]]]] = []
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        self._run_waiting()
        cursor = super().execute(sql, parameters)
        self._cursors.add(cursor)
        return cursor

    def executemany(self, sql: str, parameters: Iterable[Any]) -> sqlite3.Cursor:
        self._run_waiting()
        return super().executemany(sql, parameters)

    def commit(self) -> None:
        self._run_waiting()
        super().commit()

    def fetch_bounded(self, sql: str, parameters: Any) -> list[Any]:
        """All rows of a statement that makes no text longer than `LONGEST_TEXT`."""
        self._run_waiting()
        usual = self.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_TEXT)
        try:
            return super().execute(sql, parameters).fetchall()
        finally:
            self.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, usual)

    def close(self) -> None:
        """Close, which rolls back what has not been committed; it can be called again. Never raises.

        SQLite keeps a closed connection, with its locks, until the last of its half-read statements has
        ended, and until then it does not forget an interrupt either, which would stop a ROLLBACK.
        """
        for cursor in self._cursors:
            cursor.close()
        super().close()

    def forget_waiting(self) -> None:
        self.begin, self.put_off = "", []

    def _run_waiting(self) -> None:
        begin, put_off = self.begin, self.put_off
        self.forget_waiting()
        if begin:
            super().execute(begin)
        for statement, rows in put_off:
            super().executemany(statement, rows)


class SqliteDriver(aiosqlite.Connection):
    """aiosqlite's connection; one that is given up ends without waiting for what it runs."""

    def __init__(self, file: str, options: dict[str, Any]) -> None:
        def connect() -> sqlite3.Connection:
            self._in_thread = opened(file, _ThreadsConnection, **options)
            return self._in_thread

        super().__init__(connect, _ROWS_AT_A_TIME)
        self._is_given_up = False
        self._end: asyncio.Future[Any] | None = None

    def cursor(self) -> Any:
        return _Cursor(self)

    def begin(self, mode: str) -> None:
        """Begin a transaction, `DEFERRED` or `IMMEDIATE`, with the next statement."""
        self._in_thread.begin = f"BEGIN {mode}"

    def put_off(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement, which no row can make fail, before the next one or before the COMMIT."""
        self._in_thread.put_off.append((statement, rows))

    async def commit(self) -> None:
        if self._in_thread.put_off or self.in_transaction:
            await super().commit()
        self._in_thread.forget_waiting()

    async def rollback(self) -> None:
        self._in_thread.forget_waiting()
        if self._end is None and self.in_transaction:
            await super().rollback()

    async def fetch_bounded(self, statement: str, values: Sequence[Any]) -> list[Any]:
        """All rows of a statement, whose texts are bounded. Raises `sqlite3.Error`."""
        run: Any = self._execute  # Without annotations in the library.
        rows: list[Any] = await run(self._in_thread.fetch_bounded, statement, values)
        return rows

    def give_up(self) -> None:
        """Let `close` interrupt the statement that runs, even if it has yet to begin."""
        self._is_given_up = True

    async def close(self) -> None:
        """Close the connection when its thread has run what it was told; it can be called again."""
        end: Any = self._end or self.stop()
        self._end = end
        while self._is_given_up and not end.done():
            # These are raised if the thread has closed the connection.
            with suppress(sqlite3.ProgrammingError, ValueError):
                await self.interrupt()
            # SQLite forgets an interrupt that comes before a statement or between two.
            await asyncio.wait([end], timeout=SECONDS_BETWEEN_INTERRUPTS)
        # To wait for it by itself would cancel it together with its first caller.
        await asyncio.wait([end])
        end.result()


class _Cursor:
    """What SQLAlchemy takes for a cursor: it hops to the thread to run, and again if it has rows.

    aiosqlite's cursor also hops there to be made and to be closed.
    """

    arraysize = 1

    def __init__(self, driver: SqliteDriver) -> None:
        self._driver = driver
        self._cursor: Any = None
        self._has_rows = False

    async def __aenter__(self) -> "_Cursor":
        return self

    async def execute(self, operation: str, parameters: Sequence[Any] = ()) -> None:
        self._cursor = await self._driver.execute(operation, parameters)
        self._has_rows = self._cursor.description is not None

    async def executemany(self, operation: str, rows: Iterable[Sequence[Any]]) -> None:
        self._cursor = await self._driver.executemany(operation, rows)

    async def fetchall(self) -> Iterable[Any]:
        rows: Iterable[Any] = await self._cursor.fetchall()
        self._has_rows = False
        return rows

    async def close(self) -> None:
        # SQLite has ended a statement whose rows have all been read.
        if self._has_rows:
            await self._cursor.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)


def refusal(error: BaseException) -> Exception | None:
    """`ChangesRefused` for the error of a trigger, which is not about the row, `LinesTooLong` for that of a
    text which is too long, `InsideTooLong` for one that was cut off inside another, `NestedTooDeep` for that
    of the parser; None for others.
    """
    # These errors have no codes of their own.
    message = str(error)
    if message == "parser stack overflow":
        return NestedTooDeep()
    if message == "malformed JSON":
        return InsideTooLong()
    code = getattr(error, "sqlite_errorcode", None)
    if code == sqlite3.SQLITE_CONSTRAINT_TRIGGER:
        return ChangesRefused(str(error))
    return LinesTooLong() if code == sqlite3.SQLITE_TOOBIG else None


def opened(file: str, kind: type[Kind], **options: Any) -> Kind:
    """A new connection of sqlite3, set up. Raises `sqlite3.Error`."""
    connection: Kind = sqlite3.connect(file, factory=kind, **options)
    try:
        # None: the driver never begins a transaction; we do.
        connection.isolation_level = None
        _use_wal(connection)
        for pragma in ("synchronous=NORMAL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")
        connection.create_function("metadata_text", 2, metadata_text, deterministic=True)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def is_busy(error: BaseException | None) -> bool:
    """Whether others kept the file locked for longer than the connection waits."""
    # The lower byte is the kind of the error, the others its details.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def _use_wal(connection: sqlite3.Connection) -> None:
    """Give the file a write-ahead log. Of those who do so at once, SQLite refuses some without waiting."""
    until = monotonic() + WAL_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or monotonic() > until:
                raise
        sleep(SECONDS_BETWEEN_TRIES)


def _connect(file: str, **options: Any) -> SqliteDriver:
    return SqliteDriver(file, options)


_aiosqlite: Any = SimpleNamespace(**vars(aiosqlite) | {"connect": _connect})
# The DB-API module that an engine is given as `module`: SQLAlchemy's, over our `connect`.
DRIVER = AsyncAdapt_aiosqlite_dbapi(_aiosqlite, sqlite3)
