"""Conditions on parts of texts. What is fast depends on the part, so their statements run in their own way.

A statement with such a condition is planned with its values each time it runs on PostgreSQL, and on SQLite
never holds the event loop: `KeptText.depends_on_values` says so.
"""

from typing import Any, Self

from sqlalchemy import Boolean, ColumnElement, FromClause, Join
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

ESCAPE = "/"


class _Condition(FunctionElement[bool]):
    """A condition on a column and a place."""

    type = Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Self:
        """As it is: with `= 1`, which SQLAlchemy adds for SQLite, no index would be used."""
        return self


class HasPart(_Condition):
    """Whether the column is like the pattern in the place, which `pattern` makes."""

    name = "has_part"
    inherit_cache = True


class HasTrigrams(_Condition):
    """Whether a row of an `fts5` table of SQLite has the trigrams in the place, which `trigrams` makes."""

    name = "has_trigrams"
    inherit_cache = True


class InThisOrder(Join):
    """A join for which SQLite looks up rows on the right for each one on the left, whatever it expects."""

    inherit_cache = True

    def __init__(self, left: FromClause, right: FromClause, condition: ColumnElement[bool]) -> None:
        super().__init__(left, right, condition)


def pattern(part: str) -> str:
    """The pattern of the texts that contain `part`."""
    for character in (ESCAPE, "%", "_"):
        part = part.replace(character, ESCAPE + character)
    return f"%{part}%"


def depends_on_values(compiled: Any) -> bool:
    """Whether a compiled statement has one of these conditions."""
    return getattr(compiled, _MARK, False)


_MARK = "depends_on_values"


@compiles(HasPart)
def _has_part(element: HasPart, compiler: Any, **options: Any) -> str:
    column, place = (compiler.process(clause, **options) for clause in element.clauses)
    if compiler.dialect.name == "postgresql":
        setattr(compiler, _MARK, True)
    return f"({column} LIKE {place} ESCAPE '{ESCAPE}')"


@compiles(InThisOrder, "sqlite")
def _in_this_order(element: InThisOrder, compiler: Any, **options: Any) -> str:
    sides = (compiler.process(side, **{**options, "asfrom": True}) for side in (element.left, element.right))
    return f"{' CROSS JOIN '.join(sides)} ON {compiler.process(element.onclause, **options)}"


@compiles(HasTrigrams, "sqlite")
def _has_trigrams(element: HasTrigrams, compiler: Any, **options: Any) -> str:
    table, place = (compiler.process(clause, **options) for clause in element.clauses)
    setattr(compiler, _MARK, True)
    return f"({table} MATCH {place})"
