"""Rows as JSON, made by the database: arrays of values, in the form in which the API writes them.

A row with its nested lists is one value then, whichever the database, and one statement reads a whole page.
"""

from typing import Any

import orjson
from sqlalchemy import Boolean, ColumnElement, FromClause, ScalarSelect, Select, Uuid, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import Text

from storage.types import JsonColumn, MomentColumn

_LINE = "line"
# The most bytes of the JSON text of one statement.
LONGEST_TEXT = 16 * 1024 * 1024
# Most moments of PostgreSQL: with six decimals, before the offset. Only these are as long as that.
MOMENT, OFFSET = "2026-11-22T18:58:58.705751", "+00:00"


class LinesTooLong(Exception):
    """The text of the lines that a statement reads is longer than `LONGEST_TEXT`."""


class NestedTooDeep(Exception):
    """A statement has more levels than SQLite's parser takes, which reads nothing of it."""


class JsonArray(FunctionElement[Any]):
    """A JSON array of columns: ids with dashes, moments in UTC as ISO 8601.

    Those of PostgreSQL lack zeros at their end and have an offset; `moment_text` completes them.
    """

    name = "json_array"
    type = JsonColumn()
    inherit_cache = True


class _Gathered(FunctionElement[Any]):
    """The JSON array of a group's JSON values; empty for an empty group."""

    name = "gathered_json"
    type = JsonColumn()
    inherit_cache = True


def lines(
    rows: Select[Any], *cells: ColumnElement[Any], outside: FromClause | None = None
) -> ScalarSelect[Any]:
    """A JSON array with an array of `cells` for each of `rows`, in their order.

    `rows` may refer to columns of a row `outside`.
    """
    each = rows.with_only_columns(JsonArray(*cells).label(_LINE), maintain_column_froms=True)
    listed = (each if outside is None else each.correlate(outside)).subquery("lines")
    return select(_Gathered(listed.c[_LINE])).scalar_subquery()


class _BoundedText(FunctionElement[str]):
    """JSON as text of a bounded length."""

    name = "bounded_text"
    type = Text()
    inherit_cache = True


def as_text(value: ColumnElement[Any]) -> ColumnElement[str]:
    """JSON lines as text, which a driver leaves as it is; `parsed` reads it.

    PostgreSQL sends the number of its bytes instead of a text that is too long. SQLite stops making it: the
    connection raises `LinesTooLong`.
    """
    return _BoundedText(value)


def parsed(text: str) -> list[Any]:
    """The lines in the text of a statement. Raises `LinesTooLong`."""
    read = orjson.loads(text)
    if read.__class__ is int:
        raise LinesTooLong
    lines: list[Any] = read
    return lines


def moment_text(moment: str) -> str:
    """A moment of PostgreSQL's JSON with six decimal places and `Z`; `to_char` would take far longer."""
    seconds, _, decimals = moment.removesuffix("+00:00").partition(".")
    return f"{seconds}.{decimals:<06}Z" if decimals else f"{seconds}.000000Z"


@compiles(JsonArray, "postgresql")
def _postgresql_array(element: JsonArray, compiler: Any, **options: Any) -> str:
    return f"json_build_array({', '.join(_postgresql(cell, compiler, options) for cell in element.clauses)})"


@compiles(JsonArray, "sqlite")
def _sqlite_array(element: JsonArray, compiler: Any, **options: Any) -> str:
    return f"json_array({', '.join(_sqlite(cell, compiler, options) for cell in element.clauses)})"


@compiles(_Gathered, "postgresql")
def _postgresql_gathered(element: _Gathered, compiler: Any, **options: Any) -> str:
    return f"coalesce(json_agg({compiler.process(element.clauses, **options)}), '[]'::json)"


@compiles(_Gathered, "sqlite")
def _sqlite_gathered(element: _Gathered, compiler: Any, **options: Any) -> str:
    # Each value is JSON already, which `json_group_array` would parse once more.
    values = f"group_concat({compiler.process(element.clauses, **options)}, ',')"
    return f"'[' || coalesce({values}, '') || ']'"


@compiles(_BoundedText, "postgresql")
def _postgresql_text(element: _BoundedText, compiler: Any, **options: Any) -> str:
    # Without the OFFSET, PostgreSQL would put the expression, and its work, into each place of `written`.
    text = f"SELECT CAST({compiler.process(element.clauses, **options)} AS TEXT) AS written OFFSET 0"
    length = "octet_length(answer.written)"
    chosen = f"CASE WHEN {length} > {LONGEST_TEXT} THEN CAST({length} AS TEXT) ELSE answer.written END"
    return f"(SELECT {chosen} FROM ({text}) AS answer)"  # noqa: S608 - of a compiled expression


@compiles(_BoundedText, "sqlite")
def _sqlite_text(element: _BoundedText, compiler: Any, **options: Any) -> str:
    compiler.reads_lines = True
    return f"CAST({compiler.process(element.clauses, **options)} AS TEXT)"


def _postgresql(cell: ColumnElement[Any], compiler: Any, options: dict[str, Any]) -> str:
    text: str = compiler.process(cell, **options)
    return f"({text})::json" if isinstance(cell.type, JsonColumn) else text


def _sqlite(cell: ColumnElement[Any], compiler: Any, options: dict[str, Any]) -> str:
    text: str = compiler.process(cell, **options)
    if isinstance(cell.type, MomentColumn):
        return f"replace({text}, ' ', 'T') || 'Z'"
    if isinstance(cell.type, Uuid):
        parts = (f"substr({text}, {start}, {size})" for start, size in _UUID_PARTS)
        return " || '-' || ".join(parts)
    if isinstance(cell.type, Boolean):
        return f"json(CASE {text} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)"
    return f"json({text})" if isinstance(cell.type, JsonColumn) else text


_UUID_PARTS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
