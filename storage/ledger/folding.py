"""Folding a ledger: moves deltas of a workspace into the books."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Column, Table, Uuid, bindparam, delete, func, select, tuple_

from storage.engine.connections import Connection, SqliteThread
from storage.engine.statements.kept import Kept
from storage.ledger.books import TIMES, Ledger
from storage.tables.base import Values

# Between so many of them, other work of the process has its turn.
ROWS_AT_A_TIME = 1_000


class Folded(NamedTuple):
    """How many deltas were moved, and the rows that they were combined to before."""

    deltas: int
    rows: int


async def fold(connection: Connection, ledger: Ledger, workspace_id: UUID, most: int) -> Folded:
    """Move up to `most` deltas of a workspace, which is locked, into the books.

    Without the lock, two folds could update the same rows in different orders, and wait for each other.
    """
    is_sqlite = isinstance(connection, SqliteThread)
    if is_sqlite and ledger.at_once:
        return Folded(0, 0)
    some = _first(ledger.deltas) if is_sqlite else _taken(ledger)
    rows = await connection.fetch(some, {"home": workspace_id, "most": most})
    if rows and isinstance(connection, SqliteThread):
        deleting = _without_first(ledger.deltas).on(connection.dialect)
        values = {"home": workspace_id, "before": len(rows) - 1}
        connection.put_off(deleting.text, [deleting.arguments(values)])
    # PostgreSQL's end with how many they were.
    names = [*(column.name for column in _columns(ledger.deltas)), TIMES]
    read = some.on(connection.dialect)
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        deltas: Sequence[Values] = [
            dict(zip(names, row, strict=False), workspace_id=workspace_id)
            for row in read.converted(rows[start : start + ROWS_AT_A_TIME])
        ]
        await add_to_books(connection, ledger, workspace_id, deltas)
    return Folded(len(rows) if is_sqlite else sum([row[-1] for row in rows]), len(rows))


async def add_to_books(
    connection: Connection, ledger: Ledger, workspace_id: UUID, deltas: Sequence[Values]
) -> None:
    """Add deltas of a workspace, which is locked, to the books."""
    for book in ledger.books:
        await book.add(connection, workspace_id, deltas)


@cache
def _taken(ledger: Ledger) -> Kept:
    """PostgreSQL deletes some deltas of a workspace and returns them.

    It combines those of a ledger `at_once`, whose books go by the keys of its deltas: many have the same key.
    Of others it returns equal ones once, as the events of a batch often are, with how many times they are to
    be added.
    """
    deltas = ledger.deltas
    key = [column for column in deltas.primary_key.columns if column.name != "workspace_id"]
    home = deltas.c.workspace_id == bindparam("home", type_=Uuid())
    some = select(*key).where(home).limit(bindparam("most"))
    is_one = key[0].in_(some) if len(key) == 1 else tuple_(*key).in_(some)
    taken = delete(deltas).where(home, is_one).returning(*_columns(deltas))
    rows = taken.cte("taken").c
    values = ledger.values if ledger.at_once else ()
    combined = {name: ledger.combination(name).of_rows(rows[name]) for name in values}
    columns = [combined.get(name, column) for name, column in rows.items()]
    by = [column for name, column in rows.items() if name not in combined]
    return Kept(select(*columns, func.count()).group_by(*by))


@cache
def _first(deltas: Table) -> Kept:
    """SQLite, which has one writer, reads them, and deletes as many together with a later statement.

    RETURNING takes twice as long.
    """
    home = deltas.c.workspace_id == bindparam("home", type_=Uuid())
    return Kept(select(*_columns(deltas)).where(home).order_by(deltas.c.id).limit(bindparam("most")))


@cache
def _without_first(deltas: Table) -> Kept:
    home = deltas.c.workspace_id == bindparam("home", type_=Uuid())
    last = select(deltas.c.id).where(home).order_by(deltas.c.id).limit(1).offset(bindparam("before"))
    return Kept(delete(deltas).where(home, deltas.c.id <= last.scalar_subquery()))


def _columns(deltas: Table) -> list[Column[object]]:
    """What is read of a delta."""
    return [column for column in deltas.c if column.name not in ("workspace_id", "id")]
