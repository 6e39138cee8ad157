"""The lock under which a workspace's cells and totals are folded, rebuilt or filled in bulk."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from storage.connections import Connection
from storage.database import Database

SECONDS_BETWEEN_TRIES = 0.1
# PostgreSQL's SQLSTATE.
SERIALIZATION_FAILURE = "40001"

Result = TypeVar("Result")


async def lock_workspace(connection: Connection, workspace_id: UUID, *, wait: bool = False) -> bool:
    """Lock what is folded of a workspace until the transaction ends; False if another one holds the lock.

    With `wait`, wait for the lock instead.
    """
    if connection.dialect.name == "sqlite":
        return True
    lock = func.pg_advisory_xact_lock if wait else func.pg_try_advisory_xact_lock
    return (await connection.execute(select(lock(workspace_id.int >> 65)))).scalar() is not False


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
