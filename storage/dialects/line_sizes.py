"""How much PostgreSQL makes of lines that have rows inside them: its own bound is a gigabyte.

Its aggregates cannot stop, but they can fail: the sum of the sizes, scaled to the largest number of floating
point, has no value (22003) at the line that is too many. A window function would read all lines first as soon
as those it keeps need more than `work_mem`.
"""

import sys
from typing import Any

from sqlalchemy import Select, text

# The most bytes of the lines of one statement.
LONGEST_TEXT = 16 * 1024 * 1024
# PostgreSQL counts the header of a value too.
_HEADER = 4
_EACH_BYTE = f"{sys.float_info.max / (LONGEST_TEXT + 1)!r}::float8"


def limited(lines: Select[Any]) -> Select[Any]:
    """The same lines, with a limit on PostgreSQL.

    It may make a line once for each aggregate without one, or all lines before it sorts them.
    """
    return lines.suffix_with(text("LIMIT ALL"), dialect="postgresql")


def bounded(line: str, aggregate: str, empty: str) -> str:
    """The aggregate of lines on PostgreSQL, or an error where they are too long."""
    # Without lines there is no sum.
    size = f"sum((pg_column_size({line}) - {_HEADER}) * {_EACH_BYTE})"
    return f"CASE WHEN {size} IS NULL THEN {empty} ELSE {aggregate} END"
