"""Counting changed rows: gathered while a transaction runs, and written at its end, in the transaction."""

from collections.abc import Sequence
from functools import cache
from typing import Any
from uuid import uuid4

from sqlalchemy import ARRAY, Insert, Uuid, bindparam, cast, column, func, insert, select
from sqlalchemy.dialects import sqlite
from sqlmodel import SQLModel

from storage.before_commit import work_of
from storage.connections import Connection, SqliteThread
from storage.dialects.upsert import Upsert, upsert
from storage.kept import Kept
from storage.tables.base import Values
from storage.totals.tallies import TALLIES, Key, Tally, Totals


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
        self._totals: dict[Tally, dict[Key, Totals]] = {tally: {} for tally in TALLIES}

    def add(self, dialect: str, model: type[SQLModel], rows: Sequence[Values], by: int) -> None:
        for tally, totals in self._totals.items():
            combinations = tuple(tally.combinations.values())
            for key, added in tally.tell(dialect, model, rows, by):
                gathered = totals.get(key)
                if gathered is None:
                    totals[key] = added
                else:
                    pairs = zip(combinations, gathered, added, strict=True)
                    totals[key] = tuple(combination.of_two(*values) for combination, *values in pairs)

    async def finish(self, connection: Connection) -> None:
        """Add to the totals on SQLite, which has one writer; elsewhere append deltas, which lock nothing."""
        rows = {
            tally: [(*key, *values) for key, values in totals.items() if values[0]]
            for tally, totals in self._totals.items()
        }
        if isinstance(connection, SqliteThread):
            for tally, added in rows.items():
                if added:
                    _add(connection, tally, added)
            return
        for workspace_id in sorted({row[0] for added in rows.values() for row in added}):
            own = {tally: [row[1:] for row in rows[tally] if row[0] == workspace_id] for tally in rows}
            tallies = tuple(tally for tally in own if own[tally])
            values: Values = {"home": workspace_id}
            for tally in tallies:
                values |= _arrays(tally, own[tally])
            await connection.fetch(_into_deltas(tallies), values)


def _columns(tally: Tally) -> list[str]:
    return [*tally.keys, *tally.combinations]


@cache
def _into_deltas(tallies: tuple[Tally, ...]) -> Kept:
    """One statement for all deltas of a workspace, which come as an array for each column."""
    first, *others = tallies
    statement = _into(first)
    for tally in others:
        statement = statement.add_cte(_into(tally).cte(f"into_{tally.deltas.name}"))
    return Kept(statement)


def _into(tally: Tally) -> Insert:
    deltas, names = tally.deltas, _columns(tally)
    types = {name: ARRAY(deltas.c[name].type) for name in names}
    arrays = [cast(bindparam(_parameter(tally, name), type_=type), type) for name, type in types.items()]
    rows = func.unnest(*arrays).table_valued(*(column(name) for name in names)).render_derived()
    same = bindparam("home", type_=Uuid()), bindparam(_parameter(tally, "id"), type_=Uuid())
    return insert(deltas).from_select(
        ["workspace_id", "id", *names], select(*same, *(rows.c[name] for name in names))
    )


def _arrays(tally: Tally, rows: Sequence[tuple[Any, ...]]) -> Values:
    parameters = [_parameter(tally, name) for name in _columns(tally)]
    arrays = map(list, zip(*rows, strict=True))
    return {_parameter(tally, "id"): uuid4(), **dict(zip(parameters, arrays, strict=True))}


def _parameter(tally: Tally, name: str) -> str:
    return f"{tally.deltas.name}_{name}"


def adding(dialect: str, tally: Tally) -> Upsert:
    """An INSERT into the totals that combines each row with the one that is there."""
    totals, statement = tally.totals, upsert(dialect, tally.totals)
    combined = {
        name: combination.of_columns(dialect, totals.c[name], statement.excluded[name])
        for name, combination in tally.combinations.items()
    }
    return statement.on_conflict_do_update(index_elements=list(totals.primary_key.columns), set_=combined)


@cache
def _adding_on_sqlite(tally: Tally) -> tuple[str, list[Any]]:
    """The statement in SQLite's own SQL, and for each of its parameters what converts a value, or None."""
    names = ["workspace_id", *_columns(tally)]
    statement = adding("sqlite", tally).values({name: bindparam(name) for name in names})
    dialect = sqlite.dialect()
    compiled: Any = statement.compile(dialect=dialect)
    convert = {
        name: tally.totals.c[name].type.dialect_impl(dialect).bind_processor(dialect) for name in names
    }
    return str(compiled), [(names.index(name), convert[name]) for name in compiled.positiontup]


def _add(connection: SqliteThread, tally: Tally, rows: Sequence[tuple[Any, ...]]) -> None:
    statement, places = _adding_on_sqlite(tally)
    converted = [[convert(row[at]) if convert else row[at] for at, convert in places] for row in rows]
    connection.put_off(statement, converted)
