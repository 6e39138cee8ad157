"""What `duograph distribute` does."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from math import ceil
from time import monotonic

import typer

from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.output import CommandError, listing, show
from gateway.cli.kit.progress import reporting
from gateway.settings.settings import Settings
from storage.engine.database import Database
from storage.tables.registry import METADATA
from storage.workspaces import distribution
from storage.workspaces.distribution import Cluster, Step


def print_plan(shards: int | None, *, as_json: bool) -> None:
    """Print the statements that are left to do. Raises `CommandError`."""
    statements = [step.statement for step in wait_for(_plan(read_settings(), shards))]
    text = "\n".join(f"{statement};" for statement in statements)
    show({"statements": statements}, text or "Everything is distributed.", as_json=as_json)


def distribute(shards: int | None, *, as_json: bool) -> None:
    """Distribute, and list what is where. Raises `CommandError`."""
    cluster = wait_for(_distribute(read_settings(), shards, quiet=as_json))
    tables = [{"table": name, "kind": _place_of(name, cluster)} for name in sorted(METADATA.tables)]
    result = {"shards": cluster.shards, "tables": tables}
    where = listing("tables", tables, ["table", "kind"])
    text = f"{where}\n\nEach distributed table has {cluster.shards} shards."
    show(result, text, as_json=as_json)


def _place_of(table: str, cluster: Cluster) -> str:
    kind = cluster.kinds.get(table)
    # Citus has noted those that refer to a reference table, and left them where they are.
    return "coordinator" if kind in (None, "local") else str(kind)


async def _plan(settings: Settings, shards: int | None) -> list[Step]:
    async with migrated(settings) as database:
        return await distribution.plan(database, shards)


async def _distribute(settings: Settings, shards: int | None, *, quiet: bool) -> Cluster:
    async with migrated(settings) as database:
        tables = [step.table for step in await distribution.plan(database, shards) if step.table]
        copying = Copying(await distribution.count_rows(database, tables))
        with reporting() as report:
            watching = asyncio.create_task(_watch(database, copying, report))
            try:
                async for step in distribution.distribute(database, shards):
                    copying.begin(step.table)
                    if not quiet:
                        typer.echo(f"{step.statement};{copying.comment}", err=True)
                copying.begin(None)
            finally:
                watching.cancel()
        return await _cluster_of(database)


@dataclass
class Copying:
    """How far the copying of rows to the nodes is. `rows` are those of each table that is to be copied."""

    rows: Mapping[str, int]
    table: str | None = None
    done: int = 0
    began: float = field(default_factory=monotonic)

    @property
    def total(self) -> int:
        return sum(self.rows.values())

    def begin(self, table: str | None) -> None:
        """Begin the next step, which copies `table`, if any; the step before has ended."""
        self.done += self.rows.get(self.table or "", 0)
        self.table = table

    @property
    def comment(self) -> str:
        """What follows the statement of a step: how many rows it copies, and what is left after it."""
        own = self.rows.get(self.table or "")
        if not own:
            return ""
        said = f"  -- {own:,} rows; {self.done:,} of {self.total:,} are done"
        if self.done:
            left = (monotonic() - self.began) * (self.total - self.done) / self.done
            said += f", about {timedelta(seconds=ceil(left))} left"
        return said


async def _watch(database: Database, copying: Copying, report: Callable[[str, int, int], None]) -> None:
    """Report once a second how many rows are copied, until it is cancelled."""
    while True:
        arrived = await distribution.count_arrived(database) if copying.table else 0
        report("Rows copied to the nodes", copying.done + arrived, copying.total)
        await asyncio.sleep(1)


async def _cluster_of(database: Database) -> Cluster:
    """What is where afterwards. Raises `CommandError` unless it is as it should be."""
    cluster = await distribution.read_cluster(database)
    if cluster is None:
        raise CommandError("Citus was removed from the database meanwhile: create its extension again.")
    if deviations := list(cluster.deviations()):
        raise CommandError(f"The database is not distributed in full: {'; '.join(deviations)}. Run it again.")
    return cluster
