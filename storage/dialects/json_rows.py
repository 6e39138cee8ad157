"""Rows as JSON, made by the database: arrays of values, in the form in which the API writes them.

A row with its nested lists is one value then, whichever the database, and one statement reads a whole page.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any, overload

import orjson
from sqlalchemy import (
    Boolean,
    ColumnClause,
    ColumnElement,
    FromClause,
    LargeBinary,
    ScalarSelect,
    Select,
    Uuid,
    select,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from storage.types import JsonColumn, MomentColumn

_LINE = "line"
# The most bytes of the lines of one statement, and those that are parsed together.
LONGEST_TEXT = 16 * 1024 * 1024
PARSED_AT_ONCE = 1024 * 1024
# The most letters of what a row has inside it on SQLite, which copies it once for each level around it.
LONGEST_INSIDE = 4 * 1024 * 1024
# What PostgreSQL counts of a value besides its text, and what makes the sum of too many bytes overflow.
_HEADER = 4
_EACH_BYTE = f"{sys.float_info.max / (LONGEST_TEXT + 1)!r}::float8"
# Between lines; JSON has it nowhere.
SEPARATOR = b"\x1e"
# Most moments of PostgreSQL: with six decimals, before the offset. Only these are as long as that.
MOMENT, OFFSET = "2026-11-22T18:58:58.705751", "+00:00"


class LinesTooLong(Exception):
    """The text of the lines that a statement reads is longer than `LONGEST_TEXT`."""


class InsideTooLong(LinesTooLong):
    """What a row of SQLite has inside it is longer than `LONGEST_INSIDE`."""


class NestedTooDeep(Exception):
    """A statement has more levels than SQLite's parser takes, which reads nothing of it."""


class JsonArray(FunctionElement[Any]):
    """A JSON array of columns: ids with dashes, moments in UTC as ISO 8601.

    Those of PostgreSQL lack zeros at their end and have an offset; `moment_text` completes them.
    """

    name = "json_array"
    type = JsonColumn()
    inherit_cache = True


class _OfLines(FunctionElement[Any]):
    """An aggregate of a group's JSON values; `have_rows` says whether other rows are inside them."""

    def __init__(self, line: ColumnElement[Any], have_rows: bool) -> None:
        super().__init__(line)
        self.have_rows = have_rows


class _Gathered(_OfLines):
    """The JSON array of a group's JSON values; empty for an empty group."""

    name = "gathered_json"
    type = JsonColumn()
    inherit_cache = False


def lines(
    rows: Select[Any],
    *cells: ColumnElement[Any],
    are_limited: bool = False,
    outside: FromClause | None = None,
) -> ScalarSelect[Any]:
    """A JSON array with an array of `cells` for each of `rows`, in their order.

    `are_limited` says whether `rows` have a limit. They may refer to columns of a row `outside`.
    """
    return select(_Gathered(*_line_of(rows, cells, are_limited, outside))).scalar_subquery()


class _Written(_OfLines):
    """The JSON values of a group in UTF-8, with `SEPARATOR` between them; null for an empty group."""

    name = "written_json"
    type = LargeBinary()
    inherit_cache = False


def written_lines(
    rows: Select[Any], *cells: ColumnElement[Any], are_limited: bool = False
) -> ColumnElement[Any]:
    """The same lines as bytes, which `lines_of` reads: the column of a statement of one row.

    SQLite would copy what a subquery of that statement makes.

    Python would take four bytes for each letter of a text with one that needs them. Of too many, PostgreSQL
    sends one more than it may, or fails (`_bounded_aggregate`), as SQLite does: the connection
    raises `LinesTooLong`. SQLite would copy all of them for each bracket around them.
    """
    return _Written(*_line_of(rows, cells, are_limited))


def _line_of(
    rows: Select[Any],
    cells: Sequence[ColumnElement[Any]],
    are_limited: bool,
    outside: FromClause | None = None,
) -> tuple[ColumnElement[Any], bool]:
    """The column of the lines, and whether other rows are inside them."""
    each = rows.with_only_columns(JsonArray(*cells).label(_LINE), maintain_column_froms=True)
    each = each if outside is None else each.correlate(outside)
    have_rows = any(isinstance(c.type, JsonColumn) and not isinstance(c, ColumnClause) for c in cells)
    if have_rows and not are_limited:
        # PostgreSQL may make a line once for each aggregate without a limit, or all before it sorts them.
        each = each.suffix_with(text("LIMIT ALL"), dialect="postgresql")
    return each.subquery("lines").c[_LINE], have_rows


def has_written_lines(statement: Select[Any]) -> bool:
    """Whether the statement has one row, as an aggregate makes it."""
    return any(isinstance(column, _Written) for column in statement.inner_columns)


class LongLines(Sequence[Any]):
    """Lines that are parsed one at a time, whenever one is read: parsed, they take many times the memory.

    `places` are those of the lines in the bytes; `note` is told the bytes of each that is parsed.
    """

    def __init__(
        self, written: memoryview, places: Sequence[tuple[int, int]], note: Callable[[int], None]
    ) -> None:
        self._written, self._places, self._note = written, places, note

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> "LongLines": ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return LongLines(self._written, self._places[index], self._note)
        start, end = self._places[index]
        self._note(end - start)
        return orjson.loads(self._written[start:end])

    def __len__(self) -> int:
        return len(self._places)


def lines_of(written: bytes | None, note: Callable[[int], None]) -> Sequence[Any]:
    """The lines in the bytes of a statement; `note` as for `LongLines`. Raises `LinesTooLong`."""
    if written is None:
        return []
    if len(written) > PARSED_AT_ONCE:
        if len(written) > LONGEST_TEXT:
            raise LinesTooLong
        return LongLines(memoryview(written), _places_in(written), note)
    lines: list[Any] = orjson.loads(b"[%b]" % written.replace(SEPARATOR, b","))
    return lines


def _places_in(written: bytes) -> list[tuple[int, int]]:
    """Where each line begins and ends."""
    places, start = [], 0
    while (end := written.find(SEPARATOR, start)) >= 0:
        places.append((start, end))
        start = end + 1
    return [*places, (start, len(written))]


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


def _bounded_aggregate(line: str, aggregate: str, empty: str) -> str:
    """The aggregate of lines on PostgreSQL, or the error 22003 at the line that is too many.

    An aggregate cannot stop before a gigabyte, but a sum beside it can overflow. A window function would read
    all lines as soon as those it keeps need more than `work_mem`.
    """
    # Without lines there is no sum.
    size = f"sum((pg_column_size({line}) - {_HEADER}) * {_EACH_BYTE})"
    return f"CASE WHEN {size} IS NULL THEN {empty} ELSE {aggregate} END"


@compiles(_Gathered, "postgresql")
def _postgresql_gathered(element: _Gathered, compiler: Any, **options: Any) -> str:
    line = compiler.process(element.clauses, **options)
    array, empty = f"json_agg({line})", "'[]'::json"
    return _bounded_aggregate(line, array, empty) if element.have_rows else f"coalesce({array}, {empty})"


@compiles(_Gathered, "sqlite")
def _sqlite_gathered(element: _Gathered, compiler: Any, **options: Any) -> str:
    # Each value is JSON already, which `json_group_array` would parse once more.
    values = f"group_concat({compiler.process(element.clauses, **options)}, ',')"
    return _bounded(f"'[' || coalesce({values}, '') || ']'")


@compiles(_Written, "postgresql")
def _postgresql_written(element: _Written, compiler: Any, **options: Any) -> str:
    compiler.reads_lines = True
    # Named once: the database would make again, for each time, what a row has inside it.
    line = compiler.process(element.clauses, **options)
    written = f"string_agg({line}::text, chr({SEPARATOR[0]}))"
    written = _bounded_aggregate(line, written, "NULL") if element.have_rows else written
    return f"substr(convert_to({written}, 'UTF8'), 1, {LONGEST_TEXT + 1})"


@compiles(_Written, "sqlite")
def _sqlite_written(element: _Written, compiler: Any, **options: Any) -> str:
    compiler.reads_lines = True
    return f"CAST(group_concat({compiler.process(element.clauses, **options)}, char({SEPARATOR[0]})) AS BLOB)"


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
    if not isinstance(cell.type, JsonColumn) or isinstance(cell, JsonArray):
        return text
    if not isinstance(cell, ScalarSelect):
        return f"json({text})"
    # What is before FROM costs the parser nothing while it reads what is behind it.
    return text if _is_gathered(cell) else _bounded(text)


def _is_gathered(cell: ScalarSelect[Any]) -> bool:
    return isinstance(next(iter(cell.element.selected_columns)), _Gathered)


def _bounded(text: str) -> str:
    """The JSON in a text that is not too long.

    What is cut off is no JSON, which fails: a length that is asked for would have to be read twice.
    """
    return f"json(substr({text}, 1, {LONGEST_INSIDE}))"


_UUID_PARTS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
