"""Making the pack of one block, a few shares at a time.

Every fold that changes the block's cells deletes the row of its pack (`Packs.add`). So what is read after
the row was written, in however many statements, is of one state as long as the row is still there.
"""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select, update

from storage.clock import now
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.engine.upserts import replace, upsert_all
from storage.ledger.workspace_lock import lock_workspace
from storage.metrics.cells.blocks import BLOCK
from storage.metrics.facts import microseconds
from storage.metrics.packs.contents import PackContents
from storage.metrics.packs.packed_blocks import FORMAT
from storage.metrics.packs.person_days import MOST_PERSONS
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import MetricDeltaRow
from storage.tables.metrics.metric_packs import MetricPackRow, MetricSharePackRow
from storage.tables.metrics.metrics import PersonCounterRow

SHARES_AT_A_TIME = 4
IN_THE_MAKING = 0
# A process that has not finished after this long has ended.
GIVEN_UP_AFTER = 10 * 60 * 1_000_000

_packs, _share_packs = table_of(MetricPackRow), table_of(MetricSharePackRow)
_deltas, _counters = table_of(MetricDeltaRow), table_of(PersonCounterRow)


@dataclass
class PackMaking:
    """Makes one pack: call `begin`, and if it returns True, `step` until it returns False."""

    database: Database
    workspace_id: UUID
    at: int
    maker: UUID = field(default_factory=uuid4)
    _contents: PackContents = field(init=False, repr=False)
    _done: int = field(default=0, init=False, repr=False)

    async def begin(self) -> bool:
        """Claim the block; False if it cannot be packed now."""
        async with self.database.write() as connection:
            await lock_workspace(connection, self.workspace_id, wait=True)
            if not await self._is_free(connection):
                return False
            row = {"workspace_id": self.workspace_id, "at": self.at, "format": IN_THE_MAKING}
            row |= {"maker": self.maker, "begun": microseconds(now())}
            row |= dict.fromkeys(("totals", "busiest", "together", "others"), b"")
            await upsert_all(connection, _packs, [[row[column.name] for column in _packs.c]], replace)
        self._contents = PackContents(self.workspace_id, self.at)
        async with self.database.read() as connection:
            await self._contents.begin(connection)
        return True

    async def step(self) -> bool:
        """Pack a few shares, or finish. Returns whether there is more to do."""
        shares = self._contents.shares[self._done : self._done + SHARES_AT_A_TIME]
        if not shares:
            await self._finish()
            return False
        self._done += len(shares)
        async with self.database.read() as connection:
            hours = {share_id: await self._contents.add(connection, share_id) for share_id in shares}
        rows = [(self.workspace_id, self.at, share_id, own) for share_id, own in hours.items() if own]
        if not rows:
            return True
        async with self.database.write() as connection:
            await lock_workspace(connection, self.workspace_id, wait=True)
            if not await self._is_mine(connection):
                return False
            await upsert_all(connection, _share_packs, rows, replace)
        return True

    async def _finish(self) -> None:
        async with self.database.write() as connection:
            mine = update(_packs).where(*self._row, _packs.c.maker == self.maker)
            await connection.execute(mine.values({"format": FORMAT, **self._contents.columns()}))

    async def _is_free(self, connection: Connection) -> bool:
        """Whether nothing of the block waits for the fold, no one else packs it, and persons' numbers fit."""
        waiting = select(_deltas.c.id).where(
            _deltas.c.workspace_id == self.workspace_id,
            _deltas.c.moment >= self.at,
            _deltas.c.moment < self.at + BLOCK,
        )
        claimed = select(_packs.c.at).where(
            *self._row,
            _packs.c.format == IN_THE_MAKING,
            _packs.c.begun > microseconds(now()) - GIVEN_UP_AFTER,
        )
        too_many = select(_counters.c.next_person).where(
            _counters.c.workspace_id == self.workspace_id, _counters.c.next_person > MOST_PERSONS
        )
        for statement in (waiting, claimed, too_many):
            if (await connection.execute(statement.limit(1))).first() is not None:
                return False
        return True

    async def _is_mine(self, connection: Connection) -> bool:
        mine = select(_packs.c.at).where(*self._row, _packs.c.maker == self.maker)
        return (await connection.execute(mine)).first() is not None

    @property
    def _row(self) -> tuple[Any, Any]:
        return _packs.c.workspace_id == self.workspace_id, _packs.c.at == self.at
