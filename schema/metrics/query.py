"""The arguments of metrics: a range of dates, an interval and filters."""

from collections.abc import Collection
from typing import Annotated, Any

import strawberry
from pydantic import AfterValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from schema.kit.base import Filters
from schema.kit.fields import WorkspaceIdFilter
from schema.values.dates import ZONE_PATTERN, LocalDate, check_order, check_zone
from schema.values.scalars import Id
from schema.values.spreadsheets import CsvFormat
from storage.enums import Currency
from storage.metrics.definitions import MetricSlug
from storage.metrics.grouping.groups import Grouping
from storage.metrics.periods import FIRST_DATE, ComparedRange, Interval

for _values in (ComparedRange, Grouping, Interval, MetricSlug):
    strawberry.enum(_values)

MOST_GROUPS = 100


class MetricsQuery(Filters):
    """The arguments of metrics: a range of dates, an interval and filters."""

    start_date: Annotated[LocalDate, Field(description="The first date of the range, 1973 or later.")]
    end_date: Annotated[
        LocalDate, Field(description="The last date of the range, included; 2200 or earlier.")
    ]
    interval: Annotated[
        Interval, Field(description="The length of a period. A range has at most 10,000 periods.")
    ]
    timezone: Annotated[
        str,
        Field(
            min_length=1,
            description="The IANA time zone in which dates and periods begin and end.",
            json_schema_extra={"pattern": ZONE_PATTERN, "example": "Europe/Berlin"},
        ),
        AfterValidator(check_zone),
    ] = "UTC"
    workspace_id: WorkspaceIdFilter = None
    include_test: Annotated[
        bool,
        Field(
            description="Whether test workspaces count too where no `workspace_id` names them. A credential "
            "that has access to test workspaces only gets theirs anyway."
        ),
    ] = False
    share_id: Annotated[
        list[Id] | None, Field(description="Only activity on these shares.", max_length=100)
    ] = None
    customer_id: Annotated[
        list[Id] | None,
        Field(description="Only activity of these customers, under every id they have had.", max_length=100),
    ] = None
    metrics: Annotated[
        list[MetricSlug] | None,
        Field(
            max_length=100,
            description="The metrics to compute, in the order of the answer; the default is all.",
        ),
    ] = None
    currency: Annotated[
        Currency | None,
        Field(
            description="The currency of the amounts. The default is the workspaces' "
            "`default_presentment_currency` if they all have the same one, else `usd`. Over GraphQL, null "
            "also asks for `groups` by currency, unless `group_by` asks for others."
        ),
    ] = None

    compare: Annotated[
        ComparedRange | None,
        Field(
            description="A range to compare with, answered in `comparison`: `previous` has as many dates and "
            "ends the day before `start_date`; `previous_month` and `previous_year` have the same dates a "
            "month or a year before, the last of the month for dates that it lacks."
        ),
    ] = None

    group_by: Annotated[
        Grouping | None,
        Field(
            description="What to group by, answered in `groups`: `share`, `customer` and `event_name` need "
            "the scope to read these; `currency` gives every currency side by side."
        ),
    ] = None
    top: Annotated[
        int,
        Field(
            ge=1,
            le=MOST_GROUPS,
            description="The number of groups, those with the largest totals; all others are one group, the "
            "last. Currencies are always all shown.",
        ),
    ] = 10
    top_by: Annotated[
        MetricSlug | None,
        Field(
            description="The metric whose totals in the range rank the groups; the default is the first of "
            "`metrics`, with `compare` by the larger total of both ranges."
        ),
    ] = None

    @classmethod
    def of_arguments(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        """The same; a `currency` of null, without `group_by`, asks for every currency side by side."""
        data = super().of_arguments(arguments)
        if "currency" in arguments and arguments["currency"] is None:
            data.setdefault("group_by", Grouping.CURRENCY)
        return data

    @classmethod
    def selecting(cls) -> Collection[str]:
        return ("workspace_id", "share_id", "customer_id")

    @property
    def most_groups(self) -> int:
        """The number of groups that the answer may have at most; 0 without `group_by`."""
        if self.group_by is None:
            return 0
        return len(Currency) if self.group_by is Grouping.CURRENCY else self.top + 1

    _check_order = field_validator("end_date", mode="after")(check_order)

    @field_validator("compare", mode="after")
    @classmethod
    def _check_compared_years(cls, value: ComparedRange | None, info: ValidationInfo) -> ComparedRange | None:
        start, end = info.data.get("start_date"), info.data.get("end_date")
        if value is None or start is None or end is None:
            return value
        if value.dates(start, end)[0] < FIRST_DATE:
            message = "Input should be a range that begins in {first} or later"
            raise PydanticCustomError("date_range", message, {"first": FIRST_DATE.year})
        return value

    @field_validator("top_by", mode="after")
    @classmethod
    def _check_groups(cls, value: MetricSlug | None, info: ValidationInfo) -> MetricSlug | None:
        if value is not None and "group_by" in info.data and info.data["group_by"] is None:
            raise PydanticCustomError("needs_group_by", "Input should be left out without group_by")
        return value


class MetricsExportQuery(MetricsQuery):
    """The arguments of metrics as a CSV file."""

    format: Annotated[
        CsvFormat,
        Field(
            description="How texts are written that a spreadsheet would run, like a customer named `=1+1`: "
            "`spreadsheet` puts an apostrophe before them, `raw` writes them exactly."
        ),
    ] = CsvFormat.SPREADSHEET
