"""Conditions whose SQL does not depend on how many values come, or on what they contain."""

import json
from typing import Any, Self

from sqlalchemy import ARRAY, Boolean, ColumnElement, String, Uuid, bindparam
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator

from storage.dialects.processors import from_driver, to_driver


class ListOf(TypeDecorator[Any]):
    """A list of values as one value: an array on PostgreSQL, JSON on SQLite."""

    impl = String
    cache_ok = True

    def __init__(self, item: Any) -> None:
        super().__init__()
        self.item = item

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        return dialect.type_descriptor(ARRAY(self.item) if dialect.name == "postgresql" else String())

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        if dialect.name == "postgresql":
            return value
        convert = to_driver(self.item, dialect) or (lambda item: item)
        return json.dumps([convert(item) for item in value])

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        if dialect.name == "postgresql" or value is None:
            return value
        convert = from_driver(self.item, dialect) or (lambda item: item)
        return [convert(item) for item in json.loads(value)]


class AnyOf(FunctionElement[bool]):
    """Whether a column is one of the values in a `ListOf` place."""

    name = "any_of"
    type = Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Self:
        """As it is: `= 1`, which SQLAlchemy adds for SQLite, would keep the index from being used."""
        return self


def among(column: ColumnElement[Any], place: str) -> AnyOf:
    """Whether a column is one of the values that come for this place."""
    return AnyOf(column, bindparam(place, type_=ListOf(column.type)))


class IdsOf(FunctionElement[Any]):
    """The list of the ids that a subquery finds in its column `id`."""

    name = "ids_of"
    type = ListOf(Uuid())
    inherit_cache = True


@compiles(IdsOf, "postgresql")
def _ids_of_in_postgresql(element: IdsOf, compiler: Any, **options: Any) -> str:
    (subquery,) = (compiler.process(clause, **options) for clause in element.clauses)
    return f"ARRAY{subquery}"


@compiles(IdsOf, "sqlite")
def _ids_of_in_sqlite(element: IdsOf, compiler: Any, **options: Any) -> str:
    (subquery,) = (compiler.process(clause, **options) for clause in element.clauses)
    return f"(SELECT json_group_array(id) FROM {subquery})"  # noqa: S608 - of a compiled clause


@compiles(AnyOf, "postgresql")
def _any_of_in_postgresql(element: AnyOf, compiler: Any, **options: Any) -> str:
    column, values = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({column} = ANY ({values}))"


@compiles(AnyOf, "sqlite")
def _any_of_in_sqlite(element: AnyOf, compiler: Any, **options: Any) -> str:
    column, values = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({column} IN (SELECT value FROM json_each({values})))"  # noqa: S608 - of compiled clauses
