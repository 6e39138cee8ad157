"""Lists of what happened in a range of dates, which is that of metrics."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator

from schema.kit.pages import ChangesQuery
from schema.values.dates import ZONE_PATTERN, LocalDate, check_order, check_zone
from storage.metrics.periods import instants_of


class RangeQuery(ChangesQuery):
    """The arguments of a list that a range of dates restricts, with the same ends as in metrics."""

    start_date: Annotated[
        LocalDate | None,
        Field(description="Only what happened on this date or later; as in metrics, 1973 or later."),
    ] = None
    end_date: Annotated[
        LocalDate | None,
        Field(description="Only what happened on this date or earlier; as in metrics, 2200 or earlier."),
    ] = None
    timezone: Annotated[
        str,
        Field(
            min_length=1,
            description="The IANA time zone in which the dates begin and end.",
            json_schema_extra={"pattern": ZONE_PATTERN},
        ),
        AfterValidator(check_zone),
    ] = "UTC"

    _check_order = field_validator("end_date", mode="after")(check_order)

    def sent(self) -> dict[str, Any]:
        """The filters with a value; those for dates are the instants at which the range begins and ends."""
        return super().sent() | self.instants()

    def instants(self) -> dict[str, datetime]:
        """The instants at which the range begins and ends, by argument."""
        first, last = self.start_date or self.end_date, self.end_date or self.start_date
        if first is None or last is None:
            return {}
        ends = dict(zip(("start_date", "end_date"), instants_of(first, last, self.timezone), strict=True))
        return {name: moment for name, moment in ends.items() if getattr(self, name) is not None}
