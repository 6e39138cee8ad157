"""Applying merges of persons to the bitmaps, a few cells of the absorbed person at a time."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import Select, Uuid, and_, bindparam, delete, select, update

from storage.dialects.number_lists import as_numbers, numbers_named
from storage.engine.connections import Connection
from storage.engine.statements.kept import Kept
from storage.enums import FactKind
from storage.metrics.cells.bitmaps import Merge, Merges, replace_absorbed
from storage.metrics.cells.period_sql import cell_of
from storage.metrics.cells.person_cells import read_bitmaps, write_bitmaps
from storage.metrics.cells.tiling import CellKey, Grain
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import PersonMergeDeltaRow
from storage.tables.metrics.metrics import MetricFactRow, PersonMergeRow

QUARTERS_AT_A_TIME = 50

_facts, _merges = table_of(MetricFactRow), table_of(PersonMergeRow)
_merge_deltas = table_of(PersonMergeDeltaRow)
_PENDING = Kept(
    select(_merge_deltas.c.absorbed, _merge_deltas.c.until)
    .where(_merge_deltas.c.workspace_id == bindparam("home", type_=Uuid()))
    .limit(1)
)


async def fold_merge(connection: Connection, workspace_id: UUID) -> bool:
    """Rewrite some bitmaps for one pending merge of a workspace whose cells are locked.

    Returns whether there was one.
    """
    pending = await connection.fetch(_PENDING, {"home": workspace_id})
    if not pending:
        return False
    ((absorbed, until),) = pending
    this = (_merge_deltas.c.workspace_id == workspace_id) & (_merge_deltas.c.absorbed == absorbed)
    merged = _merges.c.workspace_id == workspace_id
    into = select(_merges.c.into).where(merged, _merges.c.absorbed == absorbed).scalar_subquery()
    same = select(_merges.c.absorbed, _merges.c.into).where(merged, _merges.c.into == into)
    merges = [Merge(row.absorbed, row.into) for row in await connection.execute(same)]
    persons = [merge.absorbed for merge in merges]
    quarters = await _quarters(connection, workspace_id, persons, until)
    keys = {CellKey(grain, grain.begins(quarter)): None for quarter in quarters for grain in Grain}
    bitmaps = await read_bitmaps(connection, workspace_id, list(keys)) if keys else {}
    for bitmap in bitmaps.values():
        replace_absorbed(bitmap, merges)
    await write_bitmaps(connection, workspace_id, bitmaps)
    if len(quarters) < QUARTERS_AT_A_TIME:
        await connection.execute(delete(_merge_deltas).where(this))
    else:
        until = quarters[-1] + Grain.QUARTER.microseconds
        await connection.execute(update(_merge_deltas).where(this).values(until=until))
    return True


def _unfolded() -> Select[Any]:
    same = and_(
        _merges.c.workspace_id == _merge_deltas.c.workspace_id,
        _merges.c.absorbed == _merge_deltas.c.absorbed,
    )
    pending = (
        select(_merges.c.workspace_id, _merges.c.into)
        .join_from(_merge_deltas, _merges, same)
        .where(_merge_deltas.c.workspace_id.in_(bindparam("workspace_ids", expanding=True)))
        .distinct()
        .subquery()
    )
    into = and_(_merges.c.workspace_id == pending.c.workspace_id, _merges.c.into == pending.c.into)
    return select(_merges.c.workspace_id, _merges.c.absorbed, _merges.c.into).join_from(
        pending, _merges, into
    )


_UNFOLDED = _unfolded()


async def unfolded_merges(connection: Connection, workspace_ids: Sequence[UUID]) -> Merges:
    """Merges that not all bitmaps include yet."""
    merges = defaultdict(list)
    rows = await connection.execute(_UNFOLDED, {"workspace_ids": workspace_ids})
    for workspace_id, absorbed, person in rows:
        merges[workspace_id].append(Merge(absorbed, person))
    return merges


async def merges_of(connection: Connection, workspace_id: UUID, persons: Iterable[int]) -> dict[int, int]:
    """Absorbed persons among these, and the persons they were merged into."""
    dialect = connection.dialect.name
    values = {"home": workspace_id, "persons": as_numbers(dialect, sorted(persons))}
    return dict(await connection.fetch(_merges_of(dialect), values))


@cache
def _merges_of(dialect: str) -> Kept:
    return Kept(
        select(_merges.c.absorbed, _merges.c.into).where(
            _merges.c.workspace_id == bindparam("home", type_=Uuid()),
            _merges.c.absorbed.in_(select(numbers_named(dialect, "persons").c.value)),
        )
    )


async def _quarters(
    connection: Connection, workspace_id: UUID, persons: Sequence[int], begins: int | None
) -> list[int]:
    """The next quarter hours in which one of the persons has an event, ascending."""
    quarter = cell_of(_facts.c.moment, Grain.QUARTER).label("quarter")
    statement = select(quarter).where(
        _facts.c.workspace_id == workspace_id,
        _facts.c.person.in_(persons),
        _facts.c.kind == FactKind.EVENT.value,
    )
    if begins is not None:
        statement = statement.where(_facts.c.moment >= begins)
    first = statement.distinct().order_by("quarter").limit(QUARTERS_AT_A_TIME)
    return list((await connection.execute(first)).scalars())
