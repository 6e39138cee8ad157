"""What `duograph metrics` does."""

import sys
from collections.abc import Awaitable, Callable
from uuid import UUID

from rich.console import Console
from rich.progress import track
from sqlalchemy import select

from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.input import workspace_of
from gateway.cli.output import CommandError, show
from gateway.settings.settings import Settings
from storage.database import Database
from storage.metrics.cells.rebuild import rebuild as rebuild_cells
from storage.metrics.cells.verify import verify as verify_cells
from storage.rows import table_of
from storage.tables.workspaces import WorkspaceRow

Count = tuple[int, int]
Work = Callable[[Database, UUID], Awaitable[Count]]

_workspaces = table_of(WorkspaceRow)


def verify(workspace: str | None, *, as_json: bool) -> None:
    cells, differences = wait_for(_each(read_settings(), workspace, "Verifying", verify_cells))
    text = f"{cells} cells, {differences} differ from the log."
    show({"cells": cells, "differences": differences}, text, as_json=as_json)
    if differences:
        raise CommandError(
            f"{differences} cells differ from the log: `duograph metrics rebuild` corrects them."
        )


def rebuild(workspace: str | None, *, as_json: bool) -> None:
    cells, differences = wait_for(_each(read_settings(), workspace, "Rebuilding", _rebuild))
    text = f"Rebuilt {cells} cells; {differences} had differed from the log."
    show({"cells": cells, "differences": differences}, text, as_json=as_json)


async def _rebuild(database: Database, workspace_id: UUID) -> Count:
    _, differences = await verify_cells(database, workspace_id)
    return await rebuild_cells(database, workspace_id), differences


async def _each(settings: Settings, slug: str | None, label: str, work: Work) -> Count:
    """Run `work` for each workspace and return the sums of its counts."""
    cells = differences = 0
    async with migrated(settings) as database:
        console = Console(file=sys.stderr)
        ids = await _ids(database, slug)
        for workspace_id in track(ids, label, console=console, disable=not console.is_terminal):
            more_cells, more_differences = await work(database, workspace_id)
            cells, differences = cells + more_cells, differences + more_differences
    return cells, differences


async def _ids(database: Database, slug: str | None) -> list[UUID]:
    async with database.read() as connection:
        if slug is not None:
            return [(await workspace_of(connection, slug)).id]
        return list((await connection.execute(select(_workspaces.c.id))).scalars())
