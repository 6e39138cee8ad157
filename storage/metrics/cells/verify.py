"""Compute the cells of a workspace again and count those that differ from the stored ones."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import Select, Table, func, or_, select, union_all

from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.metrics.cells.bitmaps import replace_absorbed
from storage.metrics.cells.cells import ACTIVITY, MONEY, sums_of
from storage.metrics.cells.from_log import (
    cells_of_facts,
    cells_of_finer,
    grains_of,
    keys_of,
    persons_of_facts,
)
from storage.metrics.cells.merges import unfolded_merges
from storage.metrics.cells.rebuild import count_cells
from storage.metrics.cells.tiling import CellKey, Grain
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import NO_SHARE, MetricDeltaRow, PersonCellRow
from storage.tables.metrics.metrics import MetricFactRow

_facts, _deltas, _persons = table_of(MetricFactRow), table_of(MetricDeltaRow), table_of(PersonCellRow)


class Verification(NamedTuple):
    """How many cells a workspace has, and how many of them differ from the log."""

    cells: int
    differences: int


async def verify(database: Database, workspace_id: UUID) -> Verification:
    """Compare the cells with the log, in one snapshot.

    A cell plus its unfolded deltas must equal the sum of the facts; a coarse cell the sum of its finer cells.
    """
    async with database.snapshot() as connection:
        differences = 0
        for comparison in _comparisons(workspace_id):
            differences += (await connection.execute(comparison)).scalar_one()
        differences += await _differing_bitmaps(connection, workspace_id)
        return Verification(await count_cells(connection, workspace_id), differences)


def _comparisons(workspace_id: UUID) -> Iterator[Select[int]]:
    for table in (ACTIVITY, MONEY):
        for by_share in (False, True):
            finest, *_ = grains = grains_of(by_share=by_share)
            cells = _cells(table, workspace_id, finest, by_share=by_share)
            deltas = cells_of_facts(table, _deltas, workspace_id, finest, by_share=by_share)
            facts = cells_of_facts(table, _facts, workspace_id, finest, by_share=by_share)
            yield _differing(table, [cells, deltas], facts)
            for finer, grain in pairwise(grains):
                cells = _cells(table, workspace_id, grain, by_share=by_share)
                yield _differing(
                    table, [cells], cells_of_finer(table, workspace_id, finer, grain, by_share=by_share)
                )


def _cells(table: Table, workspace_id: UUID, grain: Grain, *, by_share: bool) -> Select[Any]:
    of_shares = table.c.share_id != NO_SHARE if by_share else table.c.share_id == NO_SHARE
    columns = [table.c[name] for name in (*keys_of(table), *sums_of(table))]
    return select(*columns).where(
        table.c.workspace_id == workspace_id, table.c.grain == grain.value, of_shares
    )


def _differing(table: Table, stored: list[Select[Any]], expected: Select[Any]) -> Select[int]:
    """The number of cells of which some sum differs."""
    less = expected.subquery()
    negated = select(*(less.c[name] for name in keys_of(table)), *(-less.c[name] for name in sums_of(table)))
    both = union_all(*stored, negated).subquery()
    keys = [both.c[name] for name in keys_of(table)]
    differs = or_(*(func.sum(both.c[name]) != 0 for name in sums_of(table)))
    different = select(*keys).group_by(*keys).having(differs).subquery()
    return select(func.count()).select_from(different)


async def _differing_bitmaps(connection: Connection, workspace_id: UUID) -> int:
    expected = await persons_of_facts(connection, _facts, workspace_id)
    unfolded = await persons_of_facts(connection, _deltas, workspace_id)
    merges = (await unfolded_merges(connection, [workspace_id])).get(workspace_id, ())
    own = _persons.c.workspace_id == workspace_id
    stored: dict[CellKey, BitMap] = {}
    for row in await connection.execute(select(_persons).where(own)):
        persons = stored[CellKey(Grain(row.grain), row.at)] = BitMap.deserialize(row.persons)
        replace_absorbed(persons, merges)
    for key, persons in unfolded.items():
        stored[key] = stored[key] | persons if key in stored else persons
    empty = BitMap()
    return sum(stored.get(key, empty) != expected.get(key, empty) for key in stored.keys() | expected.keys())
