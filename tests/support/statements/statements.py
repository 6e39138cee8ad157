"""Noting the statements that reach a database, those of the gateway's background tasks left aside."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from gateway.background.tasks import TASK_NAME
from storage.engine.database import Database


@contextmanager
def noted(database: Database) -> Iterator[list[str]]:
    """The statements on the primary as they come: SQLAlchemy's and kept ones."""
    statements: list[str] = []

    def note(statement: str) -> None:
        task = asyncio.current_task()
        if task is None or not task.get_name().startswith(TASK_NAME):
            statements.append(statement)

    def note_executed(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        note(statement)

    event.listen(database.engine.sync_engine, "before_cursor_execute", note_executed)
    database.listeners.append(note)
    try:
        yield statements
    finally:
        database.listeners.remove(note)
        event.remove(database.engine.sync_engine, "before_cursor_execute", note_executed)
