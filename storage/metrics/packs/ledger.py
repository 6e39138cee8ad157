"""The ledger of metrics: copies of facts wait, and the fold adds them to cells and forgets packs."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Delete, FromClause, delete, select

from storage.clock import now
from storage.dialects.number_lists import numbers_in
from storage.engine.connections import Connection
from storage.ledger.books import Ledger, Verification, Workspaces
from storage.metrics.cells.blocks import block_of
from storage.metrics.cells.cells import ACTIVITY_CELLS, MONEY_CELLS
from storage.metrics.cells.persons import PersonCells
from storage.metrics.facts import microseconds
from storage.metrics.packs.contents import PackContents
from storage.metrics.packs.packed_blocks import FORMAT
from storage.rows.rows import Values, table_of
from storage.tables.metrics.metric_cells import MetricDeltaRow
from storage.tables.metrics.metric_packs import MetricPackRow, MetricSharePackRow
from storage.tables.metrics.metrics import MetricFactRow

_packs, _share_packs = table_of(MetricPackRow), table_of(MetricSharePackRow)


class Packs:
    """A pack is not counted as a row of its own: it repeats cells, and packing makes it again."""

    async def add(self, connection: Connection, workspace_id: UUID, deltas: Sequence[Values]) -> None:
        """Forget the packs that facts outdate. Live facts take no statement: only what is over is packed."""
        running = block_of(microseconds(now()))
        outdated = {block_of(fact["moment"]) for fact in deltas if fact["moment"] < running}
        if outdated:
            await connection.execute(_forgetting(connection.dialect.name, workspace_id, sorted(outdated)))

    async def compare(self, connection: Connection, ledger: Ledger, workspace_id: UUID) -> Verification:
        """A pack of which facts wait is left out: it may have their persons, and is forgotten with them."""
        own = ledger.deltas.c.workspace_id == workspace_id
        moments = await connection.execute(select(ledger.deltas.c.moment).where(own))
        waiting = {block_of(moment) for moment in moments.scalars()}
        here = _packs.c.workspace_id == workspace_id, _packs.c.format == FORMAT
        packs = (await connection.execute(select(_packs).where(*here))).mappings().all()
        differing = [await _differs(connection, pack) for pack in packs if pack["at"] not in waiting]
        return Verification(0, sum(differing))

    async def rebuild(self, connection: Connection, ledger: Ledger, workspace_id: UUID) -> int:
        for table in (_packs, _share_packs):
            await connection.execute(delete(table).where(table.c.workspace_id == workspace_id))
        return 0


def _forgetting(dialect: str, workspace_id: UUID, blocks: Sequence[int]) -> Delete:
    these = select(numbers_in(dialect, blocks).c.value)
    return delete(_packs).where(_packs.c.workspace_id == workspace_id, _packs.c.at.in_(these))


async def _differs(connection: Connection, pack: Any) -> bool:
    contents = PackContents(pack["workspace_id"], pack["at"])
    await contents.begin(connection)
    hours = {share_id: await contents.add(connection, share_id) for share_id in contents.shares}
    of_pack = _share_packs.c.workspace_id == pack["workspace_id"], _share_packs.c.at == pack["at"]
    stored = await connection.execute(select(_share_packs.c.share_id, _share_packs.c.hours).where(*of_pack))
    if {share_id: own for share_id, own in hours.items() if own} != {row[0]: row[1] for row in stored}:
        return True
    return any(pack[name] != value for name, value in contents.columns().items())


def _facts(workspaces: Workspaces) -> FromClause:
    table = table_of(MetricFactRow)
    return select(table).where(workspaces(table.c.workspace_id)).subquery()


CELLS = Ledger(table_of(MetricDeltaRow), _facts, (Packs(), ACTIVITY_CELLS, MONEY_CELLS, PersonCells()))
