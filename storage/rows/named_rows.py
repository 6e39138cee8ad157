"""The rows that have certain values in some columns, read by kept statements."""

from functools import cache
from typing import Any

from sqlalchemy import bindparam, select
from sqlmodel import SQLModel

from storage.dialects.matching import among
from storage.engine.connections import Connection
from storage.engine.statements.kept import Kept
from storage.rows.rows import Model, read, table_of


async def rows_with(connection: Connection, model: type[Model], **values: Any) -> list[Model]:
    """All rows with these values, in any order; instead of a list, a row has one of its values."""
    lists = frozenset(name for name, value in values.items() if isinstance(value, list))
    rows = await connection.rows(_with(model, tuple(values), lists), values)
    return [read(model, row) for row in rows]


@cache
def _with(model: type[SQLModel], names: tuple[str, ...], lists: frozenset[str]) -> Kept:
    columns = table_of(model).c
    same = [
        among(columns[name], name)
        if name in lists
        else columns[name] == bindparam(name, type_=columns[name].type)
        for name in names
    ]
    return Kept(select(table_of(model)).where(*same))
