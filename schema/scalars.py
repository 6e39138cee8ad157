"""The types of single values: how strictly they are read and how they are written, alike on both surfaces."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from math import isfinite
from typing import Annotated, Any, NewType, cast
from uuid import UUID

import strawberry
from email_validator import EmailNotValidError, validate_email
from pydantic import (
    AfterValidator,
    AnyUrl,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    TypeAdapter,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

SMALLEST_INT, LARGEST_INT = -(2**31), 2**31 - 1
LARGEST_LONG = 2**53 - 1
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

Long = NewType("Long", int)
Number = NewType("Number", float)
Numbers = NewType("Numbers", list[float])
ZonedMoment = NewType("ZonedMoment", str)


def write_moment(moment: datetime) -> str:
    """`2026-01-31T09:30:00.000000Z`: UTC, always six digits."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def write_number(value: float) -> float:
    """An integer as it is where every JSON reader holds it exactly, else the nearest double."""
    return value if abs(value) <= LARGEST_LONG else float(value)


def write_numbers(values: list[float]) -> list[float]:
    """Each written as a number; mostly all are small, and stay as they are."""
    if values and min(values) >= -LARGEST_LONG and max(values) <= LARGEST_LONG:
        return values
    return [write_number(value) for value in values]


def _only_text(value: Any) -> Any:
    if isinstance(value, str | datetime | date | UUID):
        return value
    raise PydanticCustomError("string_type", "Input should be a valid string")


def _whole(value: Any) -> Any:
    # JSON has one kind of number: 2.0 is the integer 2, as in GraphQL and JSON Schema.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _only_moment(value: Any) -> Any:
    # Pydantic reads "1700000000" as seconds since 1970; ISO 8601 begins with the year and a dash.
    if isinstance(value, str) and value[4:5] != "-":
        raise PydanticCustomError("datetime_parsing", "Input should be an ISO 8601 date-time")
    return _only_text(value)


def _only_date(value: Any) -> Any:
    # Pydantic reads date-times at midnight and seconds since 1970 as dates too.
    if isinstance(value, str) and not _DATE.fullmatch(value):
        raise PydanticCustomError("date_parsing", "Input should be an ISO 8601 date, like `2026-01-31`")
    return _only_text(value)


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise PydanticCustomError("timezone_aware", "Input should have an offset, like `Z` or `+01:00`")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise PydanticCustomError("datetime_range", "Input is outside the years 1 to 9999 in UTC") from None


def check_text(text: str) -> None:
    """Raises for what PostgreSQL cannot store and JSON should not hold."""
    if "\x00" in text:
        raise PydanticCustomError("string_nul", "Input should not contain the NUL character")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise PydanticCustomError("string_unicode", "Input should not contain lone surrogates") from None


def _check_email(address: str) -> str:
    """The address in NFC, if it has the form of one; nothing is asked of the network.

    A local part that changes under NFKC looks like another one, and could stand for it.
    """
    try:
        validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        raise PydanticCustomError(
            "email", "Input should be an e-mail address: {reason}", {"reason": str(error)}
        ) from None
    composed = unicodedata.normalize("NFC", address)
    local, _, _ = composed.rpartition("@")
    if unicodedata.normalize("NFKC", local) != local:
        raise PydanticCustomError(
            "email_characters",
            "Input should be an e-mail address: the part before the @-sign has a ligature, a full-width "
            "or an old form of a letter; write the plain letters",
        )
    return composed


_url = TypeAdapter(AnyUrl)


def _check_url(address: str) -> str:
    """The address as sent, if it is http or https: `javascript:` must not pass."""
    try:
        url = _url.validate_python(address)
    except ValueError:
        raise PydanticCustomError("url_parsing", "Input should be a valid URL") from None
    if url.scheme not in ("http", "https") or not url.host or address != address.strip():
        raise PydanticCustomError("url_scheme", "Input should be an http or https URL")
    return address


Bool = Annotated[bool, Strict()]
Int = Annotated[int, BeforeValidator(_whole), Strict(), Field(ge=SMALLEST_INT, le=LARGEST_INT)]
LongInt = Annotated[Long, BeforeValidator(_whole), Strict(), Field(ge=-LARGEST_LONG, le=LARGEST_LONG)]
Id = Annotated[UUID, BeforeValidator(_only_text)]
Email = Annotated[
    str, Field(max_length=320, json_schema_extra={"format": "email"}), AfterValidator(_check_email)
]
# What is kept may be older than the rules of today.
StoredEmail = Annotated[str, Field(json_schema_extra={"format": "email"})]
Url = Annotated[
    str,
    Field(min_length=1, max_length=2083, json_schema_extra={"format": "uri"}),
    AfterValidator(_check_url),
]


class _WrittenInFull:
    """Pydantic's part of what the GraphQL scalar does by itself: six digits, always."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(
            write_moment, return_schema=core_schema.str_schema(), when_used="json-unless-none"
        )
        return cast("CoreSchema", {**handler(source), "serialization": written})

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "format": "date-time"}


Moment = Annotated[datetime, _WrittenInFull()]
DateInput = Annotated[date, BeforeValidator(_only_date)]
MomentInput = Annotated[datetime, BeforeValidator(_only_moment), AfterValidator(_in_utc)]


def _as_sent(value: Any) -> Any:
    """Pydantic reads the value afterwards, with the same message as over REST."""
    return value


def _write_id(value: Any) -> str:
    return str(value)


SCALARS: dict[object, Any] = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="ISO 8601 in UTC with six digits, like `2026-01-31T09:30:00.000000Z`.",
        serialize=write_moment,
        parse_value=_as_sent,
    ),
    UUID: strawberry.scalar(
        name="UUID", description="A UUID, like `9f1c2d3e-...`.", serialize=_write_id, parse_value=_as_sent
    ),
    Long: strawberry.scalar(
        name="Long",
        description="An integer up to 2^53-1 in size, which every JSON reader holds exactly.",
        serialize=write_number,
        parse_value=_as_sent,
    ),
    date: strawberry.scalar(
        name="Date",
        description="An ISO 8601 date, like `2026-01-31`.",
        serialize=date.isoformat,
        parse_value=_as_sent,
    ),
    Number: strawberry.scalar(
        name="Number", description="A JSON number: an integer, or a double.", serialize=write_number
    ),
    Numbers: strawberry.scalar(
        name="Numbers",
        description="A whole column of JSON numbers as one value.",
        serialize=write_numbers,
    ),
    ZonedMoment: strawberry.scalar(
        name="ZonedDateTime",
        description="ISO 8601 with six digits and an offset: `2025-09-07T01:00:00.000000-03:00`.",
        serialize=str,
    ),
}


def _integers(smallest: int, largest: int) -> tuple[type, Callable[[list[Any]], bool]]:
    return int, lambda values: smallest <= min(values) and max(values) <= largest


def _always(values: list[Any]) -> bool:
    return True


# By GraphQL name, scalars that write values of a class as they are, if the values are like this. What is not
# finite makes a sum that is not; a sum that overflows only costs the short cut.
UNCHANGED: Mapping[str, tuple[type, Callable[[list[Any]], bool]]] = {
    "Boolean": (bool, _always),
    "Float": (float, lambda values: isfinite(sum(values))),
    "Int": _integers(SMALLEST_INT, LARGEST_INT),
    "Long": _integers(-LARGEST_LONG, LARGEST_LONG),
    "String": (str, _always),
    "ZonedDateTime": (str, _always),
}


def leaves_unchanged(scalar: str, kinds: set[type], values: list[Any]) -> bool:
    """Whether the scalar of this name would write each of the values as it is; they are of these classes."""
    kind, are_fit = UNCHANGED.get(scalar, (None, _always))
    return kinds == {kind} and are_fit(values)
