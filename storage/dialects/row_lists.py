"""Any number of rows as the parameters of one statement: its text does not depend on how many."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from types import NoneType
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Select,
    String,
    Table,
    bindparam,
    column,
    func,
    literal,
    literal_column,
    select,
    true,
    tuple_,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from storage.dialects.processors import to_driver

Rows = Sequence[Mapping[str, Any]]
_ROWS = "all_rows"
# Equal values of one of these types are the same. Across types they are not: 1 == True.
_PLAIN = (str, int, bool, UUID, datetime, NoneType)


def varying(dialect: str, table: Table, rows: Rows) -> tuple[str, ...]:
    """The columns that hold different values in these rows; on SQLite, all columns.

    PostgreSQL gets the value of the others once: encoding arrays is most of an insert's time in its driver.
    """
    names = tuple(table.c.keys())
    if dialect != "postgresql":
        return names
    # One at least: its array tells how many rows there are. A cluster looks for one value of the workspace.
    return tuple(name for name in names if not is_constant([row[name] for row in rows])) or names[-1:]


def is_constant(values: list[Any]) -> bool:
    """Whether one value can stand for all of these."""
    first = values[0]
    # Of ids, one look is enough.
    if values[-1] != first or values.count(first) < len(values):
        return False
    if first is None:
        return True
    kinds = set(map(type, values))
    # Two empty objects are the same; others may be equal although their parts differ in type.
    return len(kinds) == 1 and (first == {} or isinstance(first, _PLAIN))


def rows_named(dialect: str, table: Table, varying: Collection[str], prefix: str = "") -> Select[Any]:
    """The rows in these parameters, in their order, with the columns of the table.

    The names of the parameters on PostgreSQL begin with `prefix`.
    """
    if dialect == "postgresql":
        columns = {each.name: each for each in table.c}
        some = [name for name in columns if name in varying]
        # One dimension, as a JSON value may be a list itself.
        arrays = [bindparam(prefix + name, type_=ARRAY(columns[name].type, dimensions=1)) for name in some]
        listed = func.unnest(*arrays).table_valued(*some).render_derived()
        values = (
            listed.c[name] if name in varying else bindparam(prefix + name, type_=each.type)
            for name, each in columns.items()
        )
        return select(*values)
    rows = func.json_each(bindparam(_ROWS, type_=_JsonRows(tuple(table.c)))).table_valued(column("value"))
    cells = (
        func.json_extract(rows.c.value, literal_column(f"'$[{place}]'")) for place in range(len(table.c))
    )
    # SQLite takes an ON CONFLICT after FROM for a join's ON, unless there is a WHERE.
    return select(*cells).where(true())


def as_rows(dialect: str, table: Table, rows: Rows, varying: Collection[str]) -> dict[str, Any]:
    """The values of the parameters: JSON on SQLite; on PostgreSQL, an array for each column that varies."""
    if dialect == "postgresql":
        first = rows[0]
        return {name: [row[name] for row in rows] if name in varying else first[name] for name in first}
    return {_ROWS: rows}


def is_among(
    dialect: str, columns: Sequence[Column[Any]], keys: Sequence[Sequence[Any]]
) -> ColumnElement[bool]:
    """The condition that the columns hold the values of one of the keys.

    PostgreSQL would plan each key of a list of rows as a condition of its own, at 1 ms a key.
    """
    if len(columns) == 1:
        return columns[0].in_([value for (value,) in keys])
    if dialect != "postgresql":
        return tuple_(*columns).in_([tuple(key) for key in keys])
    sides = zip(columns, zip(*keys, strict=True), strict=True)
    arrays = [literal(list(values), ARRAY(each.type, dimensions=1)) for each, values in sides]
    listed = func.unnest(*arrays).table_valued(*(each.name for each in columns)).render_derived()
    return tuple_(*columns).in_(select(*listed.c))


class _JsonRows(TypeDecorator[Any]):
    """Rows by column as a JSON array of arrays; texts must not contain NUL. Raises `TypeError` for bytes."""

    impl = String
    cache_ok = True

    def __init__(self, columns: tuple[Column[Any], ...]) -> None:
        super().__init__()
        self.columns = columns

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        cells = []
        for each in self.columns:
            convert = to_driver(each.type, dialect)
            values = [row[each.name] for row in value]
            cells.append(map(convert, values) if convert else values)
        return orjson.dumps(list(zip(*cells, strict=True))).decode()
