"""Units of work: every statement reaches SQLite or PostgreSQL through one of these."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Dialect, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from storage.before_commit import finishing
from storage.connections import Connection, Listener
from storage.dialects.sqlite_driver import SqliteDriver, prepare_connection
from storage.kept import Kept
from storage.pool import Connections
from storage.sqlite_pool import SqliteConnections

BUSY_TIMEOUT_SECONDS = 30

# Our statements are short: compiling one, or starting processes for it, would take longer than running it.
_POSTGRESQL_SETTINGS = {"jit": "off", "max_parallel_workers_per_gather": "0", "timezone": "UTC"}


class Database:
    """A primary and optionally a read replica.

    `url` and `read_url` are SQLAlchemy URLs for `sqlite+aiosqlite` or `postgresql+asyncpg`. Every statement
    runs in one of three units:

    - `read`: autocommit, for statements that need not agree;
    - `snapshot`: several statements that see the same state;
    - `write`: one transaction, committed at the end of the block and rolled back if it raises; with
      `repeatable` all its statements see the same state.

    `fetch` is a `read` of one kept statement. Within a `write`, `write_apart` commits something before the
    `write` ends.
    """

    def __init__(self, url: str, read_url: str | None = None, pool_size: int = 20) -> None:
        self.engine = _make_engine(url)
        self.dialect: Dialect = self.engine.dialect
        self._primary = _make_pool(self.engine, pool_size)
        self._replica = _make_pool(_make_engine(read_url), pool_size) if read_url else self._primary
        self._writer = asyncio.Lock() if self.is_sqlite else None

    @property
    def is_sqlite(self) -> bool:
        return self.dialect.name == "sqlite"

    @property
    def listeners(self) -> list[Listener]:
        """What is told the text of each kept statement on the primary."""
        return self._primary.listeners

    def fetch(
        self, kept: Kept, values: Mapping[str, Any], *, replica: bool = False
    ) -> Coroutine[Any, Any, Sequence[Any]]:
        """The rows of one kept statement, as the driver returns them."""
        return (self._replica if replica else self._primary).fetch(kept, values)

    def converted(self, kept: Kept, rows: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The driver's rows with the values that the types of the columns make of them."""
        return kept.on(self.dialect).converted(rows)

    @asynccontextmanager
    async def read(self, *, replica: bool = False) -> AsyncIterator[Connection]:
        async with _lent(self._replica if replica else self._primary) as connection:
            yield connection

    @asynccontextmanager
    async def snapshot(self, *, replica: bool = False) -> AsyncIterator[Connection]:
        pool = self._replica if replica else self._primary
        async with _lent(pool) as connection, _transaction(connection, writes=False, repeatable=True):
            yield connection

    @asynccontextmanager
    async def write(self, *, repeatable: bool = False) -> AsyncIterator[Connection]:
        async with AsyncExitStack() as stack:
            if self._writer is not None:
                # SQLite has one writer. This lock is fair; waiting in SQLite's busy handler is not.
                await stack.enter_async_context(self._writer)
            connection = await stack.enter_async_context(_lent(self._primary))
            await stack.enter_async_context(_transaction(connection, writes=True, repeatable=repeatable))
            await stack.enter_async_context(finishing(connection))
            yield connection

    @asynccontextmanager
    async def write_apart(self) -> AsyncIterator[Connection]:
        """A short transaction during another unit, on PostgreSQL only: SQLite has one writer.

        Its connection is outside the pool: units that each wait for a second connection would exhaust it.
        """
        connection = await self._primary.open()
        try:
            async with _transaction(connection, writes=True, repeatable=False):
                yield connection
        finally:
            await connection.close()

    async def close(self) -> None:
        await self._primary.close()
        await self._replica.close()


@asynccontextmanager
async def _lent(pool: Connections) -> AsyncIterator[Connection]:
    """A connection of the pool."""
    connection = await pool.take()
    try:
        yield connection
    except BaseException as error:
        await pool.end_use(connection, error)
        raise
    pool.give_back(connection)


@asynccontextmanager
async def _transaction(connection: Connection, *, writes: bool, repeatable: bool) -> AsyncIterator[None]:
    await connection.begin(writes=writes, repeatable=repeatable)
    try:
        yield
        await connection.commit()
    except Exception:
        await connection.rollback()
        raise


def _make_engine(url: str) -> AsyncEngine:
    """An engine that opens connections; the pool is ours."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        engine = create_async_engine(
            parsed,
            hide_parameters=True,
            module=SqliteDriver(),
            connect_args={"timeout": BUSY_TIMEOUT_SECONDS},
            poolclass=NullPool,
        )
        event.listen(engine.sync_engine, "connect", prepare_connection)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
        return engine
    return create_async_engine(
        parsed,
        hide_parameters=True,
        poolclass=NullPool,
        connect_args={"server_settings": _POSTGRESQL_SETTINGS},
    )


def _make_pool(engine: AsyncEngine, size: int) -> Connections:
    return (SqliteConnections if engine.dialect.name == "sqlite" else Connections)(engine, size)


def _begin_sqlite(connection: Any) -> None:
    """Begin as the execution options of a connection outside the pool say, like that of migrations."""
    if mode := connection.get_execution_options().get("sqlite_begin"):
        connection.connection.dbapi_connection.begin(mode)
