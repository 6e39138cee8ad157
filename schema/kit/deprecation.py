"""Deprecations: what ends, when, and what replaces it, declared once for both surfaces."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from email.utils import format_datetime
from typing import Any

from pydantic import GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema

REASON = "x-reason"
# docs/versions.md promises it.
SHORTEST_NOTICE = timedelta(days=365)


@dataclass(frozen=True)
class Deprecation:
    """`instead` says what to use, as a sentence. `since` and `ends` are dates in UTC.

    It is declared as `@requires(..., deprecation=...)` for an operation, and among the metadata of a field's
    annotation for a field, an argument or a filter. Raises `ValueError` if the notice is too short.
    """

    instead: str
    since: date
    ends: date

    def __post_init__(self) -> None:
        if self.ends - self.since < SHORTEST_NOTICE:
            raise ValueError(f"A deprecation should be announced {SHORTEST_NOTICE.days} days ahead.")

    @property
    def reason(self) -> str:
        """For the contracts."""
        return f"{self.instead} Ends on {self.ends.isoformat()}."

    @property
    def flags(self) -> dict[str, Any]:
        """For OpenAPI, whose document has the reason in the description."""
        return {"deprecated": True, REASON: self.reason}

    @property
    def headers(self) -> Mapping[str, str]:
        """`Deprecation` (RFC 9745) and `Sunset` (RFC 8594), for the answers of REST."""
        since, ends = _midnight(self.since), _midnight(self.ends)
        return {"Deprecation": f"@{int(since.timestamp())}", "Sunset": format_datetime(ends, usegmt=True)}

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), **self.flags}


def deprecation_of(field: FieldInfo) -> Deprecation | None:
    """The deprecation among the metadata of the field's annotation."""
    return next((item for item in field.metadata if isinstance(item, Deprecation)), None)


def reason_of(field: FieldInfo) -> str | None:
    """The reason in GraphQL's `@deprecated`; None if the field is not deprecated."""
    deprecation = deprecation_of(field)
    return None if deprecation is None else deprecation.reason


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
