"""The statements that read cells, kept when they are built: that takes longer than some take to run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Select,
    Subquery,
    Table,
    and_,
    bindparam,
    cast,
    exists,
    func,
    literal,
    select,
    type_coerce,
    union_all,
)
from sqlalchemy.types import NullType

from storage.metrics.cells import PERSON_GRAINS
from storage.metrics.cover import FIRST_EVER, Grain, Layer, make_cover
from storage.metrics.grouping import period_of, runs
from storage.metrics.terms import Term, parts_of
from storage.numbers import numbers_in
from storage.rows import table_of
from storage.tables.metric_cells import MetricDeltaRow, PersonCellRow

_persons, _deltas = table_of(PersonCellRow), table_of(MetricDeltaRow)
# Of any of `workspace_ids`.
HAS_DELTAS = exists(
    select(_deltas.c.id).where(_deltas.c.workspace_id.in_(bindparam("workspace_ids", expanding=True)))
).label("has_deltas")
# As the drivers give them: thousands of rows need no copy.
_BYTES = type_coerce(_persons.c.persons, NullType())


class Money(Enum):
    """Which currencies of the cells of money are read."""

    OF_ONE = auto()
    BY_CURRENCY = auto()


@dataclass(frozen=True)
class CellShape:
    """Which cells of `table` a statement reads: those of `grains` between `edges`, which bound its periods.

    `of_one`: they are of one share, or of one workspace as a whole, and of one currency.
    """

    dialect: str
    table: Table
    edges: tuple[int, ...]
    grains: tuple[Grain, ...]
    money: Money | None = None
    of_one: bool = False


@lru_cache(maxsize=128)
def sums_of_cells(
    shape: CellShape, terms: tuple[Term, ...], states: tuple[Term, ...] = ()
) -> Select[Any] | CompoundSelect[Any]:
    """Rows of a currency, with `BY_CURRENCY`, of a moment in the period, of the sums of the terms' parts, and
    of whether there are deltas.

    With `states`, one more row: of `FIRST_EVER` and their sums before the first edge, with 0 for the other
    terms. Takes `workspace_ids`, `share_ids`, of which `NO_SHARE` is one, and with `OF_ONE` a `currency`.
    """
    columns = [shape.table.c[part.name] for part in parts_of(terms)]
    if shape.of_one and _is_cell_by_cell(shape):
        (layer,) = make_cover(shape.edges, shape.grains).layers
        rows = select(shape.table.c.at, *columns, HAS_DELTAS).where(*_where(shape, layer))
    else:
        period = period_of(shape.table.c.at, shape.edges).label("period")
        currency = [shape.table.c.currency] if shape.money is Money.BY_CURRENCY else []
        cells = _cells(shape, [*currency, period, *columns])
        keys = [cells.c[column.name] for column in (*currency, period)]
        sums = [_sum(cells.c[column.name]) for column in columns]
        rows = select(*keys, *sums, HAS_DELTAS).group_by(*keys)
    if not states:
        return rows
    wanted = {part.name for part in parts_of(states)}
    earlier = replace(shape, edges=(FIRST_EVER, shape.edges[0]))
    cells = _cells(earlier, [column for column in columns if column.name in wanted])
    zero = literal(0, BigInteger)
    sums = [
        func.coalesce(_sum(cells.c[column.name]), zero) if column.name in wanted else zero
        for column in columns
    ]
    return union_all(rows, select(literal(FIRST_EVER, BigInteger), *sums, HAS_DELTAS))


def _is_cell_by_cell(shape: CellShape) -> bool:
    """Whether every period is one cell of one grain, so that nothing has to be added up."""
    layers = make_cover(shape.edges, shape.grains).layers
    if len(layers) > 1 or layers[0].only is not None or layers[0].but:
        return False
    return runs(shape.edges) == [(shape.edges[0], layers[0].grain.microseconds)]


def _cells(shape: CellShape, columns: Sequence[ColumnElement[Any]]) -> Subquery:
    layers = make_cover(shape.edges, shape.grains).layers
    return union_all(*(select(*columns).where(*_where(shape, layer)) for layer in layers)).subquery()


def _where(shape: CellShape, layer: Layer) -> list[ColumnElement[bool]]:
    cells = shape.table.c
    conditions = [
        cells.workspace_id.in_(bindparam("workspace_ids", expanding=True)),
        cells.share_id.in_(bindparam("share_ids", expanding=True)),
        _in(shape.table, layer, shape.edges, shape.dialect),
    ]
    if shape.money is Money.OF_ONE:
        conditions.append(cells.currency == bindparam("currency"))
    return conditions


def _sum(values: ColumnElement[int]) -> ColumnElement[int]:
    return cast(func.sum(values), BigInteger)


@lru_cache(maxsize=64)
def persons_of_cells(edges: tuple[int, ...], dialect: str) -> CompoundSelect[tuple[int, bytes]]:
    """Rows of a moment in the period and of a serialized bitmap. Takes a `workspace_id`."""
    layers = [
        select(_persons.c.at, _BYTES).where(
            _persons.c.workspace_id == bindparam("workspace_id"), _in(_persons, layer, edges, dialect)
        )
        for layer in make_cover(edges, PERSON_GRAINS).layers
    ]
    return union_all(*layers)


def _in(table: Table, layer: Layer, edges: Sequence[int], dialect: str) -> ColumnElement[bool]:
    """The cells of a layer."""
    at, own = table.c.at, table.c.grain == literal(layer.grain.value)
    if layer.only is not None:
        return and_(own, at.in_(select(numbers_in(dialect, layer.only).c.value)))
    inside = and_(own, at >= edges[0], at < edges[-1])
    if not layer.but:
        return inside
    return and_(inside, at.not_in(select(numbers_in(dialect, layer.but).c.value)))
