"""Units of work: every statement reaches SQLite or PostgreSQL through one of these.

All that other folders need of this one is `Database`, the `Connection` that a unit lends
(`connections.py`), `Kept` (`statements/kept.py`), `Payer` (`payers.py`), `inserts.py` and
`upserts.py`, what a transaction leaves to its end (`before_commit.py`), what an error of the database means
(`outages.py`), and for settings and monitoring `Terms`, `StatementWatch` and `State`.
"""

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, nullcontext
from typing import Any, Protocol, TypeVar
from uuid import UUID

from sqlalchemy.engine import URL, Dialect

from storage.engine.before_commit import finishing
from storage.engine.connection_terms import Terms
from storage.engine.connections import Connection
from storage.engine.engines import make_engine
from storage.engine.payers import PART, Payer, paying
from storage.engine.pool import Connections
from storage.engine.replica import Replica, ReplicaFailed
from storage.engine.sqlite_pool import SqliteConnections
from storage.engine.statements.kept import Kept
from storage.engine.statements.watched import Listener, StatementWatch
from storage.enums import ActorKind

# A note takes some 200 bytes.
MOST_UNFOLDED = 10_000

Result = TypeVar("Result")


class DirectReader(Protocol):
    """Reads past the coordinator of a cluster (`storage/cluster/direct.py`)."""

    @property
    def pools(self) -> dict[str, Connections]:
        """The pools by the names of their nodes."""

    async def fetch(
        self, kept: Kept, values: Mapping[str, Any], workspace_id: UUID, payer: Payer | None
    ) -> Sequence[Any]:
        """The rows of a kept statement about this workspace, as the driver returns them."""

    async def follow(self) -> bool:
        """Find out where everything is, as a background task."""

    async def close(self) -> None:
        """Close the connections that are not in use."""


class Database:
    """A primary and optionally a read replica.

    `url` and `read_url` are SQLAlchemy URLs for `sqlite+aiosqlite` or `postgresql+asyncpg`. Every statement
    runs in one of three units:

    - `read`: autocommit, for statements that need not agree;
    - `snapshot`: several statements that see the same state;
    - `write`: one transaction, committed at the end of the block and rolled back if it raises; with
      `repeatable` all its statements see the same state.

    `fetch` is a `read` of one kept statement. Within a `write`, `write_apart` commits something before the
    `write` ends. `watch` is entered around each statement.

    A unit is done for its `payer`, whose key holds at most `most_of_one` connections of each pool at a time,
    by default a quarter, and of these `most_long` for statements that last long, by default half as many as
    this machine has processors; units without one only wait for the pool.

    `fetch` and `in_snapshot` may be answered by the replica if `replica_for` has the workspaces that they
    read: it does so while it holds every write to these that was noted, and the primary if it fails.
    """

    def __init__(
        self,
        url: str,
        read_url: str | None = None,
        pool_size: int = 20,
        terms: Terms | None = None,
        watch: StatementWatch | None = None,
        *,
        most_of_one: int | None = None,
        most_long: int | None = None,
    ) -> None:
        self._terms, self._watch = terms or Terms(), watch
        self._most = {"most_of_one": most_of_one or max(1, pool_size // PART), "most_long": most_long}
        self._primary = self.make_pool(url, pool_size)
        self.engine = self._primary.engine
        self.dialect: Dialect = self.engine.dialect
        self.replica: Replica | None = None
        if read_url is not None:
            self.replica = Replica(self.make_pool(read_url, pool_size), self._primary)
        # Reads that go past the coordinator of a cluster.
        self.direct: DirectReader | None = None
        # SQLite has one writer. This lock is fair; waiting in SQLite's busy handler is not.
        self._writer = asyncio.Lock() if self.is_sqlite else nullcontext()
        self._unfolded: dict[UUID, None] = {}
        # Who makes the changes for which no operation says who does.
        self.works_for = ActorKind.SYSTEM
        # Whether it is spread over several nodes; None before anything had to know.
        self.is_cluster: bool | None = False if self.is_sqlite else None

    @property
    def is_sqlite(self) -> bool:
        return self.dialect.name == "sqlite"

    @property
    def listeners(self) -> list[Listener]:
        """What is told the text of each kept statement on the primary."""
        return self._primary.watching.listeners

    @property
    def pools(self) -> dict[str, Connections]:
        """The pools by the names `primary` and, if there are any, `replica` and those of nodes."""
        own = {"primary": self._primary}
        if self.replica is not None:
            own["replica"] = self.replica.pool
        return own if self.direct is None else own | self.direct.pools

    def make_pool(self, url: URL | str, size: int) -> Connections:
        """A pool for the same units of work."""
        engine = make_engine(url, self._terms)
        kind = SqliteConnections if engine.dialect.name == "sqlite" else Connections
        return kind(engine, size, self._terms, self._watch, **self._most)

    def open(self) -> Coroutine[Any, Any, Connection]:
        """A connection to the primary outside the pool, which the caller closes."""
        return self._primary.open()

    def note_unfolded(self, workspace_ids: Iterable[UUID]) -> None:
        """Note workspaces that the fold should come to; what is too much is left to its sweeps."""
        for workspace_id in workspace_ids:
            if len(self._unfolded) < MOST_UNFOLDED:
                self._unfolded[workspace_id] = None

    def note_writes(self, workspace_ids: Collection[UUID]) -> None:
        """Note that these workspaces were written to, so that a replica reads them once it has caught up.

        A `write` does so itself for the workspaces whose facts or totals it changed.
        """
        if self.replica is not None:
            self.replica.writes.note(workspace_ids)

    def take_unfolded(self) -> list[UUID]:
        """The workspaces noted since the last call, the first to be noted last."""
        unfolded, self._unfolded = list(reversed(self._unfolded)), {}
        return unfolded

    def fetch(
        self,
        kept: Kept,
        values: Mapping[str, Any],
        *,
        replica_for: Collection[UUID] | None = None,
        about: UUID | None = None,
        payer: Payer | None = None,
    ) -> Coroutine[Any, Any, Sequence[Any]]:
        """The rows of one kept statement, as the driver returns them.

        It is `about` the rows of one workspace and tables that are copied to its node, unless it is None.
        """
        if replica_for is not None and self.replica is not None and self.replica.holds(replica_for):
            return self._fetch_from(self.replica, kept, values, payer)
        if about is not None and self.direct is not None:
            return self.direct.fetch(kept, values, about, payer)
        return self._primary.fetch(kept, values, payer)

    async def _fetch_from(
        self, replica: Replica, kept: Kept, values: Mapping[str, Any], payer: Payer | None
    ) -> Sequence[Any]:
        try:
            return await replica.fetch(kept, values, payer)
        except ReplicaFailed:
            return await self._primary.fetch(kept, values, payer)

    def converted(self, kept: Kept, rows: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The driver's rows with the values that the types of the columns make of them."""
        return kept.on(self.dialect).converted(rows)

    @asynccontextmanager
    async def read(self, payer: Payer | None = None) -> AsyncIterator[Connection]:
        async with _lent(self._primary, payer) as connection:
            yield connection

    @asynccontextmanager
    async def snapshot(self, payer: Payer | None = None) -> AsyncIterator[Connection]:
        async with (
            _lent(self._primary, payer) as connection,
            _transaction(connection, writes=False, repeatable=True),
        ):
            yield connection

    async def in_snapshot(
        self,
        work: Callable[[Connection], Awaitable[Result]],
        *,
        replica_for: Collection[UUID] | None = None,
        payer: Payer | None = None,
    ) -> Result:
        """What `work` makes of a snapshot; it runs again, on the primary, if the replica fails meanwhile."""

        async def run(connection: Connection) -> Result:
            async with _transaction(connection, writes=False, repeatable=True):
                return await work(connection)

        if replica_for is not None and self.replica is not None and self.replica.holds(replica_for):
            try:
                return await self.replica.run(run, payer)
            except ReplicaFailed:
                pass
        async with _lent(self._primary, payer) as connection:
            return await run(connection)

    @asynccontextmanager
    async def write(
        self, payer: Payer | None = None, *, repeatable: bool = False
    ) -> AsyncIterator[Connection]:
        # SQLite's one writer is not to wait, with all others behind it, for a share of the connections.
        holder, paid = (None, paying(payer)) if self.is_sqlite else (payer, nullcontext())
        async with (
            self._writer,
            _lent(self._primary, holder) as connection,
            _transaction(connection, writes=True, repeatable=repeatable),
            finishing(connection, self.works_for) as ending,
        ):
            with paid:
                yield connection
        self.note_unfolded(ending.unfolded)
        self.note_writes(ending.unfolded)

    @asynccontextmanager
    async def write_apart(self) -> AsyncIterator[Connection]:
        """A short transaction during another unit, on PostgreSQL only: SQLite has one writer.

        Its connection is outside the pool: units that each wait for a second connection would exhaust it.
        """
        connection = await self.open()
        try:
            async with _transaction(connection, writes=True, repeatable=False):
                yield connection
        except BaseException:
            # It may be in the middle of a statement.
            await connection.discard()
            raise
        await connection.close()

    async def close(self) -> None:
        await self._primary.close()
        if self.replica is not None:
            await self.replica.close()
        if self.direct is not None:
            await self.direct.close()


@asynccontextmanager
async def _lent(pool: Connections, payer: Payer | None) -> AsyncIterator[Connection]:
    """A connection of the pool."""
    connection = await pool.take(payer)
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
