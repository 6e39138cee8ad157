"""The statements that read cells, kept when they are built: that takes longer than some take to run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
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
    union_all,
)

from storage.dialects.number_lists import numbers_in
from storage.metrics.cells.period_sql import period_of, runs
from storage.metrics.cells.tiling import FIRST_EVER, Grain, Layer, make_cover
from storage.metrics.sums import Term, parts_of
from storage.rows import table_of
from storage.tables.metric_cells import MetricDeltaRow

_deltas = table_of(MetricDeltaRow)


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


def has_deltas(*, of_one: bool) -> ColumnElement[bool]:
    """Whether any of the workspaces has some."""
    own = _own(_deltas.c.workspace_id, of_one=of_one)
    return exists(select(_deltas.c.id).where(own)).label("has_deltas")


@lru_cache(maxsize=128)
def sums_of_cells(
    shape: CellShape, terms: tuple[Term, ...], states: tuple[Term, ...] = ()
) -> Select[Any] | CompoundSelect[Any]:
    """Rows of a currency, with `BY_CURRENCY`, of a moment in the period, of the sums of the terms' parts, and
    of whether there are deltas.

    With `states`, one more row: of `FIRST_EVER` and their sums before the first edge, with 0 for the other
    terms. Takes `workspace_ids` and `share_ids`, of which `NO_SHARE` is one, or a `workspace_id` and a
    `share_id` if it is `of_one`, and with `OF_ONE` a `currency`.
    """
    columns = [shape.table.c[part.name] for part in parts_of(terms)]
    flag = has_deltas(of_one=shape.of_one)
    if shape.of_one and is_cell_by_cell(shape.edges, shape.grains):
        (layer,) = make_cover(shape.edges, shape.grains).layers
        rows = select(shape.table.c.at, *columns, flag).where(*_where(shape, layer))
    else:
        period = period_of(shape.table.c.at, shape.edges).label("period")
        currency = [shape.table.c.currency] if shape.money is Money.BY_CURRENCY else []
        cells = _cells(shape, [*currency, period, *columns])
        keys = [cells.c[column.name] for column in (*currency, period)]
        sums = [_sum(cells.c[column.name]) for column in columns]
        rows = select(*keys, *sums, flag).group_by(*keys)
    return union_all(rows, _before(shape, columns, states).add_columns(flag)) if states else rows


def _before(shape: CellShape, columns: Sequence[Column[Any]], states: tuple[Term, ...]) -> Select[Any]:
    """One row: `FIRST_EVER`, and the columns' sums before the first edge, 0 for those of no state."""
    wanted = {part.name for part in parts_of(states)}
    earlier = replace(shape, edges=(FIRST_EVER, shape.edges[0]))
    cells = _cells(earlier, [column for column in columns if column.name in wanted])
    zero = literal(0, BigInteger)
    sums = [
        func.coalesce(_sum(cells.c[column.name]), zero) if column.name in wanted else zero
        for column in columns
    ]
    shown: list[ColumnElement[Any]] = [literal(FIRST_EVER, BigInteger), *sums]
    return select(*shown)


def is_cell_by_cell(edges: tuple[int, ...], grains: tuple[Grain, ...]) -> bool:
    """Whether every period is one cell of one grain, so that nothing has to be added up."""
    layers = make_cover(edges, grains).layers
    if len(layers) > 1 or layers[0].only is not None or layers[0].but:
        return False
    return runs(edges) == [(edges[0], layers[0].grain.microseconds)]


def _cells(shape: CellShape, columns: Sequence[ColumnElement[Any]]) -> Subquery:
    layers = make_cover(shape.edges, shape.grains).layers
    return union_all(*(select(*columns).where(*_where(shape, layer)) for layer in layers)).subquery()


def _where(shape: CellShape, layer: Layer) -> list[ColumnElement[bool]]:
    cells = shape.table.c
    conditions = [
        _own(cells.workspace_id, of_one=shape.of_one),
        _own(cells.share_id, of_one=shape.of_one),
        cells_in(shape.table, layer, shape.edges, shape.dialect),
    ]
    if shape.money is Money.OF_ONE:
        conditions.append(cells.currency == bindparam("currency"))
    return conditions


def _own(column: ColumnElement[Any], *, of_one: bool) -> ColumnElement[bool]:
    """A parameter of the column's name, or of several of it, which takes longer to write."""
    if of_one:
        return column == bindparam(column.key)
    return column.in_(bindparam(f"{column.key}s", expanding=True))


def _sum(values: ColumnElement[int]) -> ColumnElement[int]:
    return cast(func.sum(values), BigInteger)


def cells_in(table: Table, layer: Layer, edges: Sequence[int], dialect: str) -> ColumnElement[bool]:
    """The cells of a layer."""
    at, own = table.c.at, table.c.grain == literal(layer.grain.value)
    if layer.only is not None:
        return and_(own, at.in_(select(numbers_in(dialect, layer.only).c.value)))
    inside = and_(own, at >= edges[0], at < edges[-1])
    if not layer.but:
        return inside
    return and_(inside, at.not_in(select(numbers_in(dialect, layer.but).c.value)))
