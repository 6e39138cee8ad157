"""Writing many rows of which some may be there already, by kept statements."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Table, bindparam

from storage.dialects.row_lists import rows_named
from storage.dialects.upsert import Upsert, upsert
from storage.engine.connections import Connection, SqliteThread
from storage.engine.statements.kept import Kept

# What a column becomes: from itself and the new value, which have the same name.
Combine = Callable[[ColumnElement[Any], ColumnElement[Any]], ColumnElement[Any]]


def add(there: ColumnElement[Any], new: ColumnElement[Any]) -> ColumnElement[Any]:
    return there + new


def replace(_: ColumnElement[Any], new: ColumnElement[Any]) -> ColumnElement[Any]:
    return new


async def upsert_all(
    connection: Connection, table: Table, rows: Sequence[Sequence[Any]], combine: Combine
) -> None:
    """Insert rows, with a value for each column of the table, or combine them with those of the same key.

    On SQLite they travel with the next statement or the COMMIT. No two rows may have the same key.
    """
    if not rows:
        return
    if isinstance(connection, SqliteThread):
        one = _one(table, combine).on(connection.dialect)
        connection.put_off(one.text, one.arguments_of_rows(rows))
    else:
        columns = zip(table.c.keys(), map(list, zip(*rows, strict=True)), strict=True)
        await connection.fetch(_all(table, combine), dict(columns))


@lru_cache
def _one(table: Table, combine: Combine) -> Kept:
    """For SQLite, where many rows in one parameter, as JSON, take three times as long."""
    places = {column.name: bindparam(column.name, type_=column.type) for column in table.c}
    return Kept(_combining(upsert("sqlite", table).values(places), table, combine))


@lru_cache
def _all(table: Table, combine: Combine) -> Kept:
    names = table.c.keys()
    rows = rows_named("postgresql", table, names)
    return Kept(_combining(upsert("postgresql", table).from_select(names, rows), table, combine))


def _combining(statement: Upsert, table: Table, combine: Combine) -> Upsert:
    combined = {
        column.name: combine(column, statement.excluded[column.name])
        for column in table.c
        if not column.primary_key
    }
    return statement.on_conflict_do_update(index_elements=list(table.primary_key.columns), set_=combined)
