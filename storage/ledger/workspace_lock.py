"""The lock under which a workspace's cells and totals are folded, rebuilt or filled in bulk.

It is a row of the workspace: all nodes of a cluster know who holds it, unlike an advisory lock.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Uuid, bindparam, select
from sqlalchemy.exc import DBAPIError

from storage.dialects.upsert import upsert
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from storage.tables.base import table_of
from storage.tables.workspaces.workspace_locks import WorkspaceLockRow

SECONDS_BETWEEN_TRIES = 0.1
# PostgreSQL's SQLSTATE.
SERIALIZATION_FAILURE = "40001"

Result = TypeVar("Result")

_locks = table_of(WorkspaceLockRow)
_OWN = bindparam("own_workspace_id", type_=Uuid())
_row = select(_locks.c.workspace_id).where(_locks.c.workspace_id == _OWN)
_WAITING, _TRYING = Kept(_row.with_for_update()), Kept(_row.with_for_update(skip_locked=True))
_ADDING = Kept(
    upsert("postgresql", _locks)
    .values(workspace_id=_OWN)
    .on_conflict_do_nothing()
    .returning(_locks.c.workspace_id)
)


async def lock_workspace(connection: Connection, workspace_id: UUID, *, wait: bool = False) -> bool:
    """Lock what is folded of a workspace until the transaction ends; False if another one holds the lock.

    With `wait`, wait for the lock instead.
    """
    if connection.dialect.name == "sqlite":
        return True
    own = {_OWN.key: workspace_id}
    # A row that another transaction has just added is seen once that has ended: adding it again waits for it.
    while not await connection.fetch(_WAITING if wait else _TRYING, own):
        if await connection.fetch(_ADDING, own):
            return True
        if not wait:
            return False
    return True


async def rebuild_in_one_snapshot(
    database: Database, workspace_id: UUID, rebuild: Callable[[Connection, UUID], Awaitable[Result]]
) -> Result:
    """Run `rebuild` in one transaction whose statements see the same state, under the workspace's lock.

    Rows that other transactions write meanwhile keep their deltas, which are left to the fold.
    """
    while True:
        try:
            async with database.write(repeatable=True) as connection:
                if await lock_workspace(connection, workspace_id):
                    return await rebuild(connection, workspace_id)
        except DBAPIError as error:
            # A fold has committed between this transaction's snapshot and its lock.
            if getattr(error.orig, "sqlstate", None) != SERIALIZATION_FAILURE:
                raise
        await asyncio.sleep(SECONDS_BETWEEN_TRIES)
