"""The background task that removes what deleted workspaces had: rows, and the content of files."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from uuid import UUID

import structlog
from sqlalchemy import delete, select

from resolvers.files.clean_up import SETTLED_AFTER, remember_content, remove_content
from resolvers.operations.context import Services
from storage.clock import now
from storage.engine.connections import Connection
from storage.ledger.workspace_lock import lock_workspace
from storage.rows.rows import every_of, first, first_of, table_of, update_rows
from storage.tables.idempotency_keys import IdempotencyKeyRow
from storage.tables.shares.files import DiscardedObjectRow, FileRow
from storage.tables.workspaces.workspace_locks import WorkspaceLockRow
from storage.tables.workspaces.workspaces import WorkspaceRow
from storage.workspaces.removal import WAYS, first_rows, remove_rows

# Deletes at most some rows of a workspace and returns how many; fewer mean that none is left.
Batch = Callable[[Connection, UUID, int], Awaitable[int]]
# In one transaction; SQLite has one writer, which others wait for.
MOST_ROWS, MOST_ROWS_ON_SQLITE = 1_000, 500
# Each is removed from the store by requests of its own.
MOST_FILES = 100
# Between two transactions: a removal may take long, but others must not.
PAUSE_SECONDS = 0.02

_workspaces, _files, _discarded = table_of(WorkspaceRow), table_of(FileRow), table_of(DiscardedObjectRow)
_keys, _locks = table_of(IdempotencyKeyRow), table_of(WorkspaceLockRow)
log = structlog.get_logger()


async def remove_deleted_workspaces(services: Services, at: datetime | None = None) -> bool:
    """Remove what is left of the workspace that is due first at a moment (default: now); False without one.

    Requests that had begun before the deletion may still write rows, so each workspace is looked at again an
    hour later. It is done once nothing is left then, not even content to remove from the store. One whose
    removal fails is tried again after that time too, so that others are not kept waiting.
    """
    moment = at or now()
    is_due = _workspaces.c.removal_due_at <= moment
    oldest = select(_workspaces).where(is_due).order_by(_workspaces.c.removal_due_at).limit(1)
    async with services.database.read() as connection:
        workspace = await first_of(connection, WorkspaceRow, oldest)
    if workspace is None:
        return False
    try:
        removed = await _remove_all(services, workspace.id)
    except Exception:
        await _look_again(services, workspace, moment + SETTLED_AFTER)
        raise
    if not removed:
        await _settle(services, workspace, moment)
    return True


async def _remove_all(services: Services, workspace_id: UUID) -> int:
    """Go through the tables once, in many transactions; returns how many rows were removed.

    Another process may do the same: what one has removed, the other does not find. After an interruption it
    begins anew.
    """
    removed = await _remove_in_batches(services, workspace_id, _forget_answers)
    for table in WAYS:
        if table is _files:
            removed += await _remove_files(services, workspace_id)
        # Rows of discarded content are deleted when the content is, the lock in the end.
        elif table not in (_discarded, _locks):
            removed += await _remove_in_batches(services, workspace_id, partial(remove_rows, table))
    return removed


async def _remove_in_batches(services: Services, workspace_id: UUID, remove: Batch) -> int:
    limit = MOST_ROWS_ON_SQLITE if services.database.is_sqlite else MOST_ROWS
    removed = 0
    while True:
        async with services.database.write() as connection:
            # The fold writes cells and totals of what it has read before.
            await lock_workspace(connection, workspace_id, wait=True)
            many = await remove(connection, workspace_id, limit)
        removed += many
        if many < limit:
            return removed
        await asyncio.sleep(PAUSE_SECONDS)


async def _remove_files(services: Services, workspace_id: UUID) -> int:
    """Remove rows of files, then their content; what fails is left to the clean-up of discarded content."""
    some = select(_files).where(_files.c.workspace_id == workspace_id).limit(MOST_FILES)
    removed = 0
    while True:
        async with services.database.write() as connection:
            await lock_workspace(connection, workspace_id, wait=True)
            files = await every_of(connection, FileRow, some)
            await remember_content(connection, files)
            own = (_files.c.workspace_id == workspace_id, _files.c.id.in_([file.id for file in files]))
            await connection.execute(delete(_files).where(*own))
        for file in files:
            if not await remove_content(services.objects, file):
                break
        removed += len(files)
        if len(files) < MOST_FILES:
            return removed


async def _forget_answers(connection: Connection, workspace_id: UUID, limit: int) -> int:
    """Forget answers kept for retries with the workspace's tokens; returns how many.

    Those of its customers and of applications expire within a day, as always.
    """
    own = _keys.c.subject == f"workspace:{workspace_id}"
    some = await first_rows(connection, _keys, own, limit, {})
    return (await connection.execute(delete(_keys).where(some))).rowcount


async def _look_again(services: Services, workspace: WorkspaceRow, due: datetime) -> None:
    async with services.database.write() as connection:
        await update_rows(connection, WorkspaceRow, _workspaces.c.id == workspace.id, removal_due_at=due)


async def _settle(services: Services, workspace: WorkspaceRow, moment: datetime) -> None:
    """Nothing is left at `moment`: look again later, unless that has been done."""
    due: datetime | None = moment + SETTLED_AFTER
    async with services.database.write() as connection:
        waiting = await first(connection, DiscardedObjectRow, _discarded.c.workspace_id == workspace.id)
        age = moment - (workspace.deleted_at or moment)
        if waiting is None and age >= SETTLED_AFTER:
            due = None
            await remove_rows(_locks, connection, workspace.id, 1)
        await update_rows(connection, WorkspaceRow, _workspaces.c.id == workspace.id, removal_due_at=due)
    if due is None:
        log.info("removed what a deleted workspace had", workspace=str(workspace.id))
