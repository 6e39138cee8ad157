"""Rows of a table in the parameters of one statement, whose text does not depend on how many there are."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    Column,
    Select,
    String,
    Table,
    bindparam,
    column,
    func,
    literal_column,
    select,
    true,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

Rows = Sequence[Mapping[str, Any]]
_ROWS = "all_rows"


def rows_named(dialect: str, table: Table) -> Select[Any]:
    """The rows in these parameters, in their order, with the columns of the table."""
    if dialect == "postgresql":
        # One dimension, as a JSON value may be a list itself.
        arrays = (bindparam(each.name, type_=ARRAY(each.type, dimensions=1)) for each in table.c)
        return select(func.unnest(*arrays).table_valued(*table.c.keys()).render_derived())
    rows = func.json_each(bindparam(_ROWS, type_=_JsonRows(tuple(table.c)))).table_valued(column("value"))
    cells = (
        func.json_extract(rows.c.value, literal_column(f"'$[{place}]'")) for place in range(len(table.c))
    )
    # SQLite takes an ON CONFLICT after FROM for a join's ON, unless there is a WHERE.
    return select(*cells).where(true())


def as_rows(dialect: str, table: Table, rows: Rows) -> dict[str, Any]:
    """The parameters' values: an array for each column on PostgreSQL, JSON on SQLite, which has no arrays."""
    if dialect == "postgresql":
        return {each.name: [row[each.name] for row in rows] for each in table.c}
    return {_ROWS: rows}


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
            convert = each.type._cached_bind_processor(dialect)
            values = [row[each.name] for row in value]
            cells.append(map(convert, values) if convert else values)
        return orjson.dumps(list(zip(*cells, strict=True))).decode()
