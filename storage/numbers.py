"""Whole numbers as one parameter of a statement, however many they are, to be joined with."""

import json
from collections.abc import Sequence

from sqlalchemy import ARRAY, BigInteger, TableValuedAlias, cast, column, func, literal
from sqlalchemy.ext.asyncio import AsyncConnection


def numbers(connection: AsyncConnection, values: Sequence[int]) -> TableValuedAlias:
    """A table of the connection's database with these numbers in its column `value`."""
    return numbers_in(connection.dialect.name, values)


def numbers_in(dialect: str, values: Sequence[int]) -> TableValuedAlias:
    """The same, for a statement that is built apart from a connection."""
    value = column("value", BigInteger)
    if dialect == "postgresql":
        array = cast(literal(list(values), ARRAY(BigInteger)), ARRAY(BigInteger))
        return func.unnest(array).table_valued(value).render_derived()
    return func.json_each(literal(json.dumps(values))).table_valued(value)
