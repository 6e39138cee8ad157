"""The least and the greatest of two values. SQLite's functions have the names of its aggregates."""

from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import ReturnTypeFromArgs


class _Least(ReturnTypeFromArgs[Any]):
    name = "least"
    inherit_cache = True


class _Greatest(ReturnTypeFromArgs[Any]):
    name = "greatest"
    inherit_cache = True


def least(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
    return _Least(one, other)


def greatest(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
    return _Greatest(one, other)


@compiles(_Least, "sqlite")
def _least_on_sqlite(element: _Least, compiler: Any, **options: Any) -> str:
    return f"min({compiler.process(element.clauses, **options)})"


@compiles(_Greatest, "sqlite")
def _greatest_on_sqlite(element: _Greatest, compiler: Any, **options: Any) -> str:
    return f"max({compiler.process(element.clauses, **options)})"
