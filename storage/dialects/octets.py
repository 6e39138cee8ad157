"""The bytes that a text takes in UTF-8, in SQL."""

from typing import Any

from sqlalchemy import BigInteger, ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


def octets_of(text: ColumnElement[Any]) -> ColumnElement[int]:
    """The bytes of the text, 0 for null."""
    return _Octets(text)


class _Octets(FunctionElement[int]):
    name = "octets"
    type = BigInteger()
    inherit_cache = True


@compiles(_Octets, "postgresql")
def _on_postgresql(element: _Octets, compiler: Any, **options: Any) -> str:
    # It is in the head of the value, so a long one is not read.
    return f"coalesce(octet_length({compiler.process(element.clauses, **options)}), 0)"


@compiles(_Octets, "sqlite")
def _on_sqlite(element: _Octets, compiler: Any, **options: Any) -> str:
    return f"coalesce(length(CAST({compiler.process(element.clauses, **options)} AS BLOB)), 0)"
