"""The pool of SQLite, whose short reads need no connection of it."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from storage.dialects.sqlite.reader import SqliteReader
from storage.engine.connection_terms import Terms
from storage.engine.connections import Values
from storage.engine.payers import Payer
from storage.engine.pool import Connections
from storage.engine.statements.kept import Kept
from storage.engine.statements.watched import StatementWatch


class SqliteConnections(Connections):
    """Runs short reads on the event loop, without a connection of the pool."""

    def __init__(
        self,
        engine: AsyncEngine,
        size: int,
        terms: Terms,
        watch: StatementWatch | None = None,
        **most: Any,
    ) -> None:
        super().__init__(engine, size, terms, watch, **most)
        self._reader = SqliteReader(engine.dialect, engine.url)

    async def fetch(self, kept: Kept, values: Values, payer: Payer | None = None) -> Sequence[Any]:
        written = kept.on(self.engine.dialect)
        debt = None if payer is None else self.long_work.debt(payer.key, kept)
        if written.depends_on_values or debt:
            # An index of trigrams looks for rows in one step of SQLite, which nothing can stop. A statement
            # that was long would be stopped on the loop, and a thread would begin it again.
            return await super().fetch(kept, values, payer)
        with self.watching.watched(written.text):
            rows = self._reader.fetch(written.text, written.arguments(values))
        if rows is None:
            # A watch sees the statement twice.
            return await super().fetch(kept, values, payer)
        self.watching.tell(written.text)
        if debt is None and payer is not None:
            self.long_work.note(payer.key, kept, 0)
        return rows

    async def close(self) -> None:
        self._reader.close()
        await super().close()
