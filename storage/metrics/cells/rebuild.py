"""Delete the cells of a workspace and compute them again from the log."""

from itertools import pairwise
from uuid import UUID

from sqlalchemy import Select, Table, delete, func, insert, literal, select

from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.metrics.cells.cells import ACTIVITY, MONEY, sums_of
from storage.metrics.cells.from_log import (
    cells_of_facts,
    cells_of_finer,
    grains_of,
    keys_of,
    persons_of_facts,
)
from storage.metrics.cells.person_cells import write_bitmaps
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import MetricDeltaRow, PersonCellRow, PersonMergeDeltaRow
from storage.tables.metrics.metric_packs import MetricPackRow, MetricSharePackRow
from storage.tables.metrics.metrics import MetricFactRow
from storage.workspaces.workspace_lock import rebuild_in_one_snapshot

BITMAPS_AT_A_TIME = 2_000

_facts, _deltas, _persons = table_of(MetricFactRow), table_of(MetricDeltaRow), table_of(PersonCellRow)
_merge_deltas = table_of(PersonMergeDeltaRow)
_PACKS = table_of(MetricPackRow), table_of(MetricSharePackRow)


async def rebuild(database: Database, workspace_id: UUID) -> int:
    """Compute the cells of a workspace from its facts in one transaction; returns how many there are.

    Facts may be written meanwhile: their deltas are left to the fold.
    """
    return await rebuild_in_one_snapshot(database, workspace_id, _rebuild)


async def _rebuild(connection: Connection, workspace_id: UUID) -> int:
    for table in (ACTIVITY, MONEY, _persons, _deltas, _merge_deltas, *_PACKS):
        await connection.execute(delete(table).where(table.c.workspace_id == workspace_id))
    for table in (ACTIVITY, MONEY):
        for by_share in (False, True):
            finest, *_ = grains = grains_of(by_share=by_share)
            cells = cells_of_facts(table, _facts, workspace_id, finest, by_share=by_share)
            await _insert(connection, table, workspace_id, cells)
            for finer, grain in pairwise(grains):
                cells = cells_of_finer(table, workspace_id, finer, grain, by_share=by_share)
                await _insert(connection, table, workspace_id, cells)
    bitmaps = await persons_of_facts(connection, _facts, workspace_id)
    keys = list(bitmaps)
    for first in range(0, len(keys), BITMAPS_AT_A_TIME):
        batch = {key: bitmaps[key] for key in keys[first : first + BITMAPS_AT_A_TIME]}
        await write_bitmaps(connection, workspace_id, batch)
    return await count_cells(connection, workspace_id)


async def _insert(
    connection: Connection, table: Table, workspace_id: UUID, cells: Select[tuple[object, ...]]
) -> None:
    rows = cells.add_columns(literal(workspace_id).label("workspace_id"))
    names = [*keys_of(table), *sums_of(table), "workspace_id"]
    await connection.execute(insert(table).from_select(names, rows))


async def count_cells(connection: Connection, workspace_id: UUID) -> int:
    """The number of cells of a workspace."""
    total = 0
    for table in (ACTIVITY, MONEY, _persons):
        own = select(func.count()).select_from(table).where(table.c.workspace_id == workspace_id)
        total += (await connection.execute(own)).scalar_one()
    return total
