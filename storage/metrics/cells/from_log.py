"""Cells counted anew: statements that make them out of facts, or coarse ones out of fine ones."""

from collections import defaultdict
from typing import Any
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import BigInteger, Integer, Select, Table, and_, cast, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.enums import FactKind
from storage.metrics.cells.cells import (
    ACTIVITY,
    ACTIVITY_PARTS,
    MONEY_PARTS,
    PERSON_GRAINS,
    SHARE_GRAINS,
    WORKSPACE_GRAINS,
)
from storage.metrics.cells.period_sql import cell_of
from storage.metrics.cells.person_cells import Key
from storage.metrics.cells.tiling import Grain
from storage.rows import table_of
from storage.tables.metric_cells import NO_SHARE
from storage.tables.metrics import PersonMergeRow

ROWS_AT_A_TIME = 10_000

_merges = table_of(PersonMergeRow)


def keys_of(table: Table) -> list[str]:
    """The columns that say which cell of a workspace a row is."""
    return [column.name for column in table.primary_key if column.name != "workspace_id"]


def sums_of(table: Table) -> list[str]:
    return [column.name for column in table.c if not column.primary_key]


def grains_of(*, by_share: bool) -> tuple[Grain, ...]:
    """The grains of the cells of shares, or of workspaces, from fine to coarse."""
    return tuple(reversed(SHARE_GRAINS if by_share else WORKSPACE_GRAINS))


def cells_of_facts(
    table: Table, facts: Table, workspace_id: UUID, grain: Grain, *, by_share: bool
) -> Select[Any]:
    """Cells of `table` out of rows of facts: the columns of `keys_of`, then those of `sums_of`."""
    by_kind = ACTIVITY_PARTS if table is ACTIVITY else MONEY_PARTS
    conditions = [
        facts.c.workspace_id == workspace_id,
        facts.c.kind.in_([kind.value for kind, parts in by_kind.items() if parts]),
    ]
    if by_share:
        conditions.append(facts.c.share_id.is_not(None))
    if table is not ACTIVITY:
        conditions.append(facts.c.currency.is_not(None))
    share_id = facts.c.share_id if by_share else literal(NO_SHARE)
    values = [column for column in facts.c if column.name not in ("share_id", "workspace_id", "id")]
    at = cell_of(facts.c.moment, grain)
    rows = select(share_id.label("share_id"), at.label("at"), *values).where(*conditions).subquery()
    parts = {part.name: part.of_column(rows) for parts in by_kind.values() for part in parts}
    return _grouped(table, rows, grain, parts)


def cells_of_finer(
    table: Table, workspace_id: UUID, finer: Grain, grain: Grain, *, by_share: bool
) -> Select[Any]:
    """Cells of `table` out of its cells of a finer grain, in the columns of `cells_of_facts`."""
    share_id = table.c.share_id
    whose = share_id != NO_SHARE if by_share else share_id == NO_SHARE
    at = cell_of(table.c.at, grain).label("at")
    others = [column for column in table.c if column.name not in ("at", "grain", "workspace_id")]
    conditions = table.c.workspace_id == workspace_id, table.c.grain == finer.value, whose
    rows = select(at, *others).where(*conditions).subquery()
    return _grouped(table, rows, grain, {name: rows.c[name] for name in sums_of(table)})


def _grouped(table: Table, rows: Any, grain: Grain, values: dict[str, Any]) -> Select[Any]:
    keys = {name: rows.c[name] for name in keys_of(table) if name != "grain"}
    shown = keys | {"grain": literal(grain.value, Integer)}
    sums = [cast(func.sum(values[name]), BigInteger).label(name) for name in sums_of(table)]
    return select(*(shown[name].label(name) for name in keys_of(table)), *sums).group_by(*keys.values())


async def persons_of_facts(
    connection: AsyncConnection, facts: Table, workspace_id: UUID
) -> dict[Key, BitMap]:
    """The persons with an event in each cell, merged ones as one."""
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
    wanted = select(rows.c.quarter, person).select_from(rows.outerjoin(_merges, merged))
    found: defaultdict[Key, BitMap] = defaultdict(BitMap)
    async with connection.stream(wanted) as result:
        async for some in result.partitions(ROWS_AT_A_TIME):
            for begins, number in some:
                found[Grain.QUARTER, begins].add(number)
    for (_, begins), persons in list(found.items()):
        for grain in PERSON_GRAINS[:-1]:
            found[grain, grain.begins(begins)] |= persons
    return found
