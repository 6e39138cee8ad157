"""A condition that other conditions imply, which may help to find the rows in the order of a list."""

from typing import Any

from sqlalchemy import Boolean, ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class Implied(FunctionElement[bool]):
    """The condition, for PostgreSQL to choose whether an index is used for it.

    SQLite, which has no statistics, would prefer it to the conditions that imply it whenever its index has
    the order of the list: there it is only checked.
    """

    name = "implied"
    type = Boolean()
    inherit_cache = True

    def __init__(self, condition: ColumnElement[bool]) -> None:
        super().__init__(condition)


@compiles(Implied)
def _implied(element: Implied, compiler: Any, **options: Any) -> str:
    return f"({compiler.process(element.clauses, **options)})"


@compiles(Implied, "sqlite")
def _implied_on_sqlite(element: Implied, compiler: Any, **options: Any) -> str:
    # A term with the unary plus is not looked up in an index.
    return f"+({compiler.process(element.clauses, **options)})"
