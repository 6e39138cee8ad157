"""Inserting rows by kept statements: one for a single row of a table, and one for any number of rows."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from sqlalchemy import Insert, Select, Table, bindparam, func, insert, select
from sqlalchemy.engine import Dialect

from storage.dialects.row_lists import Columns, columns_of, parameters, rows_named
from storage.dialects.upsert import Upsert, upsert
from storage.engine.connections import Connection, SqliteThread
from storage.engine.statements.kept import Kept
from storage.tables.base import Values

# The columns that vary among many rows; None for a single row.
Varying: TypeAlias = tuple[str, ...] | None

# In the `info` of a column: `insert_into_each` writes the database's moment there, in place of the process's.
# Rows of several processes are then in the order of their statements.
CLOCK = "clock"

# A statement takes some 6 KB.
MOST_STATEMENTS = 1000


async def insert_all(connection: Connection, table: Table, rows: Sequence[Values]) -> None:
    """Insert rows with a value for every column, in one statement. Raises `IntegrityError`."""
    columns, values = _parameters(connection, table, rows)
    await connection.fetch(_into(connection.dialect, table, columns), values)


async def insert_new(connection: Connection, table: Table, rows: Sequence[Values]) -> set[Any]:
    """Like `insert_all`, but skips rows that a unique key refuses; returns the ids of the others."""
    columns, values = _parameters(connection, table, rows)
    kept = _into_if_new(connection.dialect, table, columns)
    return {id for (id,) in await connection.rows(kept, values)}


async def insert_twice(connection: Connection, table: Table, copies: Table, rows: Columns) -> None:
    """Like `insert_all`, and inserts the columns of `copies` into that table too, in one statement.

    PostgreSQL only: SQLite does not insert in a common table expression.
    """
    varying, values = _values_of(connection.dialect.name, table, rows)
    await connection.fetch(_into_both(connection.dialect, table, copies, varying), values)


async def insert_into_each(connection: Connection, rows: Mapping[Table, Columns]) -> None:
    """Like `insert_all` for several tables, in one statement. PostgreSQL only, like `insert_twice`.

    Columns that are the same object for several tables are sent once; the columns of these tables must agree.
    """
    dialect = connection.dialect
    each: list[tuple[Table, str, Varying]] = []
    values: Values = {}
    sent: dict[int, tuple[str, Varying]] = {}
    for table, columns in rows.items():
        if id(columns) not in sent:
            prefix = f"{table.name}_"
            varying, own = _values_of(dialect.name, table, columns)
            values.update(zip(_prefixed(prefix, tuple(own)), own.values(), strict=True))
            sent[id(columns)] = prefix, varying
        prefix, varying = sent[id(columns)]
        each.append((table, prefix, _sent(table, varying)))
    await connection.fetch(_into_each(dialect, tuple(each)), values)


def insert_late(connection: SqliteThread, table: Table, rows: Sequence[Values]) -> None:
    """Insert rows, which no key may refuse, together with the next statement or the COMMIT."""
    written = _into(connection.dialect, table, None).on(connection.dialect)
    connection.put_off(written.text, [written.arguments(row) for row in rows])


@lru_cache(maxsize=MOST_STATEMENTS)
def _into(dialect: Dialect, table: Table, columns: Varying) -> Kept:
    return Kept(_insert(dialect.name, table, columns), dialect)


@lru_cache(maxsize=MOST_STATEMENTS)
def _into_if_new(dialect: Dialect, table: Table, columns: Varying) -> Kept:
    statement = _insert(dialect.name, table, columns)
    return Kept(statement.on_conflict_do_nothing().returning(table.c.id), dialect)


@lru_cache(maxsize=MOST_STATEMENTS)
def _into_both(dialect: Dialect, table: Table, copies: Table, columns: Varying) -> Kept:
    names = copies.c.keys()
    inserted = _insert(dialect.name, table, columns).returning(*(table.c[name] for name in names)).cte()
    return Kept(insert(copies).from_select(names, select(*(inserted.c[name] for name in names))), dialect)


@lru_cache(maxsize=MOST_STATEMENTS)
def _into_each(dialect: Dialect, each: tuple[tuple[Table, str, Varying], ...]) -> Kept:
    first, *others = (_insert_named(dialect.name, table, prefix, columns) for table, prefix, columns in each)
    for statement in others:
        first = first.add_cte(statement.cte(f"into_{statement.table.name}"))
    return Kept(first, dialect)


@lru_cache(maxsize=MOST_STATEMENTS)
def _prefixed(prefix: str, names: tuple[str, ...]) -> list[str]:
    return [prefix + name for name in names]


def _insert_named(dialect: str, table: Table, prefix: str, columns: Varying) -> Insert:
    """An insert in which each parameter is named `prefix` and its column."""
    if columns is None:
        return insert(table).values(
            {
                each.name: func.statement_timestamp()
                if CLOCK in each.info
                else bindparam(prefix + each.name, type_=each.type)
                for each in table.c
            }
        )
    rows = rows_named(dialect, table, columns, prefix)
    return insert(table).from_select(table.c.keys(), _timed(table, rows))


def _sent(table: Table, names: Varying) -> Varying:
    """Those of the columns that the database does not fill itself."""
    return names and tuple(name for name in names if CLOCK not in table.c[name].info)


def _timed(table: Table, rows: Select[Any]) -> Select[Any]:
    """The rows with the database's own moment in the columns that ask for it."""
    if not any(CLOCK in each.info for each in table.c):
        return rows
    cells = zip(table.c, rows.selected_columns, strict=True)
    return rows.with_only_columns(
        *(
            func.statement_timestamp().label(each.name) if CLOCK in each.info else cell
            for each, cell in cells
        ),
        maintain_column_froms=True,
    )


def _insert(dialect: str, table: Table, columns: Varying) -> Upsert:
    if columns is not None:
        return upsert(dialect, table).from_select(table.c.keys(), rows_named(dialect, table, columns))
    return upsert(dialect, table).values(
        {each.name: bindparam(each.name, type_=each.type) for each in table.c}
    )


def _parameters(connection: Connection, table: Table, rows: Sequence[Values]) -> tuple[Varying, Values]:
    if len(rows) == 1:
        return None, rows[0]
    return parameters(connection.dialect.name, table, columns_of(table, rows))


def _values_of(dialect: str, table: Table, columns: Columns) -> tuple[Varying, Values]:
    if len(next(iter(columns.values()))) == 1:
        return None, dict(zip(columns, next(zip(*columns.values(), strict=True)), strict=True))
    return parameters(dialect, table, columns)
