"""Lists of integers or ids as one value: a parameter to join with, or the aggregate of a group."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    BindParameter,
    ColumnElement,
    String,
    TableValuedAlias,
    Uuid,
    bindparam,
    cast,
    column,
    func,
    literal,
    type_coerce,
)
from sqlalchemy.types import NullType

_POSTGRESQL = "postgresql"
_ARRAY = ARRAY(BigInteger)


def numbers_in(dialect: str, values: Sequence[int]) -> TableValuedAlias:
    """These numbers as a table with one column, `value`."""
    return _table(dialect, literal(as_numbers(dialect, values), _type(dialect)))


def numbers_named(dialect: str, name: str) -> TableValuedAlias:
    """The same, with a parameter of this name for the numbers, which `as_numbers` writes."""
    return _table(dialect, bindparam(name, type_=_type(dialect)))


def ids_named(dialect: str, name: str) -> TableValuedAlias:
    """A table with one column, `value`, of the ids in this parameter, which `as_ids` writes."""
    if dialect == _POSTGRESQL:
        array = ARRAY(Uuid())
        value = column("value", Uuid())
        return func.unnest(cast(bindparam(name, type_=array), array)).table_valued(value).render_derived()
    return func.json_each(bindparam(name, type_=String())).table_valued(column("value", Uuid()))


def as_ids(dialect: str, ids: Sequence[UUID]) -> list[UUID] | str:
    """The parameter's value: an array on PostgreSQL, JSON of the texts that SQLite stores."""
    return list(ids) if dialect == _POSTGRESQL else json.dumps([id.hex for id in ids])


class Pairs(NamedTuple):
    """A table of pairs of numbers, and its two columns."""

    table: TableValuedAlias
    first: ColumnElement[int]
    second: ColumnElement[int]


def pairs_in(dialect: str, pairs: Sequence[tuple[int, int]]) -> Pairs:
    """The pairs, in one parameter on SQLite and two on PostgreSQL."""
    if dialect != _POSTGRESQL:
        written = json.dumps(pairs)
        table = func.json_each(literal(written, String())).table_valued(column("value", JSON))
        first, second = (func.json_extract(table.c.value, f"$[{side}]", type_=BigInteger) for side in (0, 1))
        return Pairs(table, first, second)
    sides = [cast(literal([pair[side] for pair in pairs], _ARRAY), _ARRAY) for side in (0, 1)]
    names = column("first", BigInteger), column("second", BigInteger)
    table = func.unnest(*sides).table_valued(*names).render_derived()
    return Pairs(table, table.c.first, table.c.second)


def as_numbers(dialect: str, values: Sequence[int]) -> list[int] | str:
    """The parameter's value: an array on PostgreSQL, JSON on SQLite."""
    return list(values) if dialect == _POSTGRESQL else json.dumps(list(values))


def gathered(
    dialect: str, values: ColumnElement[int], exist: ColumnElement[bool] | None = None
) -> ColumnElement[Any]:
    """The aggregate of a group's numbers without nulls, which `read_numbers` reads.

    `exist` is true for rows whose number is not null; it saves computing the number twice.
    """
    gather = func.array_agg if dialect == _POSTGRESQL else func.json_group_array
    return type_coerce(gather(values).filter(values.is_not(None) if exist is None else exist), NullType())


def read_numbers(gathered: list[int] | str | None) -> list[int]:
    """The numbers of a group; PostgreSQL returns null for an empty one."""
    return orjson.loads(gathered) if isinstance(gathered, str) else gathered or []


def _type(dialect: str) -> Any:
    return _ARRAY if dialect == _POSTGRESQL else String()


def _table(dialect: str, parameter: BindParameter[list[int] | str]) -> TableValuedAlias:
    value = column("value", BigInteger)
    if dialect == _POSTGRESQL:
        return func.unnest(cast(parameter, _ARRAY)).table_valued(value).render_derived()
    return func.json_each(parameter).table_valued(value)
