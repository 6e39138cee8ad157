"""The bitmaps of persons as rows."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import and_, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.dialects.number_lists import numbers
from storage.dialects.upsert import Upsert, upsert
from storage.metrics.cells.tiling import Grain
from storage.rows import table_of
from storage.tables.metric_cells import PersonCellRow

# A grain and where the cell begins.
Key = tuple[Grain, int]

_cells = table_of(PersonCellRow)


async def read_bitmaps(
    connection: AsyncConnection, workspace_id: UUID, keys: Sequence[Key]
) -> dict[Key, BitMap]:
    """The bitmaps of those cells that there are."""
    by_grain: defaultdict[Grain, list[int]] = defaultdict(list)
    for grain, at in keys:
        by_grain[grain].append(at)
    wanted = [
        and_(_cells.c.grain == grain.value, _cells.c.at.in_(select(numbers(connection, begins).c.value)))
        for grain, begins in by_grain.items()
    ]
    rows = await connection.execute(
        select(_cells.c.grain, _cells.c.at, _cells.c.persons).where(
            _cells.c.workspace_id == workspace_id, or_(*wanted)
        )
    )
    return {(Grain(grain), at): BitMap.deserialize(persons) for grain, at, persons in rows}


async def write_bitmaps(
    connection: AsyncConnection, workspace_id: UUID, bitmaps: Mapping[Key, BitMap]
) -> None:
    """Put these bitmaps in the place of those that the cells had."""
    rows = [
        {
            "workspace_id": workspace_id,
            "grain": grain.value,
            "at": at,
            "persons": persons.serialize(),
            "many": len(persons),
        }
        for (grain, at), persons in bitmaps.items()
    ]
    if rows:
        await connection.execute(_replacing(connection.dialect.name), rows)


@cache
def _replacing(dialect: str) -> Upsert:
    statement = upsert(dialect, _cells)
    replaced = {"persons": statement.excluded.persons, "many": statement.excluded.many}
    return statement.on_conflict_do_update(index_elements=list(_cells.primary_key.columns), set_=replaced)
