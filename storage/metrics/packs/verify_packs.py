"""Count the packs that differ from the cells and facts of their blocks."""

from typing import Any
from uuid import UUID

from sqlalchemy import select

from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.metrics.cells.blocks import block_of
from storage.metrics.packs.contents import PackContents
from storage.metrics.packs.packed_blocks import FORMAT
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import MetricDeltaRow
from storage.tables.metrics.metric_packs import MetricPackRow, MetricSharePackRow

_packs, _share_packs = table_of(MetricPackRow), table_of(MetricSharePackRow)
_deltas = table_of(MetricDeltaRow)


async def verify_packs(database: Database, workspace_id: UUID) -> int:
    """How many packs differ, in one snapshot.

    A pack of which facts wait for the fold is left out: it may have their persons or not, and is forgotten
    with them.
    """
    async with database.snapshot() as connection:
        of_home = _deltas.c.workspace_id == workspace_id
        moments = await connection.execute(select(_deltas.c.moment).where(of_home))
        waiting = {block_of(moment) for moment in moments.scalars()}
        own = _packs.c.workspace_id == workspace_id, _packs.c.format == FORMAT
        packs = (await connection.execute(select(_packs).where(*own))).mappings().all()
        differences = [await _differs(connection, pack) for pack in packs if pack["at"] not in waiting]
        return sum(differences)


async def _differs(connection: Connection, pack: Any) -> bool:
    contents = PackContents(pack["workspace_id"], pack["at"])
    await contents.begin(connection)
    hours = {share_id: await contents.add(connection, share_id) for share_id in contents.shares}
    of_pack = _share_packs.c.workspace_id == pack["workspace_id"], _share_packs.c.at == pack["at"]
    stored = await connection.execute(select(_share_packs.c.share_id, _share_packs.c.hours).where(*of_pack))
    if {share_id: own for share_id, own in hours.items() if own} != {row[0]: row[1] for row in stored}:
        return True
    return any(pack[name] != value for name, value in contents.columns().items())
