"""Cells computed anew: fine cells from facts, and coarse cells from fine ones."""

from collections import defaultdict
from typing import Any
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import BigInteger, Integer, Select, Table, and_, cast, func, literal, select

from storage.engine.connections import Connection
from storage.enums import FactKind
from storage.metrics.cells.cells import (
    ACTIVITY,
    ACTIVITY_COLUMNS,
    MONEY_COLUMNS,
    PERSON_GRAINS,
    SHARE_GRAINS,
    WORKSPACE_GRAINS,
    sums_of,
)
from storage.metrics.cells.period_sql import cell_of
from storage.metrics.cells.tiling import CellKey, Grain
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import NO_SHARE
from storage.tables.metrics.metrics import PersonMergeRow

ROWS_AT_A_TIME = 10_000

_merges = table_of(PersonMergeRow)


def keys_of(table: Table) -> list[str]:
    """The columns that identify a cell within its workspace."""
    return [column.name for column in table.primary_key if column.name != "workspace_id"]


def grains_of(*, by_share: bool) -> tuple[Grain, ...]:
    """The grains of shares' or workspaces' cells, from fine to coarse."""
    return tuple(reversed(SHARE_GRAINS if by_share else WORKSPACE_GRAINS))


def cells_of_facts(
    table: Table, facts: Table, workspace_id: UUID, grain: Grain, *, by_share: bool
) -> Select[Any]:
    """Cells of `table` from rows of facts: the columns of `keys_of`, then those of `sums_of`."""
    by_kind = ACTIVITY_COLUMNS if table is ACTIVITY else MONEY_COLUMNS
    conditions = [
        facts.c.workspace_id == workspace_id,
        facts.c.kind.in_([kind.value for kind, columns in by_kind.items() if columns]),
    ]
    if by_share:
        conditions.append(facts.c.share_id.is_not(None))
    if table is not ACTIVITY:
        conditions.append(facts.c.currency.is_not(None))
    share_id = facts.c.share_id if by_share else literal(NO_SHARE)
    values = [column for column in facts.c if column.name not in ("share_id", "workspace_id", "id")]
    at = cell_of(facts.c.moment, grain)
    rows = select(share_id.label("share_id"), at.label("at"), *values).where(*conditions).subquery()
    added = {column.name: column.of_facts(rows) for columns in by_kind.values() for column in columns}
    return _grouped(table, rows, grain, added)


def cells_of_finer(
    table: Table, workspace_id: UUID, finer: Grain, grain: Grain, *, by_share: bool
) -> Select[Any]:
    """Cells of `table` from its cells of a finer grain, in the columns of `cells_of_facts`."""
    share_id = table.c.share_id
    of_shares = share_id != NO_SHARE if by_share else share_id == NO_SHARE
    at = cell_of(table.c.at, grain).label("at")
    others = [column for column in table.c if column.name not in ("at", "grain", "workspace_id")]
    conditions = table.c.workspace_id == workspace_id, table.c.grain == finer.value, of_shares
    rows = select(at, *others).where(*conditions).subquery()
    return _grouped(table, rows, grain, {name: rows.c[name] for name in sums_of(table)})


def _grouped(table: Table, rows: Any, grain: Grain, values: dict[str, Any]) -> Select[Any]:
    keys = {name: rows.c[name] for name in keys_of(table) if name != "grain"}
    shown = keys | {"grain": literal(grain.value, Integer)}
    sums = [cast(func.sum(values[name]), BigInteger).label(name) for name in sums_of(table)]
    return select(*(shown[name].label(name) for name in keys_of(table)), *sums).group_by(*keys.values())


async def persons_of_facts(connection: Connection, facts: Table, workspace_id: UUID) -> dict[CellKey, BitMap]:
    """The persons with an event in each cell; merged persons are one."""
    quarter = cell_of(facts.c.moment, Grain.QUARTER).label("quarter")
    rows = (
        select(quarter, facts.c.person)
        .where(
            facts.c.workspace_id == workspace_id,
            facts.c.kind == FactKind.EVENT.value,
            facts.c.person.is_not(None),
        )
        .distinct()
        .subquery()
    )
    merged = and_(_merges.c.workspace_id == workspace_id, _merges.c.absorbed == rows.c.person)
    person = func.coalesce(_merges.c.into, rows.c.person)
    statement = select(rows.c.quarter, person).select_from(rows.outerjoin(_merges, merged))
    by_quarter: defaultdict[int, BitMap] = defaultdict(BitMap)
    async with connection.stream(statement) as result:
        async for partition in result.partitions(ROWS_AT_A_TIME):
            for begins, number in partition:
                by_quarter[begins].add(number)
    bitmaps: defaultdict[CellKey, BitMap] = defaultdict(BitMap)
    for begins, persons in by_quarter.items():
        for grain in PERSON_GRAINS:
            bitmaps[CellKey(grain, grain.begins(begins))] |= persons
    return bitmaps
