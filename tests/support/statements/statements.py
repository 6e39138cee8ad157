"""Noting the statements that reach a database, those of the gateway's background tasks left aside."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from gateway.background.tasks import TASK_NAME
from storage.engine.database import Database

# What a node of a cluster is asked, and the shards in it (`storage/cluster/shards.py`).
_OF_NODE = re.compile(r"SELECT \* FROM \((.*)\) AS own WHERE 1 / .*", re.DOTALL)
_SHARD = re.compile(r"\b([a-z_]+)_\d{6,}\b")


@contextmanager
def noted(database: Database, *, kept: bool = True) -> Iterator[list[str]]:
    """The statements on the primary as they come, SQLAlchemy's and, unless `kept` is false, kept ones.

    So are those on the nodes of a cluster, as the coordinator would be asked.
    """
    statements: list[str] = []

    def note(statement: str) -> None:
        task = asyncio.current_task()
        if task is None or not task.get_name().startswith(TASK_NAME):
            of_node = _OF_NODE.fullmatch(statement)
            statements.append(statement if of_node is None else _SHARD.sub(r"\1", of_node[1]))

    def note_executed(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        note(statement)

    pools = [pool for name, pool in database.pools.items() if kept and name != "replica"]
    event.listen(database.engine.sync_engine, "before_cursor_execute", note_executed)
    for pool in pools:
        pool.watching.listeners.append(note)
    try:
        yield statements
    finally:
        for pool in pools:
            pool.watching.listeners.remove(note)
        event.remove(database.engine.sync_engine, "before_cursor_execute", note_executed)
