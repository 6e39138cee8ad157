"""Kept statements as one statement: one way to the database and back for all of them.

Each way costs the gateway and PostgreSQL about as much processor time as a short list.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.engine import Dialect

from storage.caches import Cache
from storage.engine.statements.kept import Kept, KeptText, with_places

BYTES_OF_JOINED = 8 * 1024 * 1024
BYTES_OF_ONE, BYTES_OF_A_LETTER = 2_000, 2


class JoinedText(KeptText):
    """The statements of `parts` on PostgreSQL, with the columns of all in one row.

    Its values are those of each part by its number.
    """

    def __init__(self, parts: Sequence[KeptText]) -> None:
        self._parts = [(str(number), part) for number, part in enumerate(parts)]
        self.depends_on_values, self.reads_lines = False, True
        self.is_one_row, self.is_united = True, False
        self.places, self.columns = 0, 0
        # Where the columns of each part begin and end, and whether they have several rows.
        self._spans: list[tuple[int, int, bool]] = []
        texts = []
        for number, part in enumerate(parts):
            ends = self.places + part.places
            text = with_places(part.text, range(self.places, ends))
            texts.append(f"({_in_one_row(text, part.columns) if part.is_united else text}) AS part_{number}")
            self.places = ends
            self._spans.append((self.columns, self.columns + part.columns, part.is_united))
            self.columns += part.columns
        self.text = f"SELECT * FROM {', '.join(texts)}"  # noqa: S608 - of compiled statements

    def arguments(self, values: Mapping[str, Any]) -> list[Any]:
        arguments: list[Any] = []
        for name, part in self._parts:
            arguments += part.arguments(values[name])
        return arguments

    def split(self, row: Sequence[Any]) -> list[list[Sequence[Any]]]:
        """The rows of each part."""
        return [
            _rows_of(row[begins:ends]) if is_united else [row[begins:ends]]
            for begins, ends, is_united in self._spans
        ]


def _in_one_row(text: str, columns: int) -> str:
    """The rows of a statement as one array for each column."""
    names = [f"column_{number}" for number in range(columns)]
    arrays = ", ".join(f"array_agg({name})" for name in names)
    return f"SELECT {arrays} FROM ({text}) AS listed({', '.join(names)})"  # noqa: S608 - of compiled statements


def _rows_of(arrays: Sequence[Any]) -> list[Sequence[Any]]:
    """The rows again; arrays of none are null."""
    return [] if arrays[0] is None else list(zip(*arrays, strict=True))


# By the statements, in their order.
_joined: Cache[tuple[KeptText, ...], tuple[JoinedText, Kept]] = Cache(BYTES_OF_JOINED)


def can_join(kept: Kept, dialect: Dialect) -> bool:
    """Whether the statement has one row or a few, and a plan that does not depend on its values."""
    written = kept.on(dialect)
    return (written.is_one_row or written.is_united) and not written.depends_on_values


def joined(statements: Sequence[Kept], dialect: Dialect) -> tuple[JoinedText, Kept]:
    """The statements as one; those used least recently are forgotten."""
    parts = tuple([kept.on(dialect) for kept in statements])
    found = _joined.get(parts)
    if found is None:
        text = JoinedText(parts)
        found = text, Kept.of_text(text, dialect)
        _joined.keep(parts, found, BYTES_OF_ONE + BYTES_OF_A_LETTER * len(text.text))
    return found
