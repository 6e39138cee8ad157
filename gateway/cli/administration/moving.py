"""What `duograph workspaces move` does."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import typer
from sqlalchemy.exc import DBAPIError

from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.input import workspace_of
from gateway.cli.kit.output import CommandError, show
from gateway.cli.kit.progress import reporting
from gateway.settings.settings import Settings
from storage.cluster.moving import Move, Mover, Progress, check_distributed, plan_move
from storage.engine.connections import DRIVER_ERRORS

SECONDS_BETWEEN_LOOKS = 1


def move(slug: str, node: str, seconds: int, *, alone: bool, as_json: bool) -> None:
    """Move the workspace, and tell meanwhile how far it is. Raises `CommandError` or `NotMovable`."""
    moved = wait_for(_move(read_settings(), slug, node, seconds, alone=alone, quiet=as_json))
    others = 0 if alone else moved.neighbours
    result = {
        "slug": slug,
        "from": moved.source.address,
        "to": moved.target.address,
        "other_workspaces": others,
    }
    show(result, f"Moved {_what(slug, others)} to {moved.target.address}.", as_json=as_json)


def _what(slug: str, others: int) -> str:
    if not others:
        return slug
    noun = "workspace" if others == 1 else "workspaces"
    return f"{slug} and {others:,} other {noun} of its shard"


async def _move(settings: Settings, slug: str, node: str, seconds: int, *, alone: bool, quiet: bool) -> Move:
    if settings.database_terms.pooled:
        raise CommandError(
            "A move needs a connection to the coordinator itself: set DUOGRAPH_DATABASE_URL to it, and "
            "DUOGRAPH_DATABASE_POOLER to none."
        )
    async with migrated(settings) as database:
        await check_distributed(database)
        async with database.read() as connection:
            workspace = await workspace_of(connection, slug)
        planned = await plan_move(database, workspace.id, node)
        if not quiet:
            what = _what(slug, 0 if alone else planned.neighbours)
            typer.echo(f"Moving {what} from {planned.source.address} to {planned.target.address}.", err=True)
        mover = Mover(database, planned, seconds=seconds, alone=alone)
        with reporting() as report:
            watching = asyncio.create_task(_watch(mover, report, quiet=quiet))
            try:
                await mover.run()
            finally:
                watching.cancel()
        return planned


async def _watch(mover: Mover, report: Callable[[str, int, int], None], *, quiet: bool) -> None:
    """Tell once a second how far it is, until it is cancelled."""
    said = ""
    while True:
        # What is told is not worth a failure.
        with suppress(DBAPIError, *DRIVER_ERRORS):
            if (progress := await mover.progress()) is not None:
                report("Bytes copied", min(progress.copied, progress.size), progress.size)
                if (line := _line(progress)) != said and not quiet:
                    typer.echo(line, err=True)
                    said = line
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)


def _line(progress: Progress) -> str:
    parts = [progress.step]
    if progress.before_it:
        parts.append(f"waits for {', '.join(progress.before_it)}")
    if progress.behind_it:
        statements = "statement waits" if progress.behind_it == 1 else "statements wait"
        parts.append(f"{progress.behind_it} {statements} for it")
    return "; ".join(parts)
