"""Column types that hold the same value on SQLite and on PostgreSQL."""

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from storage.clock import now


class MomentColumn(TypeDecorator[datetime]):
    """An instant in UTC with microseconds; SQLite, which has no time zones, stores UTC without one."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("A moment needs a time zone.")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class CurrentMoment(MomentColumn):
    """The moment at which a statement runs: the type of a place that no value is given for."""

    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return super().process_bind_param(now(), dialect)


# `json.dumps` would make one at each call.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class JsonText(str):
    """The text of a JSON value that was written before it is stored."""

    __slots__ = ()


_EMPTY_OBJECT = JsonText("{}")


def write_json(value: Any) -> JsonText:
    """The text under which a JSON value is stored."""
    if not value and isinstance(value, dict):
        return _EMPTY_OBJECT
    return value if isinstance(value, JsonText) else JsonText(_ENCODER.encode(value))


class JsonColumn(TypeDecorator[Any]):
    """A JSON value as canonical text: PostgreSQL's JSONB would turn 1e22 into an integer."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else write_json(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


class CodePointText(TypeDecorator[str]):
    """Text that sorts by code point on both databases, regardless of the server's locale."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        return dialect.type_descriptor(Text(collation="C" if dialect.name == "postgresql" else None))
