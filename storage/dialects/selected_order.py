"""The order of rows of a subquery, for the statement around it."""

from typing import Any, Self

from sqlalchemy import ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class AsSelected(FunctionElement[Any]):
    """A term of the order in which a subquery gives its rows, in a statement that has a limit too.

    SQLite gives them on in this order, and would keep whole lines to sort them once more: it gets no term.
    The limit keeps it from making one statement of both, which would make the lines of rows beyond it.
    """

    name = "as_selected"
    inherit_cache = True

    def __init__(self, term: ColumnElement[Any]) -> None:
        super().__init__(term)

    def self_group(self, against: Any = None) -> Self:
        """As it is: a term with its direction takes no brackets."""
        return self


@compiles(AsSelected, "sqlite")
def _sqlite_term(element: AsSelected, compiler: Any, **options: Any) -> str:
    return ""


@compiles(AsSelected)
def _term(element: AsSelected, compiler: Any, **options: Any) -> str:
    (term,) = element.clauses
    text: str = compiler.process(term, **options)
    return text
