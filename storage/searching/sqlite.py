"""SQLite's index of trigrams: an `fts5` table for each searched table, which triggers keep.

Its rows are numbered by the first 64 bits of the id of the row they stand for: a number of SQLite's own may
change. It has no texts and no positions, so whoever reads it compares the rows that it finds. Each change of
such a table takes as long as ten rows, so new rows wait in a small table, which is read together with it.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, column, func, literal_column, select, table

from storage.dialects.parts import HasTrigrams
from storage.engine.connections import Connection
from storage.searching.texts import SEARCHED, SHORTEST, Searched

# How many rows wait for the index before they are added together.
MOST_WAITING = 200
# Trigrams of a part that are looked for: few rows that have all of these lack the others.
MOST_TRIGRAMS = 32
# The part of an id, in digits, that a number of the index stands for.
PREFIX = 16

_MADE = "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'ix/_%/_search/_%' ESCAPE '/'"
_OPTIONS = "tokenize='trigram', content='', columnsize=0, detail=none"
_DIGITS = "0123456789abcdef"
_BITS = 64
_BITS_OF_A_DIGIT = 4


@cache
def has_indexes(path: str) -> bool:
    """Whether this process can search in the indexes of the file, asked once."""
    if not has_trigrams():
        return False
    with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as connection:
        return bool(connection.execute(_MADE).fetchall())


def trigrams(part: str) -> str:
    """The query of `fts5` for texts with all trigrams of a part: those that contain it, and some others."""
    starts = range(min(len(part) - SHORTEST + 1, MOST_TRIGRAMS))
    quoted = (part[start : start + SHORTEST].replace('"', '""') for start in starts)
    return "(" + " AND ".join(f'"{trigram}"' for trigram in quoted) + ")"


def candidates(
    searched: Table, has_part: Callable[[Any], ColumnElement[bool]], place: Any, most: int
) -> list[Select[str]]:
    """The prefixes of the ids of rows that have the trigrams in a place, at most so many of the index.

    Among them is every row for which `has_part`, of a table's columns, holds; what waits is asked by it.
    """
    (own,) = (each for each in SEARCHED if each.table is searched)
    index = table(own.index, column("rowid"), column(own.index))
    waiting = table(own.waiting, column("number"), *map(column, own.texts))
    found = (
        select(index.c.rowid).where(HasTrigrams(index.c[own.index], place)).limit(literal_column(str(most)))
    )
    numbers = found.subquery("indexed").c.rowid, waiting.c.number
    indexed, unindexed = (
        select(func.printf(literal_column("'%016x'"), each).label("prefix")) for each in numbers
    )
    return [indexed, unindexed.where(has_part(waiting.c))]


@cache
def has_trigrams() -> bool:
    """Whether this process's SQLite has `fts5` with its tokenizer of trigrams."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(f"CREATE VIRTUAL TABLE probe USING fts5(text, {_OPTIONS})")
        except sqlite3.OperationalError:
            return False
    return True


def own_triggers() -> frozenset[str]:
    """The definitions of the triggers that keep the indexes."""
    return frozenset(
        f"CREATE TRIGGER {name} {rest}" for searched in SEARCHED for name, rest in _triggers(searched)
    )


async def is_made(connection: Connection) -> bool:
    """Whether the indexes are as they have to be; without `fts5`, whether there are none."""
    made = frozenset((await connection.exec_driver_sql(_MADE)).scalars())
    return made == (own_triggers() if has_trigrams() else frozenset())


async def make(connection: Connection) -> None:
    """Make the indexes again from the rows, in a transaction.

    Without `fts5` their triggers go, which would make each change of a row fail.
    """
    names = f"SELECT name FROM ({_MADE.replace('SELECT sql', 'SELECT name', 1)})"  # noqa: S608
    for name in (await connection.exec_driver_sql(names)).scalars().all():
        await connection.exec_driver_sql(f"DROP TRIGGER {name}")
    if has_trigrams():
        for searched in SEARCHED:
            for statement in _statements(searched):
                await connection.exec_driver_sql(statement)


def _statements(searched: Searched) -> Iterator[str]:
    texts = ", ".join(searched.texts)
    yield f"DROP TABLE IF EXISTS {searched.index}"
    yield f"DROP TABLE IF EXISTS {searched.waiting}"
    yield f"CREATE VIRTUAL TABLE {searched.index} USING fts5({texts}, {_OPTIONS})"
    yield f"CREATE TABLE {searched.waiting} (number INTEGER NOT NULL, {texts})"
    # In the order of the numbers: `fts5` would begin a part of its own at each number that is lower.
    kept = "WHERE deleted_at IS NULL" if searched.is_deleted_softly else ""
    yield (
        f"INSERT INTO {searched.index} (rowid, {texts}) SELECT {_number('id')}, {texts} "  # noqa: S608
        f"FROM {searched.table.name} {kept} ORDER BY id >= '8' DESC, id"
    )
    for name, rest in _triggers(searched):
        yield f"CREATE TRIGGER {name} {rest}"


def _triggers(searched: Searched) -> Iterator[tuple[str, str]]:
    """The name of each trigger, and the rest of its definition."""
    table, index, waiting = searched.table.name, searched.index, searched.waiting
    is_kept = "{}.deleted_at IS NULL" if searched.is_deleted_softly else "TRUE"
    columns = ", ".join(searched.texts)
    old, new = (", ".join(f"{row}.{text}" for text in searched.texts) for row in ("OLD", "NEW"))
    number = _number("OLD.id")
    leave = (
        f"INSERT INTO {index} ({index}, rowid, {columns}) SELECT 'delete', {number}, {old} "  # noqa: S608
        f"WHERE {is_kept.format('OLD')} AND NOT EXISTS "
        f"(SELECT 1 FROM {waiting} WHERE number = {number}); "
        f"DELETE FROM {waiting} WHERE number = {number};"
    )
    enter = (
        f"INSERT INTO {waiting} (number, {columns}) SELECT {_number('NEW.id')}, {new} "
        f"WHERE {is_kept.format('NEW')};"
    )
    watched = [*searched.texts, *(["deleted_at"] if searched.is_deleted_softly else [])]
    changed = " OR ".join(f"OLD.{name} IS NOT NEW.{name}" for name in watched)
    yield f"{index}_insert", f"AFTER INSERT ON {table} BEGIN {enter} END"
    yield (
        f"{index}_update",
        f"AFTER UPDATE OF {', '.join(watched)} ON {table} WHEN {changed} BEGIN {leave} {enter} END",
    )
    yield f"{index}_delete", f"AFTER DELETE ON {table} BEGIN {leave} END"
    yield (
        f"{index}_fold",
        f"AFTER INSERT ON {waiting} WHEN (SELECT count(*) FROM {waiting}) >= {MOST_WAITING} "  # noqa: S608
        f"BEGIN INSERT INTO {index} (rowid, {columns}) SELECT number, {columns} FROM {waiting} "
        f"ORDER BY number; DELETE FROM {waiting}; END",
    )


def _number(id: str) -> str:
    """The first 64 bits of an id, which is 32 digits, as SQLite's signed number."""
    bits = range(_BITS - _BITS_OF_A_DIGIT, -1, -_BITS_OF_A_DIGIT)
    digits = (
        f"((instr('{_DIGITS}', substr({id}, {place}, 1)) - 1) << {shift})"
        for place, shift in enumerate(bits, 1)
    )
    return f"({' | '.join(digits)})"
