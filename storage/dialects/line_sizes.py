"""How much PostgreSQL makes of lines that have rows inside them: its own bound is a gigabyte.

A line that goes beyond `LONGEST_TEXT` is the error 54000, as that bound is.
"""

from typing import Any, cast

from sqlalchemy import FromClause, Select, Subquery
from sqlalchemy.ext.compiler import compiles

LINE = "line"
# The most bytes of the lines of one statement.
LONGEST_TEXT = 16 * 1024 * 1024
# Of so few lines it is enough to look at the size of all, which costs less than to add up.
FEW = 4


class _SizedLines(Subquery):
    """Lines that each know on PostgreSQL how many bytes they and those before have, unless they `are_few`."""

    inherit_cache = True
    are_few: bool


def sized(lines: Select[Any], most: int | None) -> FromClause:
    """The lines as a subquery; `most` is how many there are at most, if that is known."""
    listed = _SizedLines._construct(lines, name="lines")
    listed.are_few = most is not None and most <= FEW
    return listed


@compiles(_SizedLines)
def _lines(element: _SizedLines, compiler: Any, **options: Any) -> str:
    return cast(str, compiler.visit_subquery(element, **options))


@compiles(_SizedLines, "postgresql")
def _postgresql_lines(element: _SizedLines, compiler: Any, **options: Any) -> str:
    text = _lines(element, compiler, **options)
    if element.are_few or not options.get("asfrom"):
        return text
    # OFFSET: PostgreSQL would make a line again for its size where no limit or order is in the way.
    made = f"(SELECT {LINE} FROM {text} OFFSET 0) AS lines"  # noqa: S608
    so_far = f"sum(octet_length({LINE}::text)) OVER (ROWS UNBOUNDED PRECEDING)"
    return f"(SELECT {LINE}, {so_far} AS so_far FROM {made}) AS lines"  # noqa: S608


def unless_long(lines: FromClause, line: str) -> str:
    """The JSON of each line, or the error where those so far are too long."""
    if not isinstance(lines, _SizedLines) or lines.are_few:
        return line
    return _unless("lines.so_far", line)


def gathered(lines: FromClause, line: str) -> str:
    """The JSON array of the lines, null without one, or the error where they are too long."""
    text = f"json_agg({unless_long(lines, line)})"
    if isinstance(lines, _SizedLines) and lines.are_few:
        # The database aggregates once for both.
        return _unless(f"octet_length({text}::text)", text)
    return text


def _unless(size: str, json: str) -> str:
    # A constant would fail before any line is read.
    fails = f"repeat(left({json}::text, 1), {2**31 - 1})::json"
    return f"(CASE WHEN {size} > {LONGEST_TEXT} THEN {fails} ELSE {json} END)"
