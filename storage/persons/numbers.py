"""New numbers for persons, unique in their workspace; gaps do no harm."""

import asyncio
from collections import OrderedDict
from uuid import UUID
from weakref import WeakKeyDictionary

from sqlalchemy import select

from storage.dialects.upsert import upsert
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.rows.rows import table_of
from storage.tables.metrics.metrics import PersonCounterRow
from storage.tables.workspaces.workspaces import WorkspaceRow

BLOCK = 1_000
# When there are more, the oldest loses the rest of its block.
MOST_BLOCKS = 10_000
# A block takes milliseconds, unless all connections of a pooler are those of transactions that wait for one.
PATIENCE_SECONDS = 1

_counters, _workspaces = table_of(PersonCounterRow), table_of(WorkspaceRow)


class _Blocks:
    """The unused numbers of the blocks that this process has reserved in one database, by workspace."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self._left: OrderedDict[UUID, range] = OrderedDict()

    def take(self, workspace_id: UUID, many: int) -> range | None:
        """The next numbers of the block, or None if too few are left."""
        left = self._left.get(workspace_id, range(0))
        if len(left) < many:
            return None
        self._left[workspace_id] = left[many:]
        self._left.move_to_end(workspace_id)
        return left[:many]

    def put(self, workspace_id: UUID, block: range) -> None:
        self._left[workspace_id] = block
        self._left.move_to_end(workspace_id)
        if len(self._left) > MOST_BLOCKS:
            self._left.popitem(last=False)


_blocks: WeakKeyDictionary[Database, _Blocks] = WeakKeyDictionary()


async def new_persons(connection: Connection, database: Database, workspace_id: UUID, many: int) -> range:
    """`many` numbers that are never given out again, even if the transaction of `connection` rolls back.

    On PostgreSQL they come from a block that this process has reserved, so that transactions do not wait for
    each other. SQLite's only writer counts in its own transaction. So does a transaction that creates the
    workspace, which no other transaction can see yet, and one that gets no second connection.
    """
    if database.is_sqlite:
        return await _count_on(connection, workspace_id, many)
    blocks = _blocks.setdefault(database, _Blocks())
    numbers = blocks.take(workspace_id, many)
    if numbers is not None:
        return numbers
    async with blocks.lock:
        # The previous holder of the lock may have reserved a block for the same workspace.
        numbers = blocks.take(workspace_id, many)
        if numbers is None:
            block = await _reserve(database, workspace_id, max(many, BLOCK))
            if block is None:
                return await _count_on(connection, workspace_id, many)
            numbers = block[:many]
            blocks.put(workspace_id, block[many:])
    return numbers


async def _reserve(database: Database, workspace_id: UUID, many: int) -> range | None:
    """Reserve numbers for this process.

    None if other transactions cannot see the workspace, or if no connection gets free in time.
    """
    try:
        async with asyncio.timeout(PATIENCE_SECONDS), database.write_apart() as apart:
            # Checked first: counting would wait for the transaction that creates the workspace.
            if await _is_committed(apart, workspace_id):
                return await _count_on(apart, workspace_id, many)
    except TimeoutError:
        pass
    return None


async def _is_committed(apart: Connection, workspace_id: UUID) -> bool:
    """Whether other transactions can see the workspace."""
    rows = await apart.execute(select(_workspaces.c.id).where(_workspaces.c.id == workspace_id))
    return rows.first() is not None


async def _count_on(connection: Connection, workspace_id: UUID, many: int) -> range:
    """Advance the workspace's counter by `many`, in one statement."""
    first = upsert(connection.dialect.name, _counters).values(workspace_id=workspace_id, next_person=1 + many)
    counted = first.on_conflict_do_update(
        index_elements=[_counters.c.workspace_id],
        set_={"next_person": _counters.c.next_person + many},
    ).returning(_counters.c.next_person)
    after: int = (await connection.execute(counted)).scalar_one()
    return range(after - many, after)
