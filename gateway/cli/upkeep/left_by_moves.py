"""What moves of workspaces have left on the nodes of a cluster, because they failed or were killed."""

from collections.abc import AsyncIterator

from sqlalchemy.exc import DBAPIError

from gateway.cli.kit.database import migrated
from gateway.settings.settings import Settings
from storage.cluster.cleaning import clean_up
from storage.engine.connections import DRIVER_ERRORS
from storage.operator_errors import OperatorError
from storage.workspaces.distribution import read_cluster


async def warnings_of_moves(settings: Settings) -> AsyncIterator[tuple[str, str]]:
    """Remove what is left, and yield the topic and a sentence for each node that keeps some of it."""
    if settings.sqlite_path is not None or settings.database_terms.pooled:
        return
    try:
        async with migrated(settings) as database:
            cluster = await read_cluster(database)
            left = await clean_up(database) if cluster and cluster.is_distributed else {}
    except (OperatorError, DBAPIError, *DRIVER_ERRORS):
        return
    for address, count in left.items():
        yield (
            "cluster",
            f"{count} things that moves of workspaces have left are on {address} still: they are removed "
            "once it answers and nothing reads them. Until then it may keep its whole log.",
        )
