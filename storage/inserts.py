"""Inserting rows by kept statements: one for a single row of a table, and one for any number of rows."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Table, bindparam

from storage.connections import Connection
from storage.dialects.row_lists import as_rows, rows_named
from storage.dialects.upsert import Upsert, upsert
from storage.kept import Kept
from storage.tables.base import Values


async def insert_all(connection: Connection, table: Table, rows: Sequence[Values]) -> None:
    """Insert rows with a value for every column, in one statement. Raises `IntegrityError`."""
    dialect = connection.dialect.name
    await connection.fetch(_into(dialect, table, len(rows) > 1), _values(dialect, table, rows))


async def insert_new(connection: Connection, table: Table, rows: Sequence[Values]) -> set[Any]:
    """The same for the rows that no unique key refuses, whose ids are returned."""
    dialect = connection.dialect
    kept = _into_if_new(dialect.name, table, len(rows) > 1)
    inserted = await connection.fetch(kept, _values(dialect.name, table, rows))
    return {id for (id,) in kept.on(dialect).converted(inserted)}


@cache
def _into(dialect: str, table: Table, many: bool) -> Kept:
    return Kept(_insert(dialect, table, many))


@cache
def _into_if_new(dialect: str, table: Table, many: bool) -> Kept:
    return Kept(_insert(dialect, table, many).on_conflict_do_nothing().returning(table.c.id))


def _insert(dialect: str, table: Table, many: bool) -> Upsert:
    if many:
        return upsert(dialect, table).from_select(table.c.keys(), rows_named(dialect, table))
    return upsert(dialect, table).values(
        {each.name: bindparam(each.name, type_=each.type) for each in table.c}
    )


def _values(dialect: str, table: Table, rows: Sequence[Values]) -> Values:
    return as_rows(dialect, table, rows) if len(rows) > 1 else rows[0]
