"""The statements that read cells, kept when they are built: that takes longer than some take to run."""

from collections.abc import Sequence
from enum import Enum, auto
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Select,
    Table,
    and_,
    bindparam,
    cast,
    func,
    literal,
    null,
    select,
    type_coerce,
    union_all,
)
from sqlalchemy.types import NullType

from storage.metrics.cover import Grain, Layer, make_cover
from storage.metrics.grouping import period_of
from storage.metrics.terms import Term, parts_of
from storage.numbers import numbers_in
from storage.rows import table_of
from storage.tables.metric_cells import PersonCellRow

_persons = table_of(PersonCellRow)
# As the drivers give them: thousands of rows need no copy.
_BYTES = type_coerce(_persons.c.persons, NullType())


class Money(Enum):
    """Which currencies of the cells of money are read."""

    OF_ONE = auto()
    BY_CURRENCY = auto()


@lru_cache(maxsize=128)
def sums_of_cells(
    table: Table,
    terms: tuple[Term, ...],
    edges: tuple[int, ...],
    grains: tuple[Grain, ...],
    *,
    dialect: str,
    money: Money | None,
) -> Select[Any]:
    """Rows of a currency, with `BY_CURRENCY`, of a moment in the period, and of the sums of the terms' parts.

    Takes `workspace_ids`, `share_ids`, of which `NO_SHARE` is one, and with `OF_ONE` a `currency`.
    """
    key = table.c.currency if money is Money.BY_CURRENCY else null()
    columns = [table.c[part.name] for part in parts_of(terms)]
    conditions: list[ColumnElement[bool]] = [
        table.c.workspace_id.in_(bindparam("workspace_ids", expanding=True)),
        table.c.share_id.in_(bindparam("share_ids", expanding=True)),
    ]
    if money is Money.OF_ONE:
        conditions.append(table.c.currency == bindparam("currency"))
    layers: list[Select[Any]] = [
        select(key.label("key"), period_of(table.c.at, edges).label("period"), *columns).where(
            *conditions, _in(table, layer, edges, dialect)
        )
        for layer in make_cover(edges, grains).layers
    ]
    cells = union_all(*layers).subquery()
    keys = [cells.c.key, cells.c.period] if money is Money.BY_CURRENCY else [cells.c.period]
    sums = [cast(func.sum(cells.c[column.name]), BigInteger) for column in columns]
    return select(*keys, *sums).group_by(*keys)


@lru_cache(maxsize=64)
def persons_of_cells(
    edges: tuple[int, ...], grains: tuple[Grain, ...], dialect: str
) -> CompoundSelect[tuple[int, bytes]]:
    """Rows of a moment in the period and of a serialized bitmap. Takes a `workspace_id`."""
    layers = [
        select(_persons.c.at, _BYTES).where(
            _persons.c.workspace_id == bindparam("workspace_id"), _in(_persons, layer, edges, dialect)
        )
        for layer in make_cover(edges, grains).layers
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
