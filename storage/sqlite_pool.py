"""The pool for SQLite."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from storage.connections import Values, tell
from storage.dialects.sqlite_reader import SqliteReader
from storage.kept import Kept
from storage.pool import Connections


class SqliteConnections(Connections):
    """Runs short reads on the event loop, without a connection of the pool."""

    def __init__(self, engine: AsyncEngine, size: int) -> None:
        super().__init__(engine, size)
        self._reader = SqliteReader(engine.dialect, engine.url)

    async def fetch(self, kept: Kept, values: Values) -> Sequence[Any]:
        written = kept.on(self._engine.dialect)
        rows = self._reader.fetch(written.text, written.arguments(values))
        if rows is None:
            return await super().fetch(kept, values)
        tell(self.listeners, written)
        return rows

    async def close(self) -> None:
        self._reader.close()
        await super().close()
