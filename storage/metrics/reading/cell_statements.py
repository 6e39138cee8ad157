"""The statements that read cells: kept ones, because building one can take longer than running it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    CompoundSelect,
    Select,
    Subquery,
    bindparam,
    cast,
    exists,
    func,
    literal,
    literal_column,
    not_,
    null,
    select,
    union_all,
)
from sqlalchemy.engine import Dialect

from storage.dialects.matching import among
from storage.engine.plans import plan_for
from storage.engine.statements.kept import Kept
from storage.enums import Currency
from storage.metrics.cells.places import Tiles
from storage.metrics.cells.tiling import FIRST_EVER
from storage.metrics.reading.cell_query import CellQuery
from storage.metrics.reading.reader import GroupedBy
from storage.metrics.sums import cell_columns_of
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import MetricDeltaRow

_deltas = table_of(MetricDeltaRow)
_CURRENCIES: list[ColumnElement[str]] = [literal_column(f"'{currency.value}'") for currency in Currency]

Rows = Select[Any] | CompoundSelect[Any]


def has_deltas(*, in_one: bool) -> ColumnElement[bool]:
    """Whether any of the workspaces has unfolded deltas."""
    own = _own(_deltas.c.workspace_id, is_one=in_one)
    return exists(select(_deltas.c.id).where(own))


def any_deltas(dialect: Dialect) -> Kept:
    """Reads one row: whether any of the `workspace_ids` has unfolded deltas."""
    return plan_for(dialect, "any deltas", lambda: select(has_deltas(in_one=False)))


def sums_of_cells(dialect: Dialect, query: CellQuery) -> Kept:
    """Reads the rows of `rows_of_cells`, each with whether there are deltas: null unless `in_one`, because a
    cluster does not look into a second table beside the cells of several workspaces.
    """

    def make() -> Rows:
        flag = has_deltas(in_one=True) if query.in_one else null()
        return rows_of_cells(query, [flag])

    return plan_for(dialect, ("cells", query), make)


def rows_of_cells(
    query: CellQuery,
    further: Sequence[ColumnElement[Any]] = (),
    leading: Sequence[ColumnElement[Any]] = (),
    currency: ColumnElement[str] | None = None,
) -> Rows:
    """Rows of a moment in a period and the sums of the cell columns, between `leading` and `further` columns.

    `grouped_by` puts a key before each row. `states` add one row, or one for each key: `FIRST_EVER`, and
    their sums before the first edge, with 0 for the other sums. Places, besides those of the tiles:
    `workspace_id` if `in_one`, else `workspace_ids`; `share_id` if `of_one`, else `share_ids`, which may hold
    `NO_SHARE`; of money, unless grouped by it or of this `currency`, also a `currency`.
    """
    columns = [query.table.c[column.name] for column in cell_columns_of(query.fact_sums)]
    own = _Cells(query, query.tiles, currency)
    if query.is_alone and query.tiles.is_cell_by_cell:
        rows = select(*leading, *query.keys, query.table.c.at, *columns, *further).where(*own.conditions(0))
    elif query.keys and query.tiles.is_one_period:
        # In the order of the primary key: grouped by their period too, the cells would be sorted.
        cells = own.united([*query.keys, *columns])
        keys = [cells.c[column.name] for column in query.keys]
        sums = [_sum(cells.c[column.name]) for column in columns]
        rows = select(*leading, *keys, query.tiles.begins, *sums, *further).group_by(*keys)
    else:
        period = query.tiles.period_of(query.table.c.at).label("period")
        cells = own.united([*query.keys, period, *columns])
        keys = [cells.c[column.name] for column in (*query.keys, period)]
        sums = [_sum(cells.c[column.name]) for column in columns]
        rows = select(*leading, *keys, *sums, *further).group_by(*keys)
    if query.before is None:
        return rows
    earlier = _Cells(query, query.before, currency)
    return union_all(rows, _before(earlier, columns, leading).add_columns(*further))


@dataclass(frozen=True)
class _Cells:
    """The cells of a query in some of its tiles."""

    query: CellQuery
    tiles: Tiles
    currency: ColumnElement[str] | None

    def united(self, columns: Sequence[ColumnElement[Any]]) -> Subquery:
        layers = range(len(self.tiles.layers))
        return union_all(*(select(*columns).where(*self.conditions(layer)) for layer in layers)).subquery()

    def conditions(self, layer: int) -> list[ColumnElement[bool]]:
        query, cells = self.query, self.query.table.c
        conditions = [
            _own(cells.workspace_id, is_one=query.in_one),
            _own(cells.share_id, is_one=query.of_one),
            self.tiles.cells(query.table, layer, query.dialect),
        ]
        if "currency" in cells and query.grouped_by is GroupedBy.CURRENCY:
            # The key goes on after the currency: without it, all cells of the workspace would be read.
            conditions.append(cells.currency.in_(_CURRENCIES))
        elif "currency" in cells:
            asked = bindparam("currency") if self.currency is None else self.currency
            conditions.append(cells.currency == asked)
        if query.unless_deltas:
            conditions.append(not_(has_deltas(in_one=True)))
        return conditions


def _before(
    cells: _Cells, columns: Sequence[Column[Any]], leading: Sequence[ColumnElement[Any]]
) -> Select[Any]:
    """One row for each key: `FIRST_EVER`, and the sums before the first edge; 0 in columns of no state."""
    of_states = {column.name for column in cell_columns_of(cells.query.states)}
    own_keys = cells.query.keys
    earlier = cells.united([*own_keys, *(column for column in columns if column.name in of_states)])
    zero = literal(0, BigInteger)
    sums = [
        func.coalesce(_sum(earlier.c[column.name]), zero) if column.name in of_states else zero
        for column in columns
    ]
    keys = [earlier.c[column.name] for column in own_keys]
    shown: list[ColumnElement[Any]] = [*leading, *keys, literal(FIRST_EVER, BigInteger), *sums]
    before = select(*shown)
    return before.group_by(*keys) if keys else before


def _own(column: ColumnElement[Any], *, is_one: bool) -> ColumnElement[bool]:
    """The column equals one place, or one of the values in a place for several."""
    if is_one:
        return column == bindparam(column.key, type_=column.type)
    return among(column, f"{column.key}s")


def _sum(values: ColumnElement[int]) -> ColumnElement[int]:
    return cast(func.sum(values), BigInteger)
