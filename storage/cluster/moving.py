"""Moving a workspace to another node of a Citus cluster while it is used.

Citus moves shards: the rows that a workspace has in each table, and those of the other workspaces whose ids
have hashes in the same range. It copies them beside their readers and writers, and lets these wait at the
end, while the last changes arrive.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import Any
from uuid import UUID

from asyncpg.exceptions import LockNotAvailableError, PostgresError, QueryCanceledError
from sqlalchemy.exc import DBAPIError

from storage.cluster.cleaning import LOCK_SECONDS, alone_for, clean_up
from storage.engine.connections import DRIVER_ERRORS, Connection
from storage.engine.database import Database
from storage.engine.outages import is_lost
from storage.operator_errors import OperatorError
from storage.workspaces.distribution import REFERENCE, TENANT_TABLES, read_cluster

TABLE = TENANT_TABLES[0].name
SECONDS_TO_LOOK = 20
LOGICAL = "logical"

_NODES = """
    SELECT nodeid, groupid, nodename, nodeport, shouldhaveshards FROM pg_dist_node
    WHERE noderole = 'primary' AND isactive ORDER BY groupid
"""
_WAL_LEVELS = "SELECT nodeid, success, result FROM run_command_on_all_nodes('SHOW wal_level')"
_OWNER = f"""
    SELECT pg_get_userbyid(relowner) AS owner, pg_has_role(relowner, 'USAGE') AS is_ours
    FROM pg_class WHERE oid = '{TABLE}'::regclass
"""  # noqa: S608 - names of our own tables
_PLACE = f"""
    WITH shards AS (SELECT id, get_shard_id_for_distribution_column('{TABLE}', id) AS shard FROM {REFERENCE})
    SELECT shard, groupid, (SELECT count(*) FROM shards AS other WHERE other.shard = shards.shard) AS many
    FROM shards JOIN pg_dist_placement ON shardid = shard WHERE id = $1
"""  # noqa: S608
_PROGRESS = """
    SELECT min(status) AS status, sum(source_shard_size)::bigint AS size,
           sum(target_shard_size)::bigint AS copied
    FROM get_rebalance_progress() WHERE sessionid = $1
"""
_IS_MOVING = "SELECT EXISTS (SELECT FROM get_rebalance_progress())"
_WAITS = """
    SELECT array(SELECT DISTINCT blocking_gpid FROM citus_lock_waits WHERE waiting_gpid = $1) AS before_it,
           (SELECT count(DISTINCT waiting_gpid) FROM citus_lock_waits WHERE blocking_gpid = $1) AS behind_it
"""
# The process of a global id, as Citus makes it.
_PROCESSES_OF_NODE = 10_000_000_000


class NotMovable(OperatorError):
    """The workspace cannot be moved, or was not; the text tells the operator why and what to do."""


@dataclass(frozen=True)
class Node:
    """A server of the cluster. Nodes that take no workspaces have copies of reference tables only."""

    id: int
    group: int
    name: str
    port: int
    takes_workspaces: bool

    @property
    def address(self) -> str:
        return f"{self.name}:{self.port}"


@dataclass(frozen=True)
class Move:
    """What is to be moved from where to where. `neighbours` are other workspaces in the same shard."""

    workspace_id: UUID
    shard: int
    source: Node
    target: Node
    neighbours: int


@dataclass(frozen=True)
class Progress:
    """How far a move is: Citus's name of the step, and the bytes that are there and at the target.

    `before_it` are processes for whose transactions it waits, `behind_it` is how many wait for it.
    """

    step: str
    size: int
    copied: int
    before_it: Sequence[str]
    behind_it: int


async def check_distributed(database: Database) -> None:
    """Raises `NotMovable` unless the database is a cluster whose tables are all distributed."""
    cluster = await read_cluster(database)
    if cluster is None or not cluster.is_distributed:
        raise NotMovable("The database is not distributed: it has no other node to move a workspace to.")
    if cluster.undistributed or cluster.missing_keys:
        raise NotMovable("The database is not distributed in full: run `duograph distribute` first.")


async def plan_move(database: Database, workspace_id: UUID, target: str) -> Move:
    """What the move to the node `target`, `host` or `host:port`, would move. Raises `NotMovable`."""
    async with alone_for(database, SECONDS_TO_LOOK) as connection:
        nodes = [Node(*row) for row in await connection.driver.fetch(_NODES)]
        to = _named(nodes, target)
        await _check(connection, nodes)
        if await connection.driver.fetchval(_IS_MOVING):
            raise NotMovable(
                "Shards are being moved: run it again when that has ended. After a move was killed, that "
                "takes a few seconds."
            )
        place = await connection.driver.fetchrow(_PLACE, workspace_id)
    if place is None:
        raise NotMovable("The workspace was deleted meanwhile.")
    source = next(node for node in nodes if node.group == place["groupid"])
    if source == to:
        raise NotMovable(f"The workspace is on {to.address} already.")
    return Move(workspace_id, place["shard"], source, to, place["many"] - 1)


def _named(nodes: Sequence[Node], target: str) -> Node:
    """The node with this address. Raises `NotMovable`."""
    fitting = [node for node in nodes if target in (node.address, node.name)]
    takers = ", ".join(node.address for node in nodes if node.takes_workspaces)
    if not fitting:
        raise NotMovable(f"The cluster has no node {target}. Workspaces can be on: {takers}.")
    if len(fitting) > 1:
        raise NotMovable(f"Several nodes are called {target}: add the port, as in {fitting[0].address}.")
    if not fitting[0].takes_workspaces:
        raise NotMovable(f"The node {target} takes no workspaces. They can be on: {takers}.")
    return fitting[0]


async def _check(connection: Connection, nodes: Sequence[Node]) -> None:
    """Raises `NotMovable` unless this role may move shards, and every node answers and can have slots."""
    owner = await connection.driver.fetchrow(_OWNER)
    if not owner["is_ours"]:
        raise NotMovable(
            f"Only the owner of the tables may move a workspace: connect as {owner['owner']} in "
            "DUOGRAPH_DATABASE_URL."
        )
    levels = {row["nodeid"]: row for row in await connection.driver.fetch(_WAL_LEVELS)}
    for node in nodes:
        if node.id not in levels or not levels[node.id]["success"]:
            raise NotMovable(
                f"The node {node.address} does not answer: a move changes something on each node, so it has "
                "to wait until all of them answer."
            )
        if node.takes_workspaces and levels[node.id]["result"] != LOGICAL:
            raise NotMovable(
                f"The node {node.address} has wal_level = {levels[node.id]['result']}: set it to {LOGICAL} "
                "on every node and restart them."
            )


class Mover:
    """Moves a workspace within `seconds`; `progress` tells how far it is meanwhile.

    With `alone`, its rows get shards of their own first, if there are other workspaces in the same shards:
    everything that writes to these waits for it.
    """

    def __init__(self, database: Database, move: Move, *, seconds: int, alone: bool) -> None:
        self._database, self._move = database, move
        self._seconds, self._alone = seconds, alone and move.neighbours > 0
        self._process = self._global_id = 0
        self._waits: Sequence[str] = ()

    async def run(self) -> None:
        """Move it. Whatever happens, what Citus needs no more is removed. Raises `NotMovable`."""
        try:
            async with asyncio.timeout(self._seconds + SECONDS_TO_LOOK):
                await self._run()
        except (TimeoutError, QueryCanceledError):
            raise NotMovable(self._too_long()) from None
        except LockNotAvailableError:
            raise NotMovable(
                f"A transaction kept the move waiting for {LOCK_SECONDS} seconds at its end, with everything "
                "that writes behind it, so nothing was moved: run it again."
            ) from None
        except (DBAPIError, *DRIVER_ERRORS) as error:
            raise NotMovable(_reason(error)) from error
        finally:
            with suppress(DBAPIError, *DRIVER_ERRORS):
                await clean_up(self._database)

    async def _run(self) -> None:
        began = monotonic()
        async with alone_for(self._database, self._seconds) as connection:
            driver = connection.driver
            self._process, self._global_id = await driver.fetchrow(
                "SELECT pg_backend_pid(), citus_backend_gpid()"
            )
            shard = await self._isolated(driver) if self._alone else self._move.shard
            left = max(1, ceil(self._seconds - monotonic() + began))
            await driver.execute(f"SET statement_timeout = '{left}s'")
            await driver.execute(
                f"SELECT citus_move_shard_placement({shard}, {self._move.source.id}, {self._move.target.id}, "
                "'auto')"
            )

    async def _isolated(self, driver: Any) -> int:
        """The shard that has the workspace alone."""
        shard: int = await driver.fetchval(
            f"SELECT isolate_tenant_to_new_shard('{TABLE}', '{self._move.workspace_id}', 'CASCADE', "
            "shard_transfer_mode => 'block_writes')"
        )
        return shard

    def _too_long(self) -> str:
        waited = f"It waited for {', '.join(self._waits)}. " if self._waits else ""
        return (
            f"The move has not ended within {self._seconds} seconds, and nothing was moved. {waited}"
            "Run it again, with more --seconds if there are many rows."
        )

    async def progress(self) -> Progress | None:
        """How far it is; None before it has begun."""
        if not self._process:
            return None
        async with self._database.read() as connection:
            (step,) = await connection.driver.fetch(_PROGRESS, self._process)
            (waits,) = await connection.driver.fetch(_WAITS, self._global_id)
        self._waits = [_process_of(each) for each in waits["before_it"]]
        size, copied = step["size"] or 0, step["copied"] or 0
        return Progress(step["status"] or "Preparing", size, copied, self._waits, waits["behind_it"])


def _process_of(global_id: int) -> str:
    node, process = divmod(global_id, _PROCESSES_OF_NODE)
    return f"the process {process} of the node with the id {node}"


def _reason(error: Exception) -> str:
    if is_lost(error) or not isinstance(error, PostgresError):
        return (
            f"The coordinator does not answer any more: {error}. Run the command again to see what became of "
            "the move."
        )
    said = " ".join(f"{error}. {error.detail or ''} {error.hint or ''}".split())
    return f"Citus refused, and nothing was moved: {said}"
