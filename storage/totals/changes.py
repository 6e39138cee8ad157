"""Counting changed rows: gathered while a transaction runs, and written at its end, in the transaction."""

from collections.abc import Sequence
from functools import cache
from typing import Any
from uuid import uuid4

from sqlalchemy import ARRAY, Insert, Uuid, bindparam, cast, column, func, insert, select
from sqlmodel import SQLModel

from storage.before_commit import work_of
from storage.connections import Connection, SqliteThread
from storage.dialects.upsert import Upsert, upsert
from storage.kept import Kept
from storage.tables.base import Values
from storage.totals.tallies import ALL_DELTAS, TALLIES, Deltas, Key, Tally, Totals


def count(connection: Connection, model: type[SQLModel], rows: Sequence[Values], by: int = 1) -> None:
    """Count rows, by column, that the transaction inserts; with `by` -1, those that it deletes.

    Deleted rows that are kept, with `deleted_at`, do not count.
    """
    if getattr(model, "counted", ()):
        present = [row for row in rows if row.get("deleted_at") is None]
        work_of(connection, Changes).add(connection.dialect.name, model, present, by)


def counted_columns(model: type[SQLModel]) -> frozenset[str]:
    """The columns whose values decide in which totals a row is counted; empty if its table has none."""
    groups = getattr(model, "counted", ())
    return frozenset({name for group in groups for name in group} | {"deleted_at"} if groups else ())


class Changes:
    """What one transaction changes about the totals."""

    def __init__(self) -> None:
        self._changes: dict[Deltas, dict[Key, Totals]] = {deltas: {} for deltas in ALL_DELTAS}

    def add(self, dialect: str, model: type[SQLModel], rows: Sequence[Values], by: int) -> None:
        for deltas, changes in self._changes.items():
            combinations = tuple(deltas.combinations.values())
            for key, added in deltas.tell(dialect, model, rows, by):
                gathered = changes.get(key)
                if gathered is None:
                    changes[key] = added
                else:
                    pairs = zip(combinations, gathered, added, strict=True)
                    changes[key] = tuple(combination.of_two(*values) for combination, *values in pairs)

    async def finish(self, connection: Connection) -> None:
        """Add to the totals on SQLite, which has one writer; elsewhere append deltas, which lock nothing."""
        rows = {
            deltas: [(*key, *values) for key, values in changes.items() if values[0]]
            for deltas, changes in self._changes.items()
        }
        if isinstance(connection, SqliteThread):
            for tally in TALLIES:
                if rows[tally.deltas]:
                    _add(connection, tally, rows[tally.deltas])
            return
        for workspace_id in sorted({row[0] for changed in rows.values() for row in changed}):
            own = {deltas: [row[1:] for row in rows[deltas] if row[0] == workspace_id] for deltas in rows}
            changed = tuple(deltas for deltas in own if own[deltas])
            values: Values = {"home": workspace_id}
            for deltas in changed:
                values |= _arrays(deltas, own[deltas])
            await connection.fetch(_into_deltas(changed), values)


@cache
def _into_deltas(changed: tuple[Deltas, ...]) -> Kept:
    """One statement for all deltas of a workspace, which come as an array for each column."""
    first, *others = changed
    statement = _into(first)
    for deltas in others:
        statement = statement.add_cte(_into(deltas).cte(f"into_{deltas.table.name}"))
    return Kept(statement)


def _into(deltas: Deltas) -> Insert:
    names, table = deltas.columns, deltas.table
    types = {name: ARRAY(table.c[name].type) for name in names}
    arrays = [cast(bindparam(_parameter(deltas, name), type_=type), type) for name, type in types.items()]
    rows = func.unnest(*arrays).table_valued(*(column(name) for name in names)).render_derived()
    same = bindparam("home", type_=Uuid()), bindparam(_parameter(deltas, "id"), type_=Uuid())
    return insert(table).from_select(
        ["workspace_id", "id", *names], select(*same, *(rows.c[name] for name in names))
    )


def _arrays(deltas: Deltas, rows: Sequence[tuple[Any, ...]]) -> Values:
    parameters = [_parameter(deltas, name) for name in deltas.columns]
    arrays = map(list, zip(*rows, strict=True))
    return {_parameter(deltas, "id"): uuid4(), **dict(zip(parameters, arrays, strict=True))}


def _parameter(deltas: Deltas, name: str) -> str:
    return f"{deltas.table.name}_{name}"


def adding(dialect: str, tally: Tally) -> Upsert:
    """An INSERT into the totals that combines each row with the one that is there."""
    totals, statement = tally.totals, upsert(dialect, tally.totals)
    combined = {
        name: combination.of_columns(totals.c[name], statement.excluded[name])
        for name, combination in tally.combinations.items()
    }
    return statement.on_conflict_do_update(index_elements=list(totals.primary_key.columns), set_=combined)


@cache
def _adding_on_sqlite(tally: Tally) -> Kept:
    columns = (tally.totals.c[name] for name in tally.columns)
    places = {column.name: bindparam(column.name, type_=column.type) for column in columns}
    return Kept(adding("sqlite", tally).values(places))


def _add(connection: SqliteThread, tally: Tally, rows: Sequence[tuple[Any, ...]]) -> None:
    names = ("workspace_id", *tally.deltas.columns)
    deltas = [dict(zip(names, row, strict=True)) for row in rows]
    written = _adding_on_sqlite(tally).on(connection.dialect)
    connection.put_off(written.text, [written.arguments(each) for each in tally.spread_values(deltas)])
