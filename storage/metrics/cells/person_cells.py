"""Reading and writing the bitmaps of persons."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import Uuid, and_, bindparam, or_, select

from storage.dialects.number_lists import as_numbers, numbers_named
from storage.engine.connections import Connection
from storage.engine.statements.kept import Kept
from storage.engine.upserts import replace, upsert_all
from storage.metrics.cells.tiling import CellKey, Grain
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import PersonCellRow

_cells = table_of(PersonCellRow)


async def read_bitmaps(
    connection: Connection, workspace_id: UUID, keys: Sequence[CellKey]
) -> dict[CellKey, BitMap]:
    """The bitmaps of these cells, for those that exist."""
    by_grain: defaultdict[Grain, list[int]] = defaultdict(list)
    for grain, at in keys:
        by_grain[grain].append(at)
    dialect = connection.dialect.name
    begins = {_begins(grain): as_numbers(dialect, by_grain[grain]) for grain in by_grain}
    statement = _bitmaps(dialect, tuple(by_grain))
    rows = await connection.fetch(statement, {"home": workspace_id, **begins})
    return {CellKey(Grain(grain), at): BitMap.deserialize(persons) for grain, at, persons in rows}


@cache
def _bitmaps(dialect: str, grains: tuple[Grain, ...]) -> Kept:
    cells_of_grains = [
        and_(
            _cells.c.grain == grain.value,
            _cells.c.at.in_(select(numbers_named(dialect, _begins(grain)).c.value)),
        )
        for grain in grains
    ]
    home = _cells.c.workspace_id == bindparam("home", type_=Uuid())
    return Kept(select(_cells.c.grain, _cells.c.at, _cells.c.persons).where(home, or_(*cells_of_grains)))


def _begins(grain: Grain) -> str:
    """The parameter for the beginnings of the cells of a grain."""
    return f"begins_{grain.value}"


async def write_bitmaps(
    connection: Connection, workspace_id: UUID, bitmaps: Mapping[CellKey, BitMap]
) -> None:
    """Write these cells, replacing the bitmaps that they had."""
    rows = [
        (workspace_id, key.grain.value, key.at, persons.serialize(), len(persons))
        for key, persons in bitmaps.items()
    ]
    await upsert_all(connection, _cells, rows, replace)
