"""Types of single values: how both surfaces read and write them."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from math import isfinite
from typing import Annotated, Any, NewType, cast
from urllib.parse import urlsplit
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

from schema.values.integers import LARGEST_INT, LARGEST_LONG, SMALLEST_INT
from schema.values.standard_scalars import float_scalar, id_scalar

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

Long = NewType("Long", int)
ZonedMoment = NewType("ZonedMoment", str)


def write_moment(moment: datetime) -> str:
    """Like `2026-01-31T09:30:00.000000Z`: in UTC, always with six decimal places."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def write_number(value: float) -> float:
    """An integer that every JSON parser reads exactly stays as it is; others become the nearest double."""
    return value if abs(value) <= LARGEST_LONG else float(value)


class WrittenNumbers(list[float]):
    """Numbers as `write_numbers` gives them: no writer has to look at each again."""


def write_numbers(values: list[float]) -> WrittenNumbers:
    """Each value as `write_number` writes it; usually all are small and stay as they are."""
    if values and min(values) >= -LARGEST_LONG and max(values) <= LARGEST_LONG:
        return WrittenNumbers(values)
    return WrittenNumbers(write_number(value) for value in values)


def _write_double(value: Any) -> float:
    """As `write_number`. Raises `ValueError` for what JSON has no number for."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"Float cannot represent {value!r}.")
    return write_number(value)


def _only_text(value: Any) -> Any:
    if isinstance(value, str | datetime | date | UUID):
        return value
    raise PydanticCustomError("string_type", "Input should be a valid string")


def _whole(value: Any) -> Any:
    # JSON has one number type: 2.0 is the integer 2, as in GraphQL and JSON Schema.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _only_moment(value: Any) -> Any:
    # Pydantic would read "1700000000" as seconds since 1970; ISO 8601 begins with the year and a dash.
    if isinstance(value, str) and value[4:5] != "-":
        raise PydanticCustomError("datetime_parsing", "Input should be an ISO 8601 date-time")
    return _only_text(value)


def _only_date(value: Any) -> Any:
    # Pydantic would also read date-times at midnight and seconds since 1970 as dates.
    if isinstance(value, str) and not _DATE.fullmatch(value):
        raise PydanticCustomError("date_parsing", "Input should be an ISO 8601 date, like `2026-01-31`")
    return _only_text(value)


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise PydanticCustomError("timezone_aware", "Input should have a UTC offset, like `Z` or `+01:00`")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise PydanticCustomError(
            "datetime_range", "Input should be within the years 1 to 9999 in UTC"
        ) from None


def check_text(text: str) -> None:
    """Raises for characters that PostgreSQL cannot store or JSON should not contain."""
    if "\x00" in text:
        raise PydanticCustomError("string_nul", "Input should not contain the NUL character")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise PydanticCustomError("string_unicode", "Input should not contain lone surrogates") from None


def _check_email(address: str) -> str:
    """The address in NFC, checked by its syntax only, without DNS.

    A local part that NFKC changes looks like another one and could impersonate it.
    """
    try:
        validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        raise PydanticCustomError(
            "email", "Input should be an email address: {reason}", {"reason": str(error)}
        ) from None
    composed = unicodedata.normalize("NFC", address)
    local, _, _ = composed.rpartition("@")
    if unicodedata.normalize("NFKC", local) != local:
        raise PydanticCustomError(
            "email_characters",
            "Input should be an email address: the part before the @-sign contains a ligature, a full-width "
            "letter or a compatibility character; use plain letters",
        )
    return composed


_url = TypeAdapter(AnyUrl)


def check_syntax(address: str) -> str:
    """The URL as sent, of any scheme.

    Two parsers must read it: Python's refuses hosts in which NFKC makes a `/` or `@` of another character.
    """
    try:
        _ = _url.validate_python(address), urlsplit(address).port
    except ValueError:
        raise PydanticCustomError("url_parsing", "Input should be a valid URL") from None
    return address


def check_url(address: str) -> str:
    """The URL as sent, if its scheme is http or https: `javascript:` must not pass."""
    url = _url.validate_python(check_syntax(address))
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
# Stored addresses may be older than the present rules.
StoredEmail = Annotated[str, Field(json_schema_extra={"format": "email"})]
Url = Annotated[
    str,
    Field(min_length=1, max_length=2083, json_schema_extra={"format": "uri"}),
    AfterValidator(check_url),
]


class _WrittenInFull:
    """Makes Pydantic write a moment as the GraphQL scalar does, with six decimal places.

    A class, because Strawberry rejects Pydantic's `PlainSerializer`.
    """

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
    """The value as it is: Pydantic validates it afterwards, with the same messages as over REST."""
    return value


_RFC = "https://www.rfc-editor.org/rfc"
DATES_AND_TIMES, DATES = f"{_RFC}/rfc3339#section-5.6", f"{_RFC}/rfc3339#appendix-A"
EXACT_INTEGERS = f"{_RFC}/rfc7493#section-2.2"
OBJECTS, HEADER_FIELDS = f"{_RFC}/rfc8259#section-4", f"{_RFC}/rfc9110#section-5"
DECIMALS = "https://www.w3.org/TR/xmlschema11-2/#decimal"

SCALARS: dict[object, Any] = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="An ISO 8601 date-time in UTC with six decimal places, like "
        "`2026-01-31T09:30:00.000000Z`.",
        specified_by_url=DATES_AND_TIMES,
        serialize=write_moment,
        parse_value=_as_sent,
    ),
    UUID: id_scalar(),
    Long: strawberry.scalar(
        name="Long",
        description="An integer from -(2^53-1) to 2^53-1, which every JSON parser reads exactly.",
        specified_by_url=EXACT_INTEGERS,
        serialize=write_number,
        parse_value=_as_sent,
    ),
    date: strawberry.scalar(
        name="Date",
        description="An ISO 8601 date, like `2026-01-31`.",
        specified_by_url=DATES,
        serialize=date.isoformat,
        parse_value=_as_sent,
    ),
    float: float_scalar(_write_double),
    ZonedMoment: strawberry.scalar(
        name="ZonedDateTime",
        description="An ISO 8601 date-time with six decimal places and a UTC offset, like "
        "`2025-09-07T01:00:00.000000-03:00`.",
        specified_by_url=DATES_AND_TIMES,
        serialize=str,
    ),
}


def _integers(smallest: int, largest: int) -> tuple[type, Callable[[list[Any]], bool]]:
    return int, lambda values: smallest <= min(values) and max(values) <= largest


def _always(values: list[Any]) -> bool:
    return True


# By GraphQL name: the class of values that the scalar writes unchanged, and the condition for a list of them.
# One non-finite value makes the sum non-finite; if the sum overflows, we merely take the slow path.
UNCHANGED: Mapping[str, tuple[type, Callable[[list[Any]], bool]]] = {
    "Boolean": (bool, _always),
    "Float": (float, lambda values: isfinite(sum(values))),
    "Int": _integers(SMALLEST_INT, LARGEST_INT),
    "Long": _integers(-LARGEST_LONG, LARGEST_LONG),
    "String": (str, _always),
    "ZonedDateTime": (str, _always),
}


def leaves_unchanged(scalar: str, kinds: set[type], values: list[Any]) -> bool:
    """Whether the scalar of this name writes all `values`, whose classes are `kinds`, unchanged."""
    kind, condition = UNCHANGED.get(scalar, (None, _always))
    return kinds == {kind} and condition(values)
