"""Engines and units of work: every statement reaches SQLite or PostgreSQL through one of these."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from time import monotonic
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from storage.before_commit import finishing
from storage.dialects.metadata_text import metadata_text
from storage.dialects.sqlite_driver import SqliteDriver

BUSY_TIMEOUT_SECONDS = 30
# A connection that has been idle for longer is pinged before use.
TRUSTED_SECONDS = 5

# Our statements are short: compiling one, or starting processes for it, would take longer than running it.
_POSTGRESQL_SETTINGS = {"jit": "off", "max_parallel_workers_per_gather": "0", "timezone": "UTC"}


class Database:
    """A primary and optionally a read replica.

    `url` and `read_url` are SQLAlchemy URLs for `sqlite+aiosqlite` or `postgresql+asyncpg`. Every statement
    runs in one of three units:

    - `read`: autocommit, for one statement that must not wait;
    - `snapshot`: several statements that see the same state;
    - `write`: one transaction, committed at the end of the block and rolled back if it raises; with
      `repeatable` all its statements see the same state.

    Within a `write`, `write_apart` commits something before the `write` ends.
    """

    def __init__(self, url: str, read_url: str | None = None, pool_size: int = 20) -> None:
        self.engine = _make_engine(url, pool_size)
        self._read_engine = _make_engine(read_url, pool_size) if read_url else self.engine
        self._engine_apart = create_async_engine(self.engine.url, poolclass=NullPool, hide_parameters=True)
        self._writer = asyncio.Lock() if self.is_sqlite else None

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @asynccontextmanager
    async def read(self, *, replica: bool = False) -> AsyncIterator[AsyncConnection]:
        engine = self._read_engine if replica else self.engine
        async with engine.connect() as connection:
            if engine.dialect.name == "postgresql":
                await connection.execution_options(isolation_level="AUTOCOMMIT")
            yield connection

    @asynccontextmanager
    async def snapshot(self, *, replica: bool = False) -> AsyncIterator[AsyncConnection]:
        engine = self._read_engine if replica else self.engine
        async with engine.connect() as connection:
            if engine.dialect.name == "postgresql":
                await connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            else:
                await connection.execution_options(sqlite_begin="DEFERRED")
            async with connection.begin():
                yield connection

    @asynccontextmanager
    async def write(self, *, repeatable: bool = False) -> AsyncIterator[AsyncConnection]:
        async with AsyncExitStack() as stack:
            if self._writer is not None:
                # SQLite has one writer. This lock is fair; waiting in SQLite's busy handler is not.
                await stack.enter_async_context(self._writer)
            connection = await stack.enter_async_context(self.engine.connect())
            if self.is_sqlite:
                await connection.execution_options(sqlite_begin="IMMEDIATE")
            elif repeatable:
                await connection.execution_options(isolation_level="REPEATABLE READ")
            async with connection.begin(), finishing(connection):
                yield connection

    @asynccontextmanager
    async def write_apart(self) -> AsyncIterator[AsyncConnection]:
        """A short transaction during another unit, on PostgreSQL only: SQLite has one writer.

        Its connection is outside the pool: units that each wait for a second connection would exhaust it.
        """
        async with self._engine_apart.connect() as connection, connection.begin():
            yield connection

    async def close(self) -> None:
        await self.engine.dispose()
        await self._read_engine.dispose()


def _make_engine(url: str, pool_size: int) -> AsyncEngine:
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        engine = create_async_engine(
            parsed,
            hide_parameters=True,
            module=SqliteDriver(),
            connect_args={"timeout": BUSY_TIMEOUT_SECONDS},
            pool_size=pool_size,
            # A write through one connection clears the page caches of all others: writers share the last one.
            pool_use_lifo=True,
        )
        event.listen(engine.sync_engine, "connect", _prepare_sqlite)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
        return engine
    engine = create_async_engine(
        parsed,
        hide_parameters=True,
        pool_size=pool_size,
        max_overflow=0,
        connect_args={"server_settings": _POSTGRESQL_SETTINGS},
    )
    event.listen(engine.sync_engine, "checkin", _note_last_use)
    event.listen(engine.sync_engine, "checkout", _replace_lost)
    return engine


def _note_last_use(_connection: Any, record: Any) -> None:
    record.info["last_use"] = monotonic()


def _replace_lost(connection: Any, record: Any, _proxy: Any) -> None:
    """Make the pool reconnect if the server has closed the connection or no longer responds.

    Pinging takes three round trips, so only idle connections are pinged.
    """
    last_use = record.info.get("last_use")
    if last_use is None:
        return
    if connection.driver_connection.is_closed():
        raise InvalidatePoolError
    if monotonic() - last_use > TRUSTED_SECONDS:
        try:
            connection.ping()
        except connection.dbapi.Error:
            raise InvalidatePoolError from None


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # None: the driver never begins a transaction; `_begin_sqlite` does.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
    connection.create_function("metadata_text", 2, metadata_text, deterministic=True)


def _begin_sqlite(connection: Any) -> None:
    """Begin with the write lock for writers, so that none fails half-way on a stale snapshot."""
    if mode := connection.get_execution_options().get("sqlite_begin"):
        connection.connection.dbapi_connection.begin(mode)
