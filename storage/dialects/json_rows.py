"""Rows as JSON, made by the database: arrays of values, in the form in which the API writes them.

A row with its nested lists is one value then, whichever the database, and one statement reads a whole page.
"""

from typing import Any

from sqlalchemy import Boolean, ColumnElement, FromClause, ScalarSelect, Select, Uuid, cast, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import Text

from storage.types import JsonColumn, MomentColumn

_LINE = "line"
# Most moments of PostgreSQL: with six decimals, before the offset. Only these are as long as that.
MOMENT, OFFSET = "2026-11-22T18:58:58.705751", "+00:00"


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


def as_text(value: ColumnElement[Any]) -> ColumnElement[str]:
    """JSON as text, which a driver leaves as it is."""
    return cast(value, Text)


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
