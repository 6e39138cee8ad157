"""New numbers of persons, unique in their workspace; gaps are nothing to worry about."""

import asyncio
from collections import OrderedDict
from uuid import UUID
from weakref import WeakKeyDictionary

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.database import Database
from storage.dialects.upsert import upsert
from storage.rows import table_of
from storage.tables.metrics import PersonCounterRow
from storage.tables.workspaces import WorkspaceRow

BLOCK = 1_000
# A workspace beyond these loses the rest of its block, not more.
BLOCKS_AT_HAND = 10_000

_counters, _workspaces = table_of(PersonCounterRow), table_of(WorkspaceRow)


class _Blocks:
    """What is left of the blocks that this process took from one database, by workspace."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self._left: OrderedDict[UUID, range] = OrderedDict()

    def take(self, workspace_id: UUID, many: int) -> range | None:
        """The next numbers of the block, or None where it has too few left."""
        left = self._left.get(workspace_id, range(0))
        if len(left) < many:
            return None
        self._left[workspace_id] = left[many:]
        self._left.move_to_end(workspace_id)
        return left[:many]

    def put(self, workspace_id: UUID, block: range) -> None:
        self._left[workspace_id] = block
        self._left.move_to_end(workspace_id)
        if len(self._left) > BLOCKS_AT_HAND:
            self._left.popitem(last=False)


_blocks: WeakKeyDictionary[Database, _Blocks] = WeakKeyDictionary()


async def new_persons(
    connection: AsyncConnection, database: Database, workspace_id: UUID, many: int
) -> range:
    """`many` numbers that nobody else gets, whether or not the unit of `connection` commits.

    On PostgreSQL they come from a block of this process, so that units do not wait for each other's
    numbers. A workspace that `connection` itself is making is counted in that transaction, which nobody
    else can wait for; so does SQLite's one writer.
    """
    if database.is_sqlite:
        return await _count_on(connection, workspace_id, many)
    blocks = _blocks.setdefault(database, _Blocks())
    taken = blocks.take(workspace_id, many)
    if taken is not None:
        return taken
    async with blocks.lock:
        # Whoever held the lock before may have brought a block of this very workspace.
        taken = blocks.take(workspace_id, many)
        if taken is None:
            async with database.write_apart() as apart:
                # Asked first: a count would wait for the transaction that is making the workspace.
                if not await _is_committed(apart, workspace_id):
                    return await _count_on(connection, workspace_id, many)
                block = await _count_on(apart, workspace_id, max(many, BLOCK))
            taken = block[:many]
            blocks.put(workspace_id, block[many:])
    return taken


async def _is_committed(apart: AsyncConnection, workspace_id: UUID) -> bool:
    """Whether others than its maker can see the workspace."""
    found = await apart.execute(select(_workspaces.c.id).where(_workspaces.c.id == workspace_id))
    return found.first() is not None


async def _count_on(connection: AsyncConnection, workspace_id: UUID, many: int) -> range:
    """Move the workspace's counter on by `many`, in one statement."""
    first = upsert(connection.dialect.name, _counters).values(workspace_id=workspace_id, next_person=1 + many)
    counted = first.on_conflict_do_update(
        index_elements=[_counters.c.workspace_id],
        set_={"next_person": _counters.c.next_person + many},
    ).returning(_counters.c.next_person)
    after: int = (await connection.execute(counted)).scalar_one()
    return range(after - many, after)
