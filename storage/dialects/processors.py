"""What makes a value of a column's type one of the driver's, and the reverse; None if both are the same."""

from collections.abc import Callable
from typing import Any

from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeEngine

Processor = Callable[[Any], Any]


def to_driver(type_: TypeEngine[Any], dialect: Dialect) -> Processor | None:
    return type_.dialect_impl(dialect).bind_processor(dialect)


def from_driver(type_: TypeEngine[Any], dialect: Dialect) -> Processor | None:
    return type_.dialect_impl(dialect).result_processor(dialect, None)
