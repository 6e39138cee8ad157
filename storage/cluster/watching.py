"""Watching the nodes of a Citus cluster: where each workspace is, and which nodes do not answer."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, cast
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from storage.cluster.connections import watch_nodes
from storage.cluster.direct import DirectReads
from storage.cluster.nodes import Nodes, Place
from storage.engine.connections import DRIVER_ERRORS, Connection
from storage.engine.database import Database
from storage.engine.outages import DatabaseUnreachable
from storage.engine.statements.kept import Kept
from storage.workspaces.distribution import HAS_CITUS, REFERENCE, TENANT_TABLES

SECONDS_BETWEEN_DATABASES = 60
# A node that is asked answers within a few hundredths of a second.
MOST_MILLISECONDS = 700
# A node that refuses connections is asked again: it may have had too many for a moment.
SECONDS_AFTER_REFUSAL = 0.2
# Longer than an answer can take, whatever becomes of the coordinator.
PATIENCE_SECONDS = 3

# Each question opens a connection to the node: one that is open would be waited for without a limit.
_SETTINGS = f"""
    SET citus.max_cached_conns_per_worker = 0;
    SET citus.node_connection_timeout = {MOST_MILLISECONDS};
"""
_NODES = """
    SELECT groupid, nodename, nodeport FROM pg_dist_node
    WHERE noderole = 'primary' AND isactive AND groupid <> 0
"""
_IS_DISTRIBUTED = (
    f"SELECT count(*) > 0 FROM pg_dist_partition WHERE logicalrelid = to_regclass('{REFERENCE}')"  # noqa: S608
)
_ANSWERS = "SELECT citus_check_connection_to_node($1, $2)"
_PLACES = f"""
    SELECT w.id, p.groupid, w.shard
    FROM (SELECT id, get_shard_id_for_distribution_column('{TENANT_TABLES[0].name}', id) AS shard
          FROM {REFERENCE}) AS w
    JOIN pg_dist_placement AS p ON p.shardid = w.shard
"""  # noqa: S608 - names of our own tables


class NodeWatch:
    """Watches the nodes of the database, if it is a cluster, as a background task.

    With `connections`, so many to each node read the workspaces that it has, past the coordinator.
    """

    def __init__(self, database: Database, *, pooled: bool, connections: int = 0) -> None:
        self._database = database
        self._nodes: Nodes | None = None
        self._connections = connections
        # Behind a pooler in transaction mode a session cannot have its own settings.
        self.can_be_many = not (database.is_sqlite or pooled)

    @property
    def lost(self) -> frozenset[int]:
        """The groups of the nodes that do not answer."""
        return frozenset() if self._nodes is None else self._nodes.lost

    async def run(self) -> bool:
        """Look once. A database that is no cluster may be one in a minute."""
        if self._nodes is None:
            await self.begin()
        if self._nodes is None:
            await asyncio.sleep(SECONDS_BETWEEN_DATABASES)
            return False
        return await self._nodes.follow()

    async def follow_direct_reads(self) -> bool:
        """Find out what can be read past the coordinator, as a background task of its own."""
        direct = self._database.direct
        return False if direct is None else await direct.follow()

    async def close(self) -> None:
        """Close what is open for asking."""
        if self._nodes is not None:
            await self._nodes.end()

    async def begin_early(self) -> None:
        """Begin before anything else asks the database, unless this does not answer."""
        if not self.can_be_many:
            return
        with suppress(TimeoutError, SQLAlchemyError, *DRIVER_ERRORS):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self.begin()

    async def begin(self) -> None:
        """Watch the nodes from now on, if the database is a distributed cluster."""
        if not await self._has(HAS_CITUS) or not await self._has(_IS_DISTRIBUTED):
            return
        names = [table.name for table in TENANT_TABLES]
        self._nodes = Nodes(CitusQuestions(self._database), names, REFERENCE)
        watch_nodes(self._database, self._nodes)
        if self._connections:
            self._database.direct = DirectReads(self._database, self._nodes, self._connections)

    async def _has(self, question: str) -> bool:
        ((answer,),) = await self._database.fetch(Kept(text(question)), {})
        return bool(answer)


async def find_unreached(database: Database) -> list[str]:
    """The addresses of the nodes that do not answer this process, of a distributed cluster."""
    nodes = NodeWatch(database, pooled=False, connections=1)
    await nodes.begin()
    try:
        await nodes.run()
        await nodes.follow_direct_reads()
        direct = cast("DirectReads", database.direct)
        return [f"{address.host}:{address.port}" for address in direct.unreached]
    finally:
        await nodes.close()


class CitusQuestions:
    """What Citus says of its nodes, on connections of its own: the pool may have none that is free."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # By the group of a node; that of the coordinator is 0.
        self._connections: dict[int, Connection] = {}

    async def places(self) -> Mapping[UUID, Place]:
        return {id: Place(node, shard) for id, node, shard in await self._ask(0, _PLACES)}

    async def silent(self) -> frozenset[int]:
        nodes = await self._ask(0, _NODES)
        are_silent = await asyncio.gather(*(self._is_silent(*node) for node in nodes))
        return frozenset(node for (node, *_), silent in zip(nodes, are_silent, strict=True) if silent)

    async def end(self) -> None:
        for group in list(self._connections):
            await self._hang_up(group)

    async def _is_silent(self, group: int, name: str, port: int) -> bool:
        begun = monotonic()
        ((answers,),) = await self._ask(group, _ANSWERS, name, port)
        if answers or monotonic() - begun > MOST_MILLISECONDS / 1000 / 2:
            return not answers
        await asyncio.sleep(SECONDS_AFTER_REFUSAL)
        ((answers,),) = await self._ask(group, _ANSWERS, name, port)
        return not answers

    async def _ask(self, group: int, question: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of an answer. Raises `DatabaseUnreachable` if the coordinator gives none."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                if group not in self._connections:
                    self._connections[group] = await self._database.open()
                    await self._connections[group].driver.execute(_SETTINGS)
                return [tuple(row) for row in await self._connections[group].driver.fetch(question, *values)]
        except (TimeoutError, *DRIVER_ERRORS) as error:
            await self._hang_up(group)
            raise DatabaseUnreachable(f"The coordinator does not answer: {error}") from error

    async def _hang_up(self, group: int) -> None:
        connection = self._connections.pop(group, None)
        if connection is not None:
            connection.abort()
            with suppress(*DRIVER_ERRORS):
                await connection.discard()
