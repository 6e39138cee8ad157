"""Metrics: the arguments and the answer, whose fields follow from the definitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, cast

import strawberry
from pydantic import (
    AfterValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PrivateAttr,
    ValidationInfo,
    create_model,
    field_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from schema.base import Filters, Output, graphql_type
from schema.columns import ColumnList, KeptByColumn
from schema.fields import WorkspaceIdFilter, is_absent
from schema.scalars import DateInput, Id, Int, Long, Number, Numbers, ZonedMoment, write_number
from storage.enums import Currency
from storage.metrics.definitions import METRICS, Combination, Metric, MetricSlug, Unit
from storage.metrics.periods import FIRST_DATE, LAST_DATE, Interval
from storage.metrics.zones import is_zone, zone_names

for _values in (Combination, Interval, Unit):
    strawberry.enum(_values)
strawberry.enum(MetricSlug)


class _WrittenAsNumber:
    """Makes Pydantic write a sum as the GraphQL scalar does: JSON parsers do not read large ones exactly."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(write_number, when_used="json-unless-none")
        return cast("CoreSchema", {**handler(source), "serialization": written})

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "integer"}


class _BySlug:
    """Makes a list in GraphQL an object in REST, with the slugs of the items as keys."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        items = core_schema.dict_schema(core_schema.str_schema(), handler.generate_schema(MetricInfo))
        written = core_schema.plain_serializer_function_ser_schema(
            _by_slug, return_schema=items, when_used="json"
        )
        return cast("CoreSchema", {**handler(source), "serialization": written})


Whole = Annotated[Long, _WrittenAsNumber()]


def _check_years(value: date) -> date:
    if FIRST_DATE <= value <= LAST_DATE:
        return value
    years = {"first": FIRST_DATE.year, "last": LAST_DATE.year}
    raise PydanticCustomError("date_range", "Input should be within the years {first} to {last}", years)


def _check_zone(name: str) -> str:
    if not is_zone(name):
        message = "Input should be an IANA time zone name, like `Europe/Berlin`"
        raise PydanticCustomError("timezone", message)
    return name


LocalDate = Annotated[DateInput, AfterValidator(_check_years)]


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
            json_schema_extra={"enum": list(zone_names())},
        ),
        AfterValidator(_check_zone),
    ] = "UTC"
    workspace_id: WorkspaceIdFilter = None
    share_id: Annotated[
        list[Id] | None, Field(description="Only activity on these shares.", max_length=100)
    ] = None
    customer_id: Annotated[
        list[Id] | None,
        Field(description="Only activity of these customers, under every id they have had.", max_length=100),
    ] = None
    metrics: Annotated[
        list[MetricSlug] | None,
        Field(max_length=100, description="The metrics to compute; the default is all."),
    ] = None
    currency: Annotated[
        Currency | None,
        Field(
            description="The currency of the amounts. The default is the workspaces' "
            "`default_presentment_currency` if they all have the same one, else `usd`."
        ),
    ] = None

    @field_validator("end_date", mode="after")
    @classmethod
    def _check_order(cls, value: date, info: ValidationInfo) -> date:
        start = info.data.get("start_date")
        if start is not None and value < start:
            message = "Input should not be before start_date, {start}"
            raise PydanticCustomError("date_order", message, {"start": start.isoformat()})
        return value


def _field_of(metric: Metric) -> Any:
    """The field of a metric, absent if the metric was not requested."""
    type_: Any = Whole if metric.is_whole else float
    described = Field(description=f"{metric.display_name}: {metric.description}", exclude_if=is_absent)
    return Annotated[type_ | None, described], None


_fields: dict[str, Any] = {metric.slug: _field_of(metric) for metric in METRICS}


_timestamp: Any = Annotated[
    ZonedMoment,
    Field(
        description="The beginning of the period, in local time of the time zone.",
        json_schema_extra={"format": "date-time"},
    ),
]


@graphql_type
class MetricTotals(create_model("MetricTotals", __base__=Output, **_fields)):  # type: ignore[misc]
    """Each metric over the whole range, taken as one period."""


@graphql_type
class MetricPeriod(
    create_model("MetricPeriod", __base__=Output, timestamp=_timestamp, **_fields)  # type: ignore[misc]
):
    """Each metric in one period."""


@graphql_type
class MetricInfo(Output):
    """A metric's name, unit and definition."""

    slug: MetricSlug
    display_name: str
    unit: Unit
    combines: Combination
    description: Annotated[str, Field(description="The formula in words.")]

    @classmethod
    def of(cls, metric: Metric) -> "MetricInfo":
        return cls(
            slug=MetricSlug(metric.slug),
            display_name=metric.display_name,
            unit=metric.unit,
            combines=metric.combines,
            description=metric.description,
        )


@graphql_type
class MetricSeries(Output):
    """A metric's values, one for each of `timestamps`."""

    slug: MetricSlug
    values: Numbers
    total: Number


def _by_slug(metrics: Sequence[MetricInfo]) -> dict[str, MetricInfo]:
    return {metric.slug.value: metric for metric in metrics}


@graphql_type
class OtherCurrency(Output):
    """Amounts of the same range and filters in another currency."""

    currency: Currency
    file_share_revenue: Whole
    file_share_platform_fees: Whole
    costs: float


@dataclass(frozen=True)
class MetricColumns:
    """The answer by metric, in the order of the definitions: one value per period, and the total."""

    timestamps: list[ZonedMoment]
    values: Mapping[str, Numbers]
    totals: Mapping[str, Number]


@graphql_type
class Metrics(Output):
    """Metrics over a range of dates."""

    periods: Annotated[
        list[MetricPeriod],
        KeptByColumn(),
        Field(description="The periods in order. Local dates that the time zone skipped have none."),
    ]
    totals: MetricTotals
    metrics: Annotated[
        list[MetricInfo],
        _BySlug(),
        Field(description="The definitions of the requested metrics."),
    ]
    currency: Annotated[
        Currency, Field(description="The currency of the amounts, which are in its minor units.")
    ]
    other_currencies: Annotated[
        list[OtherCurrency], Field(description="Amounts in other currencies, in order of the currency codes.")
    ]

    _columns: MetricColumns = PrivateAttr()

    @classmethod
    def with_columns(cls, columns: MetricColumns, **values: Any) -> "Metrics":
        """The answer, with `columns` as the source of `periods`, `totals`, `timestamps` and `series`."""
        periods = ColumnList(MetricPeriod, {"timestamp": columns.timestamps, **columns.values})
        totals = MetricTotals.model_construct(**columns.totals)
        answer = cls.model_construct(periods=cast("list[MetricPeriod]", periods), totals=totals, **values)
        answer._columns = columns
        return answer

    @strawberry.pydantic.field(description="The beginnings of the periods.")
    def timestamps(self) -> list[ZonedMoment]:
        return self._columns.timestamps

    @strawberry.pydantic.field(description="The same values by metric; the fastest form for many periods.")
    def series(self) -> list[MetricSeries]:
        return [
            MetricSeries.model_construct(
                slug=MetricSlug(slug), values=values, total=self._columns.totals[slug]
            )
            for slug, values in self._columns.values.items()
        ]


@graphql_type
class MetricsLimits(Output):
    """The limits of the arguments of metrics."""

    min_date: Annotated[date, Field(description="The earliest `start_date`.")]
    max_date: Annotated[date, Field(description="The latest `end_date`.")]
    max_periods: Annotated[Int, Field(description="The maximum number of periods in a range.")]
    intervals: list[Interval]
    timezones: Annotated[list[str], Field(description="The valid values of `timezone`.")]
