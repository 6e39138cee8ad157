"""The statements that read the cells of persons, built once and cached."""

from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Integer,
    LargeBinary,
    Select,
    Uuid,
    bindparam,
    exists,
    null,
    select,
    type_coerce,
    union_all,
)
from sqlalchemy.types import NullType

from storage.metrics.cells.cells import PERSON_GRAINS
from storage.metrics.cells.tiling import Layer, make_cover
from storage.metrics.reading.cell_statements import cells_in, has_deltas, is_cell_by_cell
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import PersonCellRow, PersonMergeDeltaRow

_cells, _merge_deltas = table_of(PersonCellRow), table_of(PersonMergeDeltaRow)
_WORKSPACE_ID = bindparam("workspace_id", type_=Uuid())
# Bytes as the drivers return them: thousands of rows need no conversion.
_PERSONS = type_coerce(_cells.c.persons, NullType())
_NOT_COUNTED, _NOT_READ = null().cast(Integer), null().cast(LargeBinary)
_HAS_MERGES = exists(
    select(_merge_deltas.c.absorbed).where(_merge_deltas.c.workspace_id == _WORKSPACE_ID)
).label("has_merges")


@lru_cache(maxsize=64)
def persons_of_cells(edges: tuple[int, ...], dialect: str) -> CompoundSelect[Any]:
    """Rows of a moment in a period, a serialized bitmap, null, and whether deltas and merges are unfolded.

    Takes a `workspace_id`.
    """
    return union_all(*_bitmaps(edges, dialect))


@lru_cache(maxsize=64)
def persons_cell_by_cell(edges: tuple[int, ...], dialect: str) -> CompoundSelect[Any]:
    """The same with the whole range as one period, preceded by rows with null and the persons of one period.

    Only for edges between which each period is one cell.
    """
    (layer,) = make_cover(edges, PERSON_GRAINS).layers
    counts = _rows(layer, edges, dialect, _NOT_READ, _cells.c.many)
    return union_all(counts, *_bitmaps((edges[0], edges[-1]), dialect))


def are_counted(edges: tuple[int, ...]) -> bool:
    """Whether each period is one cell; its row holds the number of its persons."""
    return is_cell_by_cell(edges, PERSON_GRAINS)


def _bitmaps(edges: tuple[int, ...], dialect: str) -> list[Select[Any]]:
    layers = make_cover(edges, PERSON_GRAINS).layers
    return [_rows(layer, edges, dialect, _PERSONS, _NOT_COUNTED) for layer in layers]


def _rows(
    layer: Layer,
    edges: tuple[int, ...],
    dialect: str,
    persons: ColumnElement[Any],
    many: ColumnElement[Any],
) -> Select[Any]:
    own = _cells.c.workspace_id == _WORKSPACE_ID, cells_in(_cells, layer, edges, dialect)
    return select(
        _cells.c.at,
        persons.label("persons"),
        many.label("many"),
        has_deltas(of_one=True),
        _HAS_MERGES,
    ).where(*own)
