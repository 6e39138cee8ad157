"""The totals of lists: how many rows a list has, as a whole and for the filters that its class declares.

Beside them is the sum of the bytes of a table's measured columns, also of deleted rows that are kept.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Select,
    Text,
    cast,
    func,
    literal,
    select,
    union_all,
)
from sqlmodel import SQLModel

from storage.dialects.octets import octets_of
from storage.engine.connections import Connection
from storage.ledger.books import Key, Ledger, Row, Workspaces
from storage.ledger.recording import record
from storage.ledger.totals import Totals
from storage.tables.base import Values, table_of
from storage.tables.events.events import EventRow
from storage.tables.registry import COUNTED_MODELS
from storage.tables.workspaces.totals import ListTotalDeltaRow, ListTotalRow
from storage.totals.events import EVENTS, events_of
from storage.types import write_json


def count(connection: Connection, model: type[SQLModel], rows: Sequence[Values], by: int = 1) -> None:
    """Count rows, by column, that the transaction inserts; with `by` -1, those that it deletes.

    Deleted rows that are kept, with `deleted_at`, do not count.
    """
    if getattr(model, "counted", ()):
        present = [row for row in rows if row.get("deleted_at") is None]
        record(connection, LISTS, _changes(connection.dialect.name, model, present, by))
        if model is EventRow:
            record(connection, EVENTS, events_of(present, by))


def count_moved(
    connection: Connection, model: type[SQLModel], rows: Sequence[Values], changes: Values
) -> None:
    """Count rows, by column, in other totals: those for the values that they get in `changes`."""
    dialect = connection.dialect.name
    record(connection, LISTS, _changes(dialect, model, rows, -1))
    record(connection, LISTS, _changes(dialect, model, [row | changes for row in rows], 1))


def measure(connection: Connection, model: type[SQLModel], rows: Sequence[Values], by: int = 1) -> None:
    """Add the bytes of these rows, by column, to those of their table; with `by` -1, subtract them.

    Columns that the rows do not name are left out.
    """
    columns = measured_columns(model)
    if columns:
        record(connection, LISTS, _sizes(model, columns, rows, by))


def measured_columns(model: type[SQLModel]) -> tuple[str, ...]:
    """The columns whose bytes are added up."""
    return getattr(model, "measured", ())


def size_name(model: type[SQLModel]) -> str:
    """The name under which the bytes of a table are kept; no column is called like that."""
    return f"{table_of(model).name}:bytes"


def counted_columns(model: type[SQLModel]) -> frozenset[str]:
    """The columns whose values decide in which totals a row is counted; empty if its table has none."""
    groups = getattr(model, "counted", ())
    return frozenset({name for group in groups for name in group} | {"deleted_at"} if groups else ())


def list_name(model: type[SQLModel], columns: Sequence[str]) -> str:
    """The name of a list that is filtered by these columns."""
    return ".".join((table_of(model).name, *columns))


def write_value(dialect: str, value: Any) -> str:
    """The value as the database would write it as text; SQLite has neither UUIDs nor booleans."""
    if isinstance(value, UUID):
        return str(value) if dialect == "postgresql" else value.hex
    if isinstance(value, bool):
        return str(value).lower() if dialect == "postgresql" else str(int(value))
    return str(value)


def joined(texts: Sequence[ColumnElement[str]]) -> ColumnElement[str]:
    """The value of a total: texts as the database writes the columns, separated by commas."""
    if not texts:
        return literal("")
    whole, *others = texts
    for text in others:
        whole = whole + "," + text
    return whole


def _changes(
    dialect: str, model: type[SQLModel], rows: Sequence[Values], by: int
) -> Iterator[tuple[Key, Row]]:
    # Nearly always one workspace: to hash its id for each row would take longer than the rest.
    for workspace_id, each in groupby(rows, key=itemgetter("workspace_id")):
        own = list(each)
        for columns in getattr(model, "counted", ()):
            name = list_name(model, columns)
            if not columns:
                yield (workspace_id, name, ""), (len(own) * by,)
                continue
            cells = [[row[column] for row in own] for column in columns]
            for values, many in Counter(zip(*cells, strict=True)).items():
                if None not in values:
                    value = ",".join(write_value(dialect, value) for value in values)
                    yield (workspace_id, name, value), (many * by,)


def _sizes(
    model: type[SQLModel], columns: Sequence[str], rows: Sequence[Values], by: int
) -> Iterator[tuple[Key, Row]]:
    list = size_name(model)
    for workspace_id, own in groupby(rows, key=itemgetter("workspace_id")):
        values = [row.get(name) for row in own for name in columns]
        # Two objects may be equal although their parts, and so their texts, differ.
        if isinstance(values[0], str) and values.count(values[0]) == len(values):
            size = _octets(values[0]) * len(values)
        else:
            size = sum(map(_octets, values))
        yield (workspace_id, list, ""), (size * by,)


def _octets(value: Any) -> int:
    """The bytes of a value as it is stored."""
    if value is None:
        return 0
    text = value if isinstance(value, str) else write_json(value)
    return len(text) if text.isascii() else len(text.encode())


def _recounted(workspaces: Workspaces) -> FromClause:
    groups = [_group(workspaces, model, columns) for model in COUNTED_MODELS for columns in model.counted]
    sizes = [_measured(workspaces, model) for model in COUNTED_MODELS if model.measured]
    return union_all(*groups, *sizes).cte("counted")


def _measured(workspaces: Workspaces, model: type[SQLModel]) -> Select[Any]:
    table = table_of(model)
    first, *others = (octets_of(table.c[name]) for name in measured_columns(model))
    size = cast(func.sum(sum(others, start=first)), BigInteger).label("total")
    key = (table.c.workspace_id, literal(size_name(model)).label("list"), literal("").label("value"))
    return select(*key, size).where(workspaces(table.c.workspace_id)).group_by(table.c.workspace_id)


def _group(workspaces: Workspaces, model: type[SQLModel], names: Sequence[str]) -> Select[Any]:
    table = table_of(model)
    columns = [table.c[name] for name in names]
    present = [column.is_not(None) for column in columns]
    if "deleted_at" in table.c:
        present.append(table.c.deleted_at.is_(None))
    value = joined([cast(column, Text) for column in columns])
    key = (table.c.workspace_id, literal(list_name(model, names)).label("list"), value.label("value"))
    rows = select(*key, func.count().label("total")).where(workspaces(table.c.workspace_id), *present)
    return rows.group_by(table.c.workspace_id, *columns)


LIST_TOTALS = Totals(table_of(ListTotalRow))
LISTS = Ledger(table_of(ListTotalDeltaRow), _recounted, (LIST_TOTALS,), at_once=True)
