"""Moments of a `MomentColumn` as whole microseconds since 1970, in SQL."""

from typing import Any

from sqlalchemy import BigInteger, ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


def microseconds_of(moment: ColumnElement[Any]) -> ColumnElement[int]:
    return _Microseconds(moment)


class _Microseconds(FunctionElement[int]):
    name = "microseconds"
    type = BigInteger()
    inherit_cache = True


@compiles(_Microseconds, "postgresql")
def _on_postgresql(element: _Microseconds, compiler: Any, **options: Any) -> str:
    (moment,) = (compiler.process(clause, **options) for clause in element.clauses)
    return f"CAST(extract(epoch FROM {moment}) * 1000000 AS BIGINT)"


@compiles(_Microseconds, "sqlite")
def _on_sqlite(element: _Microseconds, compiler: Any, **options: Any) -> str:
    # Its functions round to milliseconds, so the fraction is read from the text.
    (moment,) = (compiler.process(clause, **options) for clause in element.clauses)
    whole = f"CAST(strftime('%s', substr({moment}, 1, 19)) AS INTEGER)"
    return f"({whole} * 1000000 + CAST(substr({moment}, 21, 6) AS INTEGER))"
