"""How much PostgreSQL makes of lines that have rows inside them: its own bound is a gigabyte.

Its aggregates cannot stop, but they can fail: the sum of the sizes, scaled to the largest number of floating
point, has no value (22003) at the line that is too many. A window function would read all lines first as soon
as those it keeps need more than `work_mem`.
"""

import sys
from typing import Any, cast

from sqlalchemy import FromClause, Select, Subquery
from sqlalchemy.ext.compiler import compiles

LINE = "line"
# The most bytes of the lines of one statement.
LONGEST_TEXT = 16 * 1024 * 1024
# PostgreSQL counts the header of a value too.
_HEADER = 4
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
    text = _lines(element, compiler, **options)
    # OFFSET, because PostgreSQL would make a line twice where no limit or order is in the way.
    return f"(SELECT {LINE} FROM {text} OFFSET 0) AS lines" if options.get("asfrom") else text  # noqa: S608


def bounded(lines: FromClause, line: str, aggregate: str, empty: str) -> str:
    """The aggregate of these lines on PostgreSQL, or an error where they are too long."""
    if not isinstance(lines, _SizedLines):
        return f"coalesce({aggregate}, {empty})"
    # Without lines there is no sum.
    size = f"sum((pg_column_size({line}) - {_HEADER}) * {_EACH_BYTE})"
    return f"CASE WHEN {size} IS NULL THEN {empty} ELSE {aggregate} END"
