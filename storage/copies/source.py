"""The rows of a SQLite file as the move reads them: batches by primary key, within bounds of memory."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Boolean, Date, Enum, Integer, LargeBinary, Numeric, Table, Uuid

from storage.copies import totals
from storage.types import MomentColumn

MOST_ROWS, MOST_BYTES = 10_000, 8 * 1024 * 1024
# Types whose values are too short to count towards the size of a batch.
_NARROW = (Boolean, Date, Enum, Integer, MomentColumn, Numeric, Uuid)
# Rows that are fetched before their size is looked at: those with binary columns may have megabytes each.
_ROWS_AT_A_TIME = 200

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Batch:
    """Rows as PostgreSQL's driver takes them, and the key after which the next batch begins."""

    records: list[Row]
    last: str


class SourceTable:
    """A table of the source. Keys are kept as JSON, of the values that SQLite has."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.names = [each.name for each in table.columns]
        keys = [each.name for each in table.primary_key.columns]
        self._places = [self.names.index(key) for key in keys]
        names, listed = (", ".join(f'"{name}"' for name in some) for some in (self.names, keys))
        self._select = f'SELECT {names} FROM "{table.name}"'  # noqa: S608
        self._after = f" WHERE ({listed}) > ({', '.join('?' * len(keys))})"
        self._order = f" ORDER BY {listed} LIMIT {MOST_ROWS}"
        types = list(enumerate(each.type for each in table.columns))
        self._wide = [place for place, type in types if not isinstance(type, _NARROW)]
        has_blobs = any(isinstance(type, LargeBinary) for _, type in types)
        self._rows_at_a_time = 1 if has_blobs else _ROWS_AT_A_TIME
        # What makes PostgreSQL's value of SQLite's, by place.
        self._converters = {
            place: converter
            for place, type in types
            for kind, converter in _CONVERTERS.items()
            if isinstance(type, kind)
        }

    def read(self, connection: sqlite3.Connection, last: str | None) -> Batch | None:
        """The rows after a key, from the first without one; None if there are no more."""
        values: Sequence[Any] = () if last is None else json.loads(last)
        after = "" if last is None else self._after
        cursor = connection.execute(self._select + after + self._order, values)
        rows: list[Row] = []
        size = 0
        while size < MOST_BYTES and (some := cursor.fetchmany(self._rows_at_a_time)):
            rows += some
            size += sum(len(row[place] or "") for row in some for place in self._wide)
        cursor.close()
        if not rows:
            return None
        key = json.dumps([rows[-1][place] for place in self._places])
        return Batch(self._converted(rows), key)

    def _converted(self, rows: list[Row]) -> list[Row]:
        columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
        for place, convert in self._converters.items():
            columns[place] = [None if value is None else convert(value) for value in columns[place]]
        if self.table in totals.TABLES:
            lists, place = columns[self.names.index("list")], self.names.index("value")
            columns[place] = list(map(totals.on_postgresql, lists, columns[place]))
        return list(zip(*columns, strict=True))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


_CONVERTERS: dict[type, Callable[[Any], Any]] = {
    MomentColumn: _moment,
    Boolean: bool,
    Date: date.fromisoformat,
}
