"""Documents that differ only in their literals: one is kept for all, with variables in place of these."""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphql import DocumentNode, GraphQLError, GraphQLSyntaxError, Lexer, Source

MOST_LITERALS = 100
# Longer integers are out of the range of each type.
LONGEST_INTEGER = 20
# As an id, it is not the text of its number.
_NEGATIVE_ZERO = "-0"
# Stands before the kind of a literal in an outline; no valid document has it outside of texts and comments.
_SIGN = "\0"
# What is no valid literal stays, so that its document has no outline in common with a valid one.
_TOKEN = re.compile(
    r'(?P<text>"""(?:[^"\\]|\\"""|\\|"(?!""))*+"""|"(?:[^"\\\n\r]|\\.)*+")'
    r"|(?P<comment>\#[^\n\r]*+)"
    r"|(?P<number>(?:-|(?<![\w.]))(?:0|[1-9][0-9]*+)((?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+)(?![\w.]))",
    re.ASCII,
)

# Makes the value of a variable from the literals of a document.
Maker = Callable[[Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class Outline:
    """A document's text with signs for its literals, and these: their values, and where each begins and ends.

    Valid documents with the same text differ in nothing but the literals, of which each has the same kind.
    """

    text: str
    values: tuple[Any, ...]
    places: tuple[tuple[int, int], ...]


def outline_of(text: str) -> Outline | None:
    """The outline of a document, which need not be valid; None if it has no literals, or some too odd."""
    if _SIGN in text:
        return None
    values: list[Any] = []
    places: list[tuple[int, int]] = []

    def sign(match: re.Match[str]) -> str:
        token, kind = match[0], match.lastgroup
        if kind == "comment":
            return token
        is_float = bool(match[4])
        values.append(_text_of(token) if kind == "text" else float(token) if is_float else _integer(token))
        places.append(match.span())
        return _SIGN + ("s" if kind == "text" else "f" if is_float else "i")

    try:
        outline = _TOKEN.sub(sign, text)
    except (ValueError, GraphQLSyntaxError):
        return None
    if not 0 < len(values) <= MOST_LITERALS:
        return None
    return Outline(outline, tuple(values), tuple(places))


def _text_of(token: str) -> str:
    if "\\" in token or token.startswith('"""'):
        return Lexer(Source(token)).advance().value or ""
    return token[1:-1]


def _integer(token: str) -> int:
    if len(token) > LONGEST_INTEGER or token == _NEGATIVE_ZERO:
        raise ValueError(token)
    return int(token)


@dataclass(frozen=True)
class Template:
    """A document whose literals, at these places, have become variables; `makers` make their values."""

    document: DocumentNode
    makers: Mapping[str, Maker]
    places: Sequence[tuple[int, int]]

    def variables(self, outline: Outline) -> dict[str, Any]:
        """The variables for a document with the same outline."""
        return {name: make(outline.values) for name, make in self.makers.items()}

    def placed(self, error: GraphQLError, text: str, outline: Outline) -> GraphQLError:
        """The error with its places in the document `text` of the outline, instead of those in this one."""
        starts = [node.loc.start for node in error.nodes or () if node.loc]
        positions = [start + self._shift(start, outline) for start in starts]
        cause, extensions = error.original_error, error.extensions
        return GraphQLError(
            error.message, error.nodes, Source(text), positions, error.path, cause, extensions
        )

    def _shift(self, start: int, outline: Outline) -> int:
        before = bisect_left(self.places, (start, start))
        return outline.places[before - 1][1] - self.places[before - 1][1] if before else 0
