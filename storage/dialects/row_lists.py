"""Any number of rows as the parameters of one statement: its text does not depend on how many."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from operator import itemgetter
from types import NoneType
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Column,
    ColumnElement,
    Enum,
    Integer,
    Select,
    String,
    Table,
    Uuid,
    bindparam,
    cast,
    column,
    func,
    literal,
    literal_column,
    select,
    true,
    tuple_,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

from storage.dialects.processors import to_driver

Rows = Sequence[Mapping[str, Any]]
# The values of rows by column, in the same order in each.
Columns = Mapping[str, Sequence[Any]]
_ROWS = "all_rows"
# Equal values of one of these types are the same. Across types they are not: 1 == True.
_PLAIN = (str, int, bool, UUID, datetime, NoneType)


@cache
def names_of(table: Table) -> tuple[str, ...]:
    """The names of a table's columns."""
    return tuple(table.c.keys())


def columns_of(table: Table, rows: Rows) -> Columns:
    """The columns of rows with a value for every column of the table."""
    names = names_of(table)
    return dict(zip(names, zip(*map(itemgetter(*names), rows), strict=True), strict=True))


def parameters(dialect: str, table: Table, columns: Columns) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The columns that hold different values in these rows, and the values of the parameters.

    PostgreSQL gets a list for each of these columns, and the value of the others once: encoding lists is most
    of an insert's time in its driver. SQLite gets the rows as JSON, with all columns.
    """
    names = names_of(table)
    if dialect != "postgresql":
        return names, {_ROWS: columns}
    # One at least: its list tells how many rows there are. A cluster looks for one value of the workspace.
    varying = tuple(name for name in names if not is_constant(columns[name])) or names[-1:]
    return varying, {name: cells if name in varying else cells[0] for name, cells in columns.items()}


def is_constant(values: Sequence[Any]) -> bool:
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
        arrays = [_array(prefix + name, columns[name].type) for name in some]
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


def _array(name: str, item: TypeEngine[Any]) -> ColumnElement[Any]:
    """The place of a list on PostgreSQL.

    Most go as one text: of each element of an array, the driver asks four abstract classes whether it is a
    list itself, which takes longer than all else.
    """
    stored = item.impl_instance if isinstance(item, TypeDecorator) else item
    for kind in (Uuid, BigInteger, Integer, String):
        if isinstance(stored, kind) and not isinstance(stored, Enum):
            return cast(bindparam(name, type_=_ArrayText(item, is_quoted=kind is String)), ARRAY(kind()))
    # One dimension, as a JSON value may be a list itself.
    return bindparam(name, type_=ARRAY(item, dimensions=1))


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
    """Columns as a JSON array of rows; texts must not contain NUL. Raises `TypeError` for bytes."""

    impl = String
    cache_ok = True

    def __init__(self, columns: tuple[Column[Any], ...]) -> None:
        super().__init__()
        self.columns = columns

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        cells = []
        for each in self.columns:
            convert = to_driver(each.type, dialect)
            cells.append(map(convert, value[each.name]) if convert else value[each.name])
        return orjson.dumps(list(zip(*cells, strict=True))).decode()


class _ArrayText(TypeDecorator[Any]):
    """A list of values of one type, each of which may be None, as PostgreSQL writes an array."""

    impl = String
    cache_ok = True

    def __init__(self, item: TypeEngine[Any], *, is_quoted: bool) -> None:
        super().__init__()
        self.item = item
        self.is_quoted = is_quoted

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        convert = to_driver(self.item, dialect)
        values = map(convert, value) if convert else value
        texts = map(_quoted, values) if self.is_quoted else map(_unquoted, values)
        return "{" + ",".join(texts) + "}"


def _quoted(text: str | None) -> str:
    if text is None:
        return "NULL"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquoted(value: UUID | int | None) -> str:
    return "NULL" if value is None else str(value)
