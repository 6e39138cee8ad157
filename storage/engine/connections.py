"""Connections to a database, on which SQLAlchemy's statements and kept ones run side by side."""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import inf
from random import uniform
from time import monotonic
from typing import Any, TypeVar, cast
from uuid import UUID

import asyncpg
from sqlalchemy import Executable
from sqlalchemy.engine import CursorResult, Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.caches import Cache
from storage.dialects.sqlite.driver import SqliteDriver, refusal
from storage.engine.connection_terms import Terms
from storage.engine.outages import DatabaseUnreachable, NodeUnreachable, too_long
from storage.engine.payers import Payer
from storage.engine.statements.kept import Kept, KeptText
from storage.engine.statements.watched import Watching

# A connection that has been idle for longer is asked before use.
TRUSTED_SECONDS = 5
# Of the longest life of a connection: those that are opened together are not replaced together.
LIFE_PART = (0.9, 1.0)
# The server's process keeps the plan of each prepared statement: 45 to 60 bytes for each letter of its text,
# measured with `pg_backend_memory_contexts`; that of a list with nested lists takes 250 KB.
BYTES_OF_A_LETTER = 55
BYTES_PREPARED = 10 * 1024 * 1024
DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)

Values = Mapping[str, Any]
Result = TypeVar("Result")


class Connection(ABC):
    """An open connection: `execute` runs SQLAlchemy's statements, `fetch` kept ones, in the same session.

    Without `begin`, each statement commits by itself. `driver` is the driver's own connection. `watching`
    sees kept statements and commits; SQLAlchemy has events for the others. `ending` is what the transaction
    leaves to its end (`storage/engine/before_commit.py`); None outside `Database.write`. `payer` is who it
    works for since `lent_at`, on the monotonic clock; None if that is nobody's.
    """

    def __init__(self, alchemy: AsyncConnection, adapted: Any, watching: Watching) -> None:
        self._alchemy = alchemy
        self._adapted = adapted
        self._watching = watching
        self.driver: Any = adapted.driver_connection
        self.dialect: Dialect = alchemy.dialect
        self.last_use = monotonic()
        self.ending: Any = None
        self.payer: Payer | None = None
        self.lent_at = 0.0
        self._is_broken = False

    @property
    def reachable(self) -> frozenset[UUID] | None:
        """The workspaces on nodes that answer, while one of a cluster does not; None for all."""
        return None

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

    def fetch(self, kept: Kept, values: Values) -> Coroutine[Any, Any, Sequence[Any]]:
        """All rows of a kept statement, as the driver returns them. Raises `DBAPIError`."""
        written, watching = kept.on(self.dialect), self._watching
        if watching.is_idle:
            return self._fetch(written, values)
        return self._fetch_watched(written, values)

    async def rows(self, kept: Kept, values: Values) -> list[tuple[Any, ...]]:
        """The same with the values that the types of the columns make of the driver's."""
        return kept.on(self.dialect).converted(await self.fetch(kept, values))

    async def _fetch_watched(self, written: KeptText, values: Values) -> Sequence[Any]:
        self._watching.tell(written.text)
        with self._watching.watched(written.text):
            return await self._fetch(written, values)

    @abstractmethod
    async def _fetch(self, written: KeptText, values: Values) -> Sequence[Any]:
        """All rows of a kept statement. Raises `DBAPIError`."""

    @abstractmethod
    async def begin(self, *, writes: bool, repeatable: bool) -> None:
        """Begin a transaction; with `repeatable` all its statements see the same state."""

    async def commit(self) -> None:
        """End a transaction. Raises `DBAPIError`, and `RuntimeError` if the server has rolled it back."""
        with self._watching.watched("COMMIT"):
            await self._commit()

    @abstractmethod
    async def _commit(self) -> None:
        """End a transaction, as `commit` does."""

    async def rollback(self) -> None:
        """End a transaction that failed, if it has not ended. Never raises."""
        try:
            await self._rollback()
        except (DBAPIError, OSError, NodeUnreachable, sqlite3.Error):
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

    def _as_alchemys(self, error: Exception) -> Exception:
        """An error of the DB-API as SQLAlchemy would raise it, without the values of the statement."""
        base = self.dialect.loaded_dbapi.Error
        return DBAPIError.instance(
            "a kept statement", None, error, base, hide_parameters=True, dialect=self.dialect
        )


class PostgresqlConnection(Connection):
    """A connection whose kept statements are prepared under names, so that the server keeps their plans.

    Behind a pooler they have no names: what is kept is how to write their values and read their rows. Nor
    have those that depend on their values: the driver sends their text, and the server plans them, each time.
    """

    def __init__(self, alchemy: AsyncConnection, adapted: Any, watching: Watching, terms: Terms) -> None:
        super().__init__(alchemy, adapted, watching)
        self._prepared: Cache[KeptText, Any] = Cache(BYTES_PREPARED)
        self._in_transaction = False
        self._is_pooled = terms.pooled
        self._beginning = terms.beginning
        part = uniform(*LIFE_PART)  # noqa: S311 - nothing secret depends on it
        self._end_of_life = self.last_use + part * terms.life_seconds

    async def _fetch(self, written: KeptText, values: Values) -> Sequence[Any]:
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
            raise (written.reads_lines and too_long(error)) or self._translated(error) from error
        return await self._fetch(written, values)

    async def _prepare(self, written: KeptText) -> Any:
        is_nameless = self._is_pooled or written.depends_on_values
        prepared = await self.driver.prepare(written.text, name="" if is_nameless else None)
        if is_nameless:
            # The driver sends the text again with each run, in one piece with its values.
            prepared._state.mark_unprepared()
        self._prepared.keep(written, prepared, BYTES_OF_A_LETTER * len(written.text))
        return prepared

    async def begin(self, *, writes: bool, repeatable: bool) -> None:
        isolation = " ISOLATION LEVEL REPEATABLE READ" if repeatable else ""
        await self._run(f"BEGIN{isolation}{'' if writes else ' READ ONLY'}{self._beginning}")
        self._in_transaction = True

    async def _commit(self) -> None:
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

    def end_life(self) -> None:
        """Let another connection take its place once it is given back."""
        self._end_of_life = self.last_use = -inf

    def is_closed(self) -> bool:
        return bool(self.driver.is_closed())

    async def is_usable(self) -> bool:
        if not await super().is_usable() or self.last_use == -inf:
            return False
        # Behind a pooler, a statement that failed before it was sent still holds a server's connection.
        if self._is_pooled or not self.is_fresh():
            try:
                await self._run("SELECT 1")
            except (DBAPIError, OSError, NodeUnreachable):
                return False
        return True

    async def _run(self, text: str) -> str:
        """Run a command and return the server's word for what was done. Raises `DBAPIError`."""
        try:
            return str(await self.driver.execute(text))
        except DRIVER_ERRORS as error:
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> Exception:
        """What to raise for an error of the driver."""
        if isinstance(error, asyncpg.InternalClientError):
            return DatabaseUnreachable("The connection to the database is ending.")
        try:
            self._adapted._handle_exception(error)
        except OSError as lost:
            return DatabaseUnreachable(lost.errno, f"The connection to the database was lost: {lost}")
        except self.dialect.loaded_dbapi.Error as adapted:
            return self._as_alchemys(adapted)
        raise AssertionError("unreachable")


class SqliteThread(Connection):
    """A connection with a thread of its own, to which each kept statement takes one hop."""

    driver: SqliteDriver

    async def _fetch(self, written: KeptText, values: Values) -> Sequence[Any]:
        read = self.driver.fetch_bounded if written.reads_lines else self.driver.execute_fetchall
        with self._translating():
            rows = await read(written.text, written.arguments(values))
        return cast("list[Any]", rows)

    def put_off(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement in SQLite's own SQL together with the next one or with the COMMIT."""
        self.driver.put_off(statement, rows)

    async def begin(self, *, writes: bool, repeatable: bool) -> None:
        # Writers take the lock at once, so that none fails half-way on a stale snapshot.
        self.driver.begin("IMMEDIATE" if writes else "DEFERRED")

    async def _commit(self) -> None:
        with self._translating():
            await self.driver.commit()

    async def _rollback(self) -> None:
        await self.driver.rollback()

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise refusal(error) or self._as_alchemys(error) from error
