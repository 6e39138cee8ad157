"""Whole numbers in one value, however many they are: a parameter to be joined with, or what a group holds."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    ColumnElement,
    String,
    TableValuedAlias,
    bindparam,
    cast,
    column,
    func,
    literal,
    type_coerce,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import NullType

_POSTGRESQL = "postgresql"
_ARRAY = ARRAY(BigInteger)


def numbers(connection: AsyncConnection, values: Sequence[int]) -> TableValuedAlias:
    """A table of the connection's database with these numbers in its column `value`."""
    return numbers_in(connection.dialect.name, values)


def numbers_in(dialect: str, values: Sequence[int]) -> TableValuedAlias:
    """The same, for a statement that is built apart from a connection."""
    return _table(dialect, literal(as_numbers(dialect, values), _type(dialect)))


def numbers_named(dialect: str, name: str) -> TableValuedAlias:
    """The same with numbers that are yet to be given, as `as_numbers` makes them."""
    return _table(dialect, bindparam(name, type_=_type(dialect)))


def as_numbers(dialect: str, values: Sequence[int]) -> list[int] | str:
    """The value of the one parameter."""
    return list(values) if dialect == _POSTGRESQL else json.dumps(list(values))


def gathered(dialect: str, values: ColumnElement[int]) -> ColumnElement[Any]:
    """The numbers of a group in one value, which `read_numbers` reads."""
    gather = func.array_agg if dialect == _POSTGRESQL else func.json_group_array
    return type_coerce(gather(values), NullType())


def read_numbers(gathered: list[int] | str) -> list[int]:
    """The numbers of a group."""
    return gathered if isinstance(gathered, list) else json.loads(gathered)


def _type(dialect: str) -> Any:
    return _ARRAY if dialect == _POSTGRESQL else String()


def _table(dialect: str, parameter: BindParameter[list[int] | str]) -> TableValuedAlias:
    value = column("value", BigInteger)
    if dialect == _POSTGRESQL:
        return func.unnest(cast(parameter, _ARRAY)).table_valued(value).render_derived()
    return func.json_each(parameter).table_valued(value)
