"""What is not as it should be at the nodes of a cluster, though the coordinator works."""

from collections.abc import AsyncIterator, Mapping, Sequence

from sqlalchemy.exc import DBAPIError

from gateway.cli.kit.database import migrated
from gateway.settings.settings import Settings
from storage.cluster.cleaning import clean_up
from storage.cluster.watching import find_unreached
from storage.engine.connections import DRIVER_ERRORS
from storage.operator_errors import OperatorError
from storage.workspaces.distribution import read_cluster


async def warnings_of_cluster(settings: Settings) -> AsyncIterator[tuple[str, str]]:
    """Remove what moves of workspaces have left, and yield the topic and a sentence for each fault."""
    if settings.sqlite_path is not None or settings.database_terms.pooled:
        return
    left: Mapping[str, int] = {}
    unreached: Sequence[str] = []
    try:
        async with migrated(settings) as database:
            cluster = await read_cluster(database)
            if cluster is not None and cluster.is_distributed:
                left = await clean_up(database)
                if settings.database_node_connections:
                    unreached = await find_unreached(database)
    except (OperatorError, DBAPIError, *DRIVER_ERRORS):
        return
    for address, count in left.items():
        yield (
            "cluster",
            f"{count} things that moves of workspaces have left are on {address} still: they are removed "
            "once it answers and nothing reads them. Until then it may keep its whole log.",
        )
    for address in unreached:
        yield (
            "cluster",
            f"the node {address} does not answer from here. What is read of its workspaces goes through the "
            "coordinator, at two to five times the cost: let this host and its role connect, or set "
            "DUOGRAPH_DATABASE_NODE_CONNECTIONS=0.",
        )
