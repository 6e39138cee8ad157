"""Counting changed rows: gathered while a transaction runs, and written at its end, in the transaction."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Insert,
    TableValuedAlias,
    Uuid,
    bindparam,
    cast,
    column,
    func,
    insert,
    select,
)
from sqlalchemy.engine import Dialect
from sqlmodel import SQLModel

from storage.dialects.row_lists import is_constant
from storage.dialects.upsert import Upsert, upsert
from storage.engine.before_commit import note_deltas, work_of
from storage.engine.connections import Connection, SqliteThread
from storage.engine.kept_statements import Kept
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
            added = [_Added(deltas, changed) for deltas, changed in own.items() if changed]
            values: Values = {"home": workspace_id}
            for each in added:
                values |= each.values
            statement = _into_deltas(connection.dialect, tuple((each.deltas, each.varying) for each in added))
            await connection.fetch(statement, values)
            note_deltas(connection, (workspace_id,))


class _Added:
    """New deltas of one workspace: an array for each of the `varying` columns, and one value for the others.

    The first column always counts as varying, so that there is an array with as many values as rows.
    """

    def __init__(self, deltas: Deltas, rows: Sequence[tuple[Any, ...]]) -> None:
        self.deltas = deltas
        columns = dict(zip(deltas.columns, map(list, zip(*rows, strict=True)), strict=True))
        first, *others = columns
        self.varying = (first, *(name for name in others if not is_constant(columns[name])))
        self.values: Values = {_parameter(deltas, "id"): uuid4()}
        for name, values in columns.items():
            self.values[_parameter(deltas, name)] = values if name in self.varying else values[0]


@lru_cache(maxsize=256)
def _into_deltas(dialect: Dialect, added: tuple[tuple[Deltas, tuple[str, ...]], ...]) -> Kept:
    """One statement for all new deltas of a workspace."""
    first, *others = added
    statement = _into(*first)
    for deltas, varying in others:
        statement = statement.add_cte(_into(deltas, varying).cte(f"into_{deltas.table.name}"))
    return Kept(statement, dialect)


def _into(deltas: Deltas, varying: Sequence[str]) -> Insert:
    table, rows = deltas.table, _unnested(deltas, varying)

    def place(name: str) -> ColumnElement[Any]:
        type = table.c[name].type
        return cast(bindparam(_parameter(deltas, name), type_=type), type)

    same = bindparam("home", type_=Uuid()), bindparam(_parameter(deltas, "id"), type_=Uuid())
    cells = (rows.c[name] if name in varying else place(name) for name in deltas.columns)
    return insert(table).from_select(["workspace_id", "id", *deltas.columns], select(*same, *cells))


def _unnested(deltas: Deltas, varying: Sequence[str]) -> TableValuedAlias:
    types = {name: ARRAY(deltas.table.c[name].type) for name in varying}
    arrays = [cast(bindparam(_parameter(deltas, name), type_=type), type) for name, type in types.items()]
    return func.unnest(*arrays).table_valued(*map(column, varying)).render_derived()


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
