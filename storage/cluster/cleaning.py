"""Removing what moves of shards leave: old copies of rows, and slots for which a node keeps its whole log."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

from storage.cluster.connections import SETTINGS
from storage.engine.connections import DRIVER_ERRORS, Connection
from storage.engine.database import Database

SECONDS_TO_CLEAN = 60
# While a move waits for a lock, everything that writes to its workspaces waits behind it.
LOCK_SECONDS = 20

_CLEAN_UP = "CALL citus_cleanup_orphaned_resources()"
_LEFT = """
    SELECT nodename || ':' || nodeport, count(*) FROM pg_dist_cleanup
    JOIN pg_dist_node ON groupid = node_group_id AND noderole = 'primary'
    WHERE NOT EXISTS (SELECT FROM get_rebalance_progress()) GROUP BY 1 ORDER BY 1
"""


async def clean_up(database: Database) -> Mapping[str, int]:
    """Remove what moves have left that ended or were interrupted; how much is left, by the nodes' addresses.

    Citus notes what it makes before it makes it, and removes it by itself every 15 seconds. Something is left
    while its node does not answer or a statement reads it. While another move goes on, nothing is counted.
    Raises `DBAPIError` or the driver's errors.
    """
    async with alone_for(database, SECONDS_TO_CLEAN) as connection:
        await connection.driver.execute(_CLEAN_UP)
        return dict(await connection.driver.fetch(_LEFT))


@asynccontextmanager
async def alone_for(database: Database, seconds: int) -> AsyncIterator[Connection]:
    """A connection of its own, whose statements end after so many seconds, or with this process."""
    connection = await database.open()
    try:
        settings = SETTINGS | {"statement_timeout": f"{seconds}s", "lock_timeout": f"{LOCK_SECONDS}s"}
        await connection.driver.execute(
            "; ".join(f"SET {name} = '{value}'" for name, value in settings.items())
        )
        yield connection
    finally:
        connection.abort()
        with suppress(*DRIVER_ERRORS):
            await connection.discard()
