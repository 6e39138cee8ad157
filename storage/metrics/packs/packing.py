"""The background task that packs time that is over."""

import asyncio
from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from sqlalchemy import BigInteger, Uuid, bindparam, select

from storage.clock import now
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.metrics.cells.blocks import BLOCK, block_of
from storage.metrics.cells.tiling import FIRST_EVER
from storage.metrics.facts import microseconds
from storage.metrics.packs.making import PackMaking
from storage.metrics.packs.packed_blocks import packed_blocks
from storage.rows.rows import table_of
from storage.tables.metrics.metrics import MetricFactRow
from storage.tables.workspaces.workspaces import WorkspaceRow

# Facts may be a little late, and the clocks of processes differ.
OVER_AFTER = timedelta(days=2)
# The past changes rarely, and a round looks into every workspace; late facts make a whole pack anew.
SECONDS_BETWEEN_ROUNDS = 3_600
# Between two pieces, which take some 10 to 20 ms: packing may take long, but others must not.
PAUSE_SECONDS = 0.05

_BEFORE_ALL = UUID(int=0)
_workspaces, _facts = table_of(WorkspaceRow), table_of(MetricFactRow)
_NEXT = (
    select(_workspaces.c.id)
    .where(_workspaces.c.id > bindparam("last", type_=Uuid()), _workspaces.c.deleted_at.is_(None))
    .order_by(_workspaces.c.id)
    .limit(1)
)
_FIRST_FACT = (
    select(_facts.c.moment)
    .where(
        _facts.c.workspace_id == bindparam("workspace_id", type_=Uuid()),
        _facts.c.moment >= bindparam("since", type_=BigInteger),
    )
    .order_by(_facts.c.moment)
    .limit(1)
)


class Packing:
    """Packs one database piece by piece, taking the workspaces in turn.

    Several processes may pack at once: a block is claimed, and the others skip it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._last = _BEFORE_ALL
        self._making: PackMaking | None = None
        # The blocks of the workspace whose turn it is that this round has come to.
        self._tried: set[int] = set()

    async def run(self) -> bool:
        """Pack a piece of a block. Returns False at the end of a round through all workspaces."""
        # One that fails is not continued: its contents would lack what it was reading.
        making, self._making = self._making, None
        if making is not None:
            await asyncio.sleep(PAUSE_SECONDS)
            if await making.step():
                self._making = making
            return True
        workspace_id = await self._next()
        if workspace_id is None:
            self._last = _BEFORE_ALL
            return False
        async with self._database.read() as connection:
            at = await first_unpacked(connection, workspace_id, self._tried)
        if at is None:
            self._last = workspace_id
            self._tried.clear()
            return True
        self._tried.add(at)
        making = PackMaking(self._database, workspace_id, at)
        if await making.begin():
            self._making = making
        return True

    async def _next(self) -> UUID | None:
        """The workspace whose turn it is, in the order of ids."""
        async with self._database.read() as connection:
            id: UUID | None = (await connection.execute(_NEXT, {"last": self._last})).scalar()
        return id


async def pack_all(database: Database, workspace_id: UUID) -> None:
    """Pack everything of a workspace that is over and that the fold has come to."""
    tried: set[int] = set()
    while True:
        async with database.read() as connection:
            at = await first_unpacked(connection, workspace_id, tried)
        if at is None:
            return
        tried.add(at)
        await pack(database, workspace_id, at)


async def pack(database: Database, workspace_id: UUID, at: int) -> None:
    """Pack a block that is over, unless something of it waits for the fold."""
    making = PackMaking(database, workspace_id, at)
    if await making.begin():
        while await making.step():
            pass


async def first_unpacked(connection: Connection, workspace_id: UUID, without: Collection[int]) -> int | None:
    """The first block of a workspace that has facts, is over and has no pack, `without` some blocks."""
    over, since = block_of(microseconds(now() - OVER_AFTER)), FIRST_EVER
    skipped = {*without, *await packed_blocks(connection, workspace_id)}
    while True:
        own = {"workspace_id": workspace_id, "since": since}
        moment = (await connection.execute(_FIRST_FACT, own)).scalar()
        if moment is None or block_of(moment) >= over:
            return None
        if block_of(moment) not in skipped:
            return block_of(moment)
        since = block_of(moment) + BLOCK
