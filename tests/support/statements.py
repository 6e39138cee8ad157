"""Noting the statements that reach a database, those of the gateway's background tasks left aside."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from gateway.background import TASK_NAME


@contextmanager
def noted(target: Any) -> Iterator[list[str]]:
    """The statements of an engine or a connection of SQLAlchemy, as they come."""
    statements: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        task = asyncio.current_task()
        if task is None or not task.get_name().startswith(TASK_NAME):
            statements.append(statement)

    event.listen(target, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(target, "before_cursor_execute", note)
