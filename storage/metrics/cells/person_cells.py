"""Reading and writing the bitmaps of persons."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import and_, or_, select

from storage.connections import Connection
from storage.dialects.number_lists import numbers_in
from storage.dialects.upsert import Upsert, upsert
from storage.metrics.cells.tiling import CellKey, Grain
from storage.rows import table_of
from storage.tables.metric_cells import PersonCellRow

_cells = table_of(PersonCellRow)


async def read_bitmaps(
    connection: Connection, workspace_id: UUID, keys: Sequence[CellKey]
) -> dict[CellKey, BitMap]:
    """The bitmaps of these cells, for those that exist."""
    by_grain: defaultdict[Grain, list[int]] = defaultdict(list)
    for grain, at in keys:
        by_grain[grain].append(at)
    cells_of_grains = [
        and_(
            _cells.c.grain == grain.value,
            _cells.c.at.in_(select(numbers_in(connection.dialect.name, begins).c.value)),
        )
        for grain, begins in by_grain.items()
    ]
    rows = await connection.execute(
        select(_cells.c.grain, _cells.c.at, _cells.c.persons).where(
            _cells.c.workspace_id == workspace_id, or_(*cells_of_grains)
        )
    )
    return {CellKey(Grain(grain), at): BitMap.deserialize(persons) for grain, at, persons in rows}


async def write_bitmaps(
    connection: Connection, workspace_id: UUID, bitmaps: Mapping[CellKey, BitMap]
) -> None:
    """Write these cells, replacing the bitmaps that they had."""
    rows = [
        {
            "workspace_id": workspace_id,
            "grain": key.grain.value,
            "at": key.at,
            "persons": persons.serialize(),
            "many": len(persons),
        }
        for key, persons in bitmaps.items()
    ]
    if rows:
        await connection.execute(_replacing(connection.dialect.name), rows)


@cache
def _replacing(dialect: str) -> Upsert:
    statement = upsert(dialect, _cells)
    replaced = {"persons": statement.excluded.persons, "many": statement.excluded.many}
    return statement.on_conflict_do_update(index_elements=list(_cells.primary_key.columns), set_=replaced)
