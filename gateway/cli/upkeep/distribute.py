"""What `duograph distribute` does."""

import typer

from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.output import CommandError, listing, show
from gateway.settings.settings import Settings
from storage.engine.database import Database
from storage.tables.registry import METADATA
from storage.workspaces import distribution
from storage.workspaces.distribution import Cluster


def print_plan(shards: int | None, *, as_json: bool) -> None:
    """Print the statements that are left to do. Raises `CommandError`."""
    statements = wait_for(_plan(read_settings(), shards))
    text = "\n".join(f"{statement};" for statement in statements)
    show({"statements": statements}, text or "Everything is distributed.", as_json=as_json)


def distribute(shards: int | None, *, as_json: bool) -> None:
    """Distribute, and list what is where. Raises `CommandError`."""
    cluster = wait_for(_distribute(read_settings(), shards, quiet=as_json))
    tables = [
        {"table": name, "kind": cluster.kinds.get(name, "coordinator")} for name in sorted(METADATA.tables)
    ]
    result = {"shards": cluster.shards, "tables": tables}
    where = listing("tables", tables, ["table", "kind"])
    text = f"{where}\n\nEach distributed table has {cluster.shards} shards."
    show(result, text, as_json=as_json)


async def _plan(settings: Settings, shards: int | None) -> list[str]:
    async with migrated(settings) as database:
        return await distribution.plan(database, shards)


async def _distribute(settings: Settings, shards: int | None, *, quiet: bool) -> Cluster:
    async with migrated(settings) as database:
        async for statement in distribution.distribute(database, shards):
            if not quiet:
                typer.echo(f"{statement};", err=True)
        return await _cluster_of(database)


async def _cluster_of(database: Database) -> Cluster:
    """What is where afterwards. Raises `CommandError` unless it is as it should be."""
    cluster = await distribution.read_cluster(database)
    if cluster is None:
        raise CommandError("Citus was removed from the database meanwhile: create its extension again.")
    if deviations := list(cluster.deviations()):
        raise CommandError(f"The database is not distributed in full: {'; '.join(deviations)}. Run it again.")
    return cluster
