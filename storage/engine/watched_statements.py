"""Statements that are watched while they run: kept ones, commits, and those of SQLAlchemy.

Without a watch none of this is in the way of a statement.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

from storage.dialects.sqlite_reader import SqliteReader
from storage.engine.connections import Connection, PostgresqlConnection, SqliteThread, Values
from storage.engine.kept_statements import Kept

# Entered with the text of a statement, which has places instead of values, and left when it has run.
StatementWatch = Callable[[str], AbstractContextManager[None]]

_WATCHES = "watches"


class _Watched(Connection):
    """A connection whose kept statements and commits are watched by `watch`."""

    watch: StatementWatch

    async def fetch(self, kept: Kept, values: Values) -> Sequence[Any]:
        with self.watch(kept.on(self.dialect).text):
            return await super().fetch(kept, values)  # type: ignore[safe-super]

    async def commit(self) -> None:
        with self.watch("COMMIT"):
            await super().commit()  # type: ignore[safe-super]


class WatchedPostgresqlConnection(_Watched, PostgresqlConnection):
    """A connection to PostgreSQL whose statements are watched."""


class WatchedSqliteThread(_Watched, SqliteThread):
    """A connection to SQLite whose statements are watched."""


class WatchedReader(SqliteReader):
    """A reader on the event loop whose statements are watched; one that takes too long is seen twice."""

    watch: StatementWatch

    def fetch(self, statement: str, values: Sequence[Any]) -> Sequence[Any] | None:
        with self.watch(statement):
            return super().fetch(statement, values)


def watch_engine(engine: Engine, watch: StatementWatch) -> None:
    """Watch the statements that SQLAlchemy builds and runs on connections of the engine."""

    def before(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        watched = watch(statement)
        watched.__enter__()
        connection.info.setdefault(_WATCHES, []).append(watched)

    def after(connection: Any, *_: Any) -> None:
        if watches := connection.info.get(_WATCHES):
            watches.pop().__exit__(None, None, None)

    def failed(context: Any) -> None:
        if context.connection is not None and (watches := context.connection.info.get(_WATCHES)):
            error = context.original_exception
            watches.pop().__exit__(type(error), error, None)

    event.listen(engine, "before_cursor_execute", before)
    event.listen(engine, "after_cursor_execute", after)
    event.listen(engine, "handle_error", failed)
