"""The statements that read cells, built once and cached: building one can take longer than running it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    null,
    select,
    union_all,
)

from storage.dialects.number_lists import numbers_in
from storage.metrics.cells.period_sql import Run, period_of, runs
from storage.metrics.cells.tiling import FIRST_EVER, Grain, Layer, make_cover
from storage.metrics.reading.reader import GroupedBy
from storage.metrics.sums import FactSum, cell_columns_of
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import MetricDeltaRow

_deltas = table_of(MetricDeltaRow)


@dataclass(frozen=True)
class CellQuery:
    """The cells of `table` that a statement reads: of `grains`, between `edges`, which bound its periods.

    `of_one`: all cells are of one share, or of one workspace as a whole, and of one currency. `grouped_by`: a
    key by which cells are added up. `layers`: only these cells, instead of all that cover
    the range. `in_one`: the cells are of one workspace; only then a row can tell whether it has deltas.
    """

    dialect: str
    table: Table
    edges: tuple[int, ...]
    grains: tuple[Grain, ...]
    of_one: bool = False
    grouped_by: GroupedBy | None = None
    layers: tuple[Layer, ...] | None = None
    in_one: bool = True

    @property
    def read_layers(self) -> Sequence[Layer]:
        """The cells that are read."""
        return make_cover(self.edges, self.grains).layers if self.layers is None else self.layers

    @property
    def keys(self) -> list[ColumnElement[Any]]:
        """The columns that rows begin with, before their moment."""
        if self.grouped_by is None:
            return []
        return [self.table.c.currency if self.grouped_by is GroupedBy.CURRENCY else self.table.c.share_id]


def has_deltas(*, of_one: bool) -> ColumnElement[bool]:
    """Whether any of the workspaces has unfolded deltas."""
    own = _own(_deltas.c.workspace_id, of_one=of_one)
    return exists(select(_deltas.c.id).where(own)).label("has_deltas")


@lru_cache(maxsize=128)
def sums_of_cells(
    query: CellQuery, fact_sums: tuple[FactSum, ...], states: tuple[FactSum, ...] = ()
) -> Select[Any] | CompoundSelect[Any]:
    """Rows of a moment in a period, the sums of the cell columns, and whether there are deltas: null unless
    `in_one`, because a cluster does not look into a second table beside the cells of several workspaces.

    `grouped_by` puts a key before each row. `states` add one row, or one for each key: `FIRST_EVER`, and
    their sums before the first edge, with 0 for the other sums. Parameters: `workspace_ids` and `share_ids`,
    which may hold `NO_SHARE`; if `of_one`, a `workspace_id` and a `share_id`; of money, unless grouped by it,
    also a `currency`.
    """
    columns = [query.table.c[column.name] for column in cell_columns_of(fact_sums)]
    flag = has_deltas(of_one=query.of_one) if query.in_one else null().label("has_deltas")
    is_alone = (query.of_one or query.grouped_by is GroupedBy.SHARE) and query.layers is None
    if is_alone and is_cell_by_cell(query.edges, query.grains):
        (layer,) = query.read_layers
        rows = select(*query.keys, query.table.c.at, *columns, flag).where(*_where(query, layer))
    elif query.keys and len(query.edges) == 2:
        # In the order of the primary key: grouped by their period too, the cells would be sorted.
        cells = _cells(query, [*query.keys, *columns])
        keys = [cells.c[column.name] for column in query.keys]
        sums = [_sum(cells.c[column.name]) for column in columns]
        rows = select(*keys, literal(query.edges[0], BigInteger), *sums, flag).group_by(*keys)
    else:
        period = period_of(query.table.c.at, query.edges).label("period")
        cells = _cells(query, [*query.keys, period, *columns])
        keys = [cells.c[column.name] for column in (*query.keys, period)]
        sums = [_sum(cells.c[column.name]) for column in columns]
        rows = select(*keys, *sums, flag).group_by(*keys)
    return union_all(rows, _before(query, columns, states).add_columns(flag)) if states else rows


def _before(query: CellQuery, columns: Sequence[Column[Any]], states: tuple[FactSum, ...]) -> Select[Any]:
    """One row for each key: `FIRST_EVER`, and the sums before the first edge; 0 in columns of no state."""
    of_states = {column.name for column in cell_columns_of(states)}
    earlier = replace(query, edges=(FIRST_EVER, query.edges[0]), layers=None)
    cells = _cells(earlier, [*query.keys, *(column for column in columns if column.name in of_states)])
    zero = literal(0, BigInteger)
    sums = [
        func.coalesce(_sum(cells.c[column.name]), zero) if column.name in of_states else zero
        for column in columns
    ]
    keys = [cells.c[column.name] for column in query.keys]
    shown: list[ColumnElement[Any]] = [*keys, literal(FIRST_EVER, BigInteger), *sums]
    before = select(*shown)
    return before.group_by(*keys) if keys else before


def is_cell_by_cell(edges: tuple[int, ...], grains: tuple[Grain, ...]) -> bool:
    """Whether every period is exactly one cell, so that there is nothing to add up."""
    layers = make_cover(edges, grains).layers
    if len(layers) > 1 or layers[0].only is not None or layers[0].but:
        return False
    return runs(edges) == [Run(edges[0], layers[0].grain.microseconds)]


def _cells(query: CellQuery, columns: Sequence[ColumnElement[Any]]) -> Subquery:
    layers = query.read_layers
    return union_all(*(select(*columns).where(*_where(query, layer)) for layer in layers)).subquery()


def _where(query: CellQuery, layer: Layer) -> list[ColumnElement[bool]]:
    cells = query.table.c
    conditions = [
        _own(cells.workspace_id, of_one=query.of_one),
        _own(cells.share_id, of_one=query.of_one),
        cells_in(query.table, layer, query.edges, query.dialect),
    ]
    if "currency" in cells and query.grouped_by is not GroupedBy.CURRENCY:
        conditions.append(cells.currency == bindparam("currency"))
    return conditions


def _own(column: ColumnElement[Any], *, of_one: bool) -> ColumnElement[bool]:
    """The column equals one parameter; or one of several, which takes longer to render."""
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
