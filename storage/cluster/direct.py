"""Reads that go to the node of a workspace, past the coordinator.

They are about one workspace, and on the tables of the node itself (`shards.py`). What cannot be read so is
read through the coordinator: other tables, a workspace that was made or moved a moment ago, and whatever is
on a node that this process does not reach.
"""

from collections.abc import Mapping, Sequence
from math import inf
from time import monotonic
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from storage.cluster.connections import REFUSED, make_node_pool
from storage.cluster.nodes import Nodes, Place
from storage.cluster.shards import OwnTables, make_texts
from storage.engine.connections import DRIVER_ERRORS, Connection, Values
from storage.engine.database import Database
from storage.engine.outages import NodeUnreachable, has_state, is_lost
from storage.engine.payers import Payer
from storage.engine.pool import Connections
from storage.engine.statements.kept import Kept, KeptText
from storage.workspaces.distribution import REFERENCE

# The group id of the coordinator, which may have shards too.
COORDINATOR = 0
# How long a node that this process does not reach is left alone.
SECONDS_BETWEEN_TRIES = 5
# A shard that was moved: its tables are gone, or `OwnTables.shard` is not there.
_MOVED = ("42P01", "22012")
_TOO_MANY_CONNECTIONS = "53"

_ADDRESSES = Kept(
    text(
        "SELECT groupid, nodename, nodeport FROM pg_dist_node "
        "WHERE noderole = 'primary' AND isactive AND groupid <> 0"
    )
)
# Reference tables, and those that the coordinator alone has.
_OF_COORDINATOR = Kept(
    text(
        "SELECT relname::text, s.shardid, groupid IS NOT NULL FROM pg_dist_partition "
        "JOIN pg_class ON oid = logicalrelid JOIN pg_dist_shard AS s USING (logicalrelid) "
        "LEFT JOIN pg_dist_placement AS p ON p.shardid = s.shardid AND groupid = 0 WHERE partmethod = 'n'"
    )
)
_OF_SHARDS = Kept(
    text(
        "SELECT own.shardid, relname::text, s.shardid FROM pg_dist_shard AS own "
        "JOIN pg_dist_partition AS p ON p.logicalrelid = own.logicalrelid "
        "JOIN pg_dist_partition AS other ON other.colocationid = p.colocationid "
        "JOIN pg_dist_shard AS s ON s.logicalrelid = other.logicalrelid "
        "AND s.shardminvalue = own.shardminvalue "
        "JOIN pg_class ON oid = s.logicalrelid WHERE own.shardid = ANY (CAST(:shards AS bigint[]))"
    )
)


class Address(NamedTuple):
    """Where a node is reached, as the coordinator is told."""

    node: int
    host: str
    port: int


class DirectReads:
    """Reads of one workspace that its node answers, by at most `size` connections to each node.

    `follow` finds out where everything is, as a background task. Nothing is read directly before.
    """

    def __init__(self, database: Database, nodes: Nodes, size: int) -> None:
        self.nodes = nodes
        self._database, self._size = database, size
        self._dialect, self._texts = database.dialect, make_texts()
        self._places: Mapping[UUID, Place] = {}
        self._tables: dict[Place, OwnTables] = {}
        self._pools: dict[Address, Connections] = {}
        # Of the nodes that have answered this process.
        self._reached: dict[int, Connections] = {}
        self._next_try = -inf

    @property
    def unreached(self) -> list[Address]:
        """The nodes with workspaces that do not answer this process."""
        needed = {place.node for place in self._tables}
        return [each for each in self._pools if each.node in needed - self._reached.keys()]

    @property
    def pools(self) -> dict[str, Connections]:
        """The pools by the names of their nodes, like `node 1`."""
        return {f"node {address.node}": pool for address, pool in self._pools.items()}

    def reads(self, workspace_id: UUID) -> bool:
        """Whether what is about this workspace is read from its node now."""
        place = self._places.get(workspace_id)
        return place is not None and place.node in self._reached

    async def fetch(
        self, kept: Kept, values: Values, workspace_id: UUID, payer: Payer | None
    ) -> Sequence[Any]:
        """The rows of a kept statement about this workspace, as the driver returns them."""
        place = self._places.get(workspace_id)
        if place is not None and (pool := self._reached.get(place.node)) is not None:
            tables, written = self._tables[place], kept.on(self._dialect)
            if (own := tables.of(written, self._dialect)) is not None:
                try:
                    return await pool.fetch(own, values, payer)
                except (NodeUnreachable, PoolTimeout):
                    raise
                except Exception as error:
                    if not self._can_repeat(error, written, tables):
                        raise
        return await self._database.pools["primary"].fetch(kept, values, payer)

    def _can_repeat(self, error: Exception, written: KeptText, tables: OwnTables) -> bool:
        """Whether the coordinator may answer; what led to the error is not tried again for now."""
        if has_state(error, *_MOVED):
            self.nodes.forget_places()
        elif has_state(error, REFUSED):
            tables.refuse(written, self._dialect)
        elif is_lost(error) or has_state(error, _TOO_MANY_CONNECTIONS):
            self._reached.pop(tables.node, None)
            self.nodes.suspect()
        else:
            return False
        return True

    async def follow(self) -> bool:
        """Find out where everything is, and which nodes this process reaches. There is never more to do."""
        if self.nodes.places is not self._places:
            await self._learn(self.nodes.places)
        elif self.unreached and monotonic() > self._next_try:
            await self._reach()
        return False

    async def close(self) -> None:
        self._reached = {}
        for pool in self._pools.values():
            # A node that hangs would not be said goodbye to.
            pool.abort_free()
            await pool.close()

    async def _learn(self, places: Mapping[UUID, Place]) -> None:
        """Find out the numbers of all tables at these places."""
        undivided = await self._database.fetch(_OF_COORDINATOR, {})
        copied = {name: number for name, number, is_here in undivided if is_here}
        if self.nodes.copies is None or self.nodes.copies.numbers != copied:
            self.nodes.copies = OwnTables(COORDINATOR, copied, None, self._texts)
        if new := set(places.values()) - self._tables.keys():
            reference = {name: number for name, number, _ in undivided if name == REFERENCE}
            shards = {place.shard: dict(reference) for place in new}
            for shard, name, number in await self._database.fetch(_OF_SHARDS, {"shards": list(shards)}):
                shards[shard][name] = number
            for place in new:
                self._tables[place] = OwnTables(place.node, shards[place.shard], place.shard, self._texts)
        self._places = places
        here = set(places.values())
        self._tables = {place: tables for place, tables in self._tables.items() if place in here}
        await self._reach()

    async def _reach(self) -> None:
        """Find out which nodes this process reaches, and keep pools of them only."""
        self._next_try = monotonic() + SECONDS_BETWEEN_TRIES
        self._reached[COORDINATOR] = self._database.pools["primary"]
        some = {place.node: (id, self._tables[place]) for id, place in self._places.items()}
        addresses = [Address(*row) for row in await self._database.fetch(_ADDRESSES, {})]
        for gone in self._pools.keys() - addresses:
            self._reached.pop(gone.node, None)
            await self._pools.pop(gone).close()
        for address in addresses:
            if address not in self._pools:
                self._pools[address] = make_node_pool(
                    self._database, self.nodes, address.host, address.port, self._size
                )
            is_known = address.node in self._reached or address.node in self.nodes.lost
            if not is_known and address.node in some and await self._answers(address, *some[address.node]):
                self._reached[address.node] = self._pools[address]

    async def _answers(self, address: Address, workspace_id: UUID, tables: OwnTables) -> bool:
        """Whether the address leads this process to the node, which has a copy of this workspace."""
        copies = f"{REFERENCE}_{tables.numbers[REFERENCE]}"
        question = f"SELECT count(*) FROM pg_dist_local_group, {copies} WHERE groupid = $1 AND id = $2"  # noqa: S608
        connection: Connection | None = None
        try:
            connection = await self._pools[address].open()
            answers = bool(await connection.driver.fetchval(question, address.node, workspace_id))
        except (*DRIVER_ERRORS, SQLAlchemyError):
            answers = False
        if connection is not None:
            connection.abort()
            await connection.discard()
        return answers
