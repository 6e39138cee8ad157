"""The pool for SQLite."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from storage.dialects.sqlite_reader import SqliteReader
from storage.engine.connection_terms import Terms
from storage.engine.connections import Values, tell
from storage.engine.kept_statements import Kept
from storage.engine.pool import Connections
from storage.engine.watched_statements import StatementWatch, WatchedReader


class SqliteConnections(Connections):
    """Runs short reads on the event loop, without a connection of the pool."""

    def __init__(
        self, engine: AsyncEngine, size: int, terms: Terms, watch: StatementWatch | None = None
    ) -> None:
        super().__init__(engine, size, terms, watch)
        if watch is None:
            self._reader = SqliteReader(engine.dialect, engine.url)
        else:
            self._reader = reader = WatchedReader(engine.dialect, engine.url)
            reader.watch = watch

    async def fetch(self, kept: Kept, values: Values) -> Sequence[Any]:
        written = kept.on(self._engine.dialect)
        rows = self._reader.fetch(written.text, written.arguments(values))
        if rows is None:
            return await super().fetch(kept, values)
        if self.listeners:
            tell(self.listeners, written)
        return rows

    async def close(self) -> None:
        self._reader.close()
        await super().close()
