"""The statements that read the cells of persons: kept ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Integer,
    LargeBinary,
    Select,
    Uuid,
    bindparam,
    exists,
    not_,
    null,
    select,
    type_coerce,
    union_all,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import NullType

from storage.engine.plans import plan_for
from storage.engine.statements.kept import Kept
from storage.metrics.cells.cells import PERSON_GRAINS
from storage.metrics.cells.places import Tiles, placed
from storage.metrics.reading.cell_statements import has_deltas
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import PersonCellRow, PersonMergeDeltaRow

Column = ColumnElement[Any]

_cells, _merge_deltas = table_of(PersonCellRow), table_of(PersonMergeDeltaRow)
_WORKSPACE_ID = bindparam("workspace_id", type_=Uuid())
# Bytes as the drivers return them: thousands of rows need no conversion.
_PERSONS = type_coerce(_cells.c.persons, NullType())
_NOT_COUNTED, _NOT_READ = null().cast(Integer), null().cast(LargeBinary)
HAS_MERGES = exists(select(_merge_deltas.c.absorbed).where(_merge_deltas.c.workspace_id == _WORKSPACE_ID))


@dataclass(frozen=True)
class PersonQuery:
    """The cells of persons that a statement reads: those of `tiles` as bitmaps.

    `counted`: each period is one cell, which has the number of its persons; `tiles` then are the whole range
    as one period. `unless_waiting`: none are read if the workspace has unfolded deltas or merges.
    """

    dialect: str
    tiles: Tiles
    counted: Tiles | None
    unless_waiting: bool = False

    @property
    def is_counted(self) -> bool:
        return self.counted is not None


class PlacedPersons(NamedTuple):
    """A query, the values of its places besides the workspace, and how many cells it reads at most."""

    query: PersonQuery
    values: Mapping[str, Any]
    cells: int


def placed_persons(
    dialect: str,
    edges: tuple[int, ...],
    prefix: str = "",
    *,
    unite: bool = False,
    unless_waiting: bool = False,
) -> PlacedPersons:
    """The persons in the periods between the edges; with `unite`, all are read as bitmaps."""
    periods = placed(dialect, edges, PERSON_GRAINS, f"{prefix}persons_")
    if unite or not periods.tiles.is_cell_by_cell:
        query = PersonQuery(dialect, periods.tiles, None, unless_waiting)
        return PlacedPersons(query, periods.values, periods.cells)
    whole = placed(dialect, (edges[0], edges[-1]), PERSON_GRAINS, f"{prefix}whole_")
    query = PersonQuery(dialect, whole.tiles, periods.tiles, unless_waiting)
    return PlacedPersons(query, {**whole.values, **periods.values}, whole.cells + periods.cells)


def persons_of_cells(dialect: Dialect, query: PersonQuery) -> Kept:
    """Reads a moment in a period, a serialized bitmap, and null, then whether deltas and merges are unfolded.

    If persons are `counted`, rows with null and their number come first. The place is `workspace_id`.
    """

    def shown(at: Column, persons: Column, many: Column) -> list[Column]:
        return [at, persons, many, has_deltas(in_one=True), HAS_MERGES]

    return plan_for(dialect, ("persons", query), lambda: rows_of_persons(query, shown))


def rows_of_persons(
    query: PersonQuery, shown: Callable[[Column, Column, Column], Sequence[Column]]
) -> CompoundSelect[Any]:
    """The rows of cells, with the columns that `shown` makes of the moment, the bitmap and the number."""
    parts = [
        _rows(query, query.tiles, layer, shown(_cells.c.at, _PERSONS, _NOT_COUNTED))
        for layer in range(len(query.tiles.layers))
    ]
    if query.counted is not None:
        parts.insert(0, _rows(query, query.counted, 0, shown(_cells.c.at, _NOT_READ, _cells.c.many)))
    return union_all(*parts)


def _rows(query: PersonQuery, tiles: Tiles, layer: int, columns: Sequence[Column]) -> Select[Any]:
    own = [_cells.c.workspace_id == _WORKSPACE_ID, tiles.cells(_cells, layer, query.dialect)]
    if query.unless_waiting:
        own += [not_(has_deltas(in_one=True)), not_(HAS_MERGES)]
    return select(*columns).where(*own)
