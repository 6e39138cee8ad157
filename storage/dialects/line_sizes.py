"""How much PostgreSQL makes of lines that have rows inside them: its own bound is a gigabyte.

Its aggregates cannot stop, but they can fail: the sum of the sizes, scaled to the largest number of floating
point, has no value (22003) at the line that is too many. A window function would read all lines first as soon
as those it keeps need more than `work_mem`.
"""

import sys
from typing import Any, cast

from sqlalchemy import FromClause, Integer, Select, Subquery, literal_column
from sqlalchemy.ext.compiler import compiles

LINE = "line"
# The most bytes of the lines of one statement.
LONGEST_TEXT = 16 * 1024 * 1024
# PostgreSQL counts the header of a value too.
_HEADER = 4
_ALL = literal_column(str(2**31 - 1), Integer)
_EACH_BYTE = f"{sys.float_info.max / (LONGEST_TEXT + 1)!r}::float8"


class _SizedLines(Subquery):
    """Lines that are made once, though they are read twice: for their text, and for its size."""

    inherit_cache = True


def sized(lines: Select[Any]) -> FromClause:
    """The lines as a subquery of which PostgreSQL makes no more than an answer may have."""
    return _SizedLines._construct(lines, name="lines")


@compiles(_SizedLines)
def _lines(element: _SizedLines, compiler: Any, **options: Any) -> str:
    return cast(str, compiler.visit_subquery(element, **options))


@compiles(_SizedLines, "postgresql")
def _postgresql_lines(element: _SizedLines, compiler: Any, **options: Any) -> str:
    lines: Any = element.element
    if lines._limit_clause is None:
        # Without a limit, PostgreSQL may make a line once for each aggregate, or all before it sorts them.
        element = _SizedLines._construct(lines.limit(_ALL), name="lines")
    return _lines(element, compiler, **options)


def bounded(lines: FromClause, line: str, aggregate: str, empty: str) -> str:
    """The aggregate of these lines on PostgreSQL, or an error where they are too long."""
    if not isinstance(lines, _SizedLines):
        return f"coalesce({aggregate}, {empty})"
    # Without lines there is no sum.
    size = f"sum((pg_column_size({line}) - {_HEADER}) * {_EACH_BYTE})"
    return f"CASE WHEN {size} IS NULL THEN {empty} ELSE {aggregate} END"
