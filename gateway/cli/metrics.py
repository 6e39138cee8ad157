"""`duograph metrics`: the cells that metrics are read from, checked against the log and made anew."""

import sys
from collections.abc import Awaitable, Callable
from typing import Annotated
from uuid import UUID

import typer
from rich.console import Console
from rich.progress import track
from sqlalchemy import select

from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.input import workspace_of
from gateway.cli.output import CommandError, Json, noun, show
from gateway.settings.settings import Settings
from storage.database import Database
from storage.metrics.cells.rebuild import rebuild as rebuild_cells
from storage.metrics.cells.verify import verify as verify_cells
from storage.rows import table_of
from storage.tables.workspaces import WorkspaceRow

app = noun("The cells that metrics are read from.")

Slug = Annotated[
    str | None, typer.Option("--workspace", metavar="SLUG", help="Just this workspace; all if left out.")
]
Count = tuple[int, int]
Work = Callable[[Database, UUID], Awaitable[Count]]

_workspaces = table_of(WorkspaceRow)


@app.command()
def verify(workspace: Slug = None, as_json: Json = False) -> None:
    """Count every cell anew from the log, and say how many differ; changes nothing."""
    cells, differences = wait_for(_each(read_settings(), workspace, "Verifying", verify_cells))
    text = f"{cells} cells, {differences} differ from the log."
    show({"cells": cells, "differences": differences}, text, as_json=as_json)
    if differences:
        raise CommandError(
            f"{differences} cells differ from the log: `duograph metrics rebuild` makes them anew."
        )


@app.command()
def rebuild(workspace: Slug = None, as_json: Json = False) -> None:
    """Throw the cells away and make them again from the log; the gateway may go on meanwhile."""
    cells, differences = wait_for(_each(read_settings(), workspace, "Rebuilding", _rebuild))
    text = f"Made {cells} cells, of which {differences} had been different from the log."
    show({"cells": cells, "differences": differences}, text, as_json=as_json)


async def _rebuild(database: Database, workspace_id: UUID) -> Count:
    _, differences = await verify_cells(database, workspace_id)
    return await rebuild_cells(database, workspace_id), differences


async def _each(settings: Settings, slug: str | None, doing: str, work: Work) -> Count:
    """Do it for each workspace; the sums of what it gives."""
    cells = differences = 0
    async with migrated(settings) as database:
        console = Console(file=sys.stderr)
        ids = await _ids(database, slug)
        for workspace_id in track(ids, doing, console=console, disable=not console.is_terminal):
            some, different = await work(database, workspace_id)
            cells, differences = cells + some, differences + different
    return cells, differences


async def _ids(database: Database, slug: str | None) -> list[UUID]:
    async with database.read() as connection:
        if slug is not None:
            return [(await workspace_of(connection, slug)).id]
        return list((await connection.execute(select(_workspaces.c.id))).scalars())
