"""Days and hours of UTC in SQL: the beginning of a moment's own, and of the next one."""

from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from storage.types import MomentColumn


class Period(StrEnum):
    """A length of time, named as in PostgreSQL."""

    DAY = "day"
    HOUR = "hour"


@lru_cache(maxsize=64)
def hour_of(moment: datetime) -> datetime:
    """The beginning of the hour that contains a moment."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def begins(period: Period, moment: ColumnElement[Any]) -> ColumnElement[datetime]:
    """The beginning of the period that contains the moment."""
    return _Begins(literal_column(period), moment)


def next_begins(period: Period, moment: ColumnElement[Any]) -> ColumnElement[datetime]:
    """The first beginning of a period that is not before the moment."""
    return _NextBegins(literal_column(period), moment)


class _Begins(FunctionElement[datetime]):
    name = "begins"
    type = MomentColumn()
    inherit_cache = True


class _NextBegins(FunctionElement[datetime]):
    name = "next_begins"
    type = MomentColumn()
    inherit_cache = True


_LENGTHS = {Period.DAY: "24 hours", Period.HOUR: "1 hour"}


@compiles(_Begins, "postgresql")
def _begins_on_postgresql(element: _Begins, compiler: Any, **options: Any) -> str:
    period, moment = _parts(element, compiler, options)
    return f"date_trunc('{period}', {moment}, 'UTC')"


@compiles(_NextBegins, "postgresql")
def _next_begins_on_postgresql(element: _NextBegins, compiler: Any, **options: Any) -> str:
    period, moment = _parts(element, compiler, options)
    earlier = f"{moment} - interval '1 microsecond'"
    return f"(date_trunc('{period}', {earlier}, 'UTC') + interval '{_LENGTHS[period]}')"


@compiles(_Begins, "sqlite")
def _begins_on_sqlite(element: _Begins, compiler: Any, **options: Any) -> str:
    return _begins_in_text(*_parts(element, compiler, options))


@compiles(_NextBegins, "sqlite")
def _next_begins_on_sqlite(element: _NextBegins, compiler: Any, **options: Any) -> str:
    period, moment = _parts(element, compiler, options)
    beginning = _begins_in_text(period, moment)
    later = f"({moment} > {beginning}) || ' {period}s'"
    return f"strftime('%Y-%m-%d %H:00:00.000000', {beginning}, {later})"


def _begins_in_text(period: Period, moment: str) -> str:
    if period is Period.DAY:
        return f"(substr({moment}, 1, 10) || ' 00:00:00.000000')"
    return f"(substr({moment}, 1, 13) || ':00:00.000000')"


def _parts(element: Any, compiler: Any, options: dict[str, Any]) -> tuple[Period, str]:
    period, moment = (compiler.process(clause, **options) for clause in element.clauses)
    return Period(period), moment
