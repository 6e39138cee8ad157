"""Ranges of local dates, as metrics and the lists behind them take them."""

from datetime import date
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from schema.values.scalars import DateInput
from storage.metrics.periods import FIRST_DATE, LAST_DATE
from storage.metrics.zones import is_zone


def _check_years(value: date) -> date:
    if FIRST_DATE <= value <= LAST_DATE:
        return value
    years = {"first": FIRST_DATE.year, "last": LAST_DATE.year}
    raise PydanticCustomError("date_range", "Input should be within the years {first} to {last}", years)


# The form of every zone's name; `metrics/limits` lists the names.
ZONE_PATTERN = r"^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}$"
LocalDate = Annotated[DateInput, AfterValidator(_check_years)]


def check_zone(name: str) -> str:
    """Checks the name of a time zone."""
    if not is_zone(name):
        message = "Input should be an IANA time zone name, like `Europe/Berlin`"
        raise PydanticCustomError("timezone", message)
    return name


def check_order(end: date | None, info: ValidationInfo) -> date | None:
    """Checks that `end_date` is not before `start_date`; either may be absent."""
    start = info.data.get("start_date")
    if start is not None and end is not None and end < start:
        message = "Input should not be before start_date, {start}"
        raise PydanticCustomError("date_order", message, {"start": start.isoformat()})
    return end
