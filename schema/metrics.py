"""Metrics, as callers ask for them and get them; the fields follow from the definitions."""

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
    """Pydantic's part of what the GraphQL scalar does: a sum may pass what JSON readers hold exactly."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(write_number, when_used="json-unless-none")
        return cast("CoreSchema", {**handler(source), "serialization": written})

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "integer"}


class _BySlug:
    """A list in GraphQL is an object in REST, by the slugs of its items."""

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
    raise PydanticCustomError("date_range", "Input should be in the years {first} to {last}", years)


def _check_zone(name: str) -> str:
    if not is_zone(name):
        message = "Input should be an IANA time zone name, like `Europe/Berlin`"
        raise PydanticCustomError("timezone", message)
    return name


LocalDate = Annotated[DateInput, AfterValidator(_check_years)]


class MetricsQuery(Filters):
    """Which metrics, of what, over which dates."""

    start_date: Annotated[LocalDate, Field(description="The first date, from its beginning; from 1973 on.")]
    end_date: Annotated[LocalDate, Field(description="The last date, to its end; until 2200.")]
    interval: Annotated[Interval, Field(description="The length of a period; 10,000 at most are answered.")]
    timezone: Annotated[
        str,
        Field(
            min_length=1,
            description="The IANA time zone whose clocks and calendar divide the time.",
            json_schema_extra={"enum": list(zone_names())},
        ),
        AfterValidator(_check_zone),
    ] = "UTC"
    workspace_id: WorkspaceIdFilter = None
    share_id: Annotated[list[Id] | None, Field(description="Only of these shares.", max_length=100)] = None
    customer_id: Annotated[
        list[Id] | None, Field(description="Only of these customers, by every id they had.", max_length=100)
    ] = None
    metrics: Annotated[
        list[MetricSlug] | None,
        Field(max_length=100, description="Only these are computed and answered; the default is all."),
    ] = None
    currency: Annotated[
        Currency | None,
        Field(
            description="The money that is counted. The default is the workspaces' "
            "`default_presentment_currency` where they share one, else `usd`."
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
    """The type of a metric's value, absent where it was not asked for."""
    bare: Any = Whole if metric.is_whole else float
    described = Field(description=f"{metric.display_name}: {metric.description}", exclude_if=is_absent)
    return Annotated[bare | None, described], None


_fields: dict[str, Any] = {metric.slug: _field_of(metric) for metric in METRICS}


_timestamp: Any = Annotated[
    ZonedMoment,
    Field(
        description="When it begins, as the clocks of the zone show it.",
        json_schema_extra={"format": "date-time"},
    ),
]


@graphql_type
class MetricTotals(create_model("MetricTotals", __base__=Output, **_fields)):  # type: ignore[misc]
    """Each metric over the whole range as one period."""


@graphql_type
class MetricPeriod(
    create_model("MetricPeriod", __base__=Output, timestamp=_timestamp, **_fields)  # type: ignore[misc]
):
    """Each metric in one period."""


@graphql_type
class MetricInfo(Output):
    """What a metric is."""

    slug: MetricSlug
    display_name: str
    unit: Unit
    combines: Combination
    description: Annotated[str, Field(description="Its formula in words.")]

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
    """A metric's column: one value for each of `timestamps`."""

    slug: MetricSlug
    values: Numbers
    total: Number


def _by_slug(metrics: Sequence[MetricInfo]) -> dict[str, MetricInfo]:
    return {metric.slug.value: metric for metric in metrics}


@graphql_type
class OtherCurrency(Output):
    """Money of the same range and filters in a currency that was not asked for."""

    currency: Currency
    file_share_revenue: Whole
    file_share_platform_fees: Whole
    costs: float


@dataclass(frozen=True)
class MetricColumns:
    """The answer by metric, in the order of the definitions: a value for each period, and the total."""

    timestamps: list[ZonedMoment]
    values: Mapping[str, Numbers]
    totals: Mapping[str, Number]


@graphql_type
class Metrics(Output):
    """Metrics over a range of dates."""

    periods: Annotated[
        list[MetricPeriod],
        KeptByColumn(),
        Field(description="In order; dates that never were have none."),
    ]
    totals: MetricTotals
    metrics: Annotated[
        list[MetricInfo],
        _BySlug(),
        Field(description="What the metrics that were asked for are."),
    ]
    currency: Annotated[Currency, Field(description="The money counted, in its minor units.")]
    other_currencies: Annotated[
        list[OtherCurrency], Field(description="What the currency leaves out; in order of their codes.")
    ]

    _columns: MetricColumns = PrivateAttr()

    @classmethod
    def with_columns(cls, columns: MetricColumns, **values: Any) -> "Metrics":
        """The answer with what `periods`, `totals`, `timestamps` and `series` are made from."""
        periods = ColumnList(MetricPeriod, {"timestamp": columns.timestamps, **columns.values})
        totals = MetricTotals.model_construct(**columns.totals)
        answer = cls.model_construct(periods=cast("list[MetricPeriod]", periods), totals=totals, **values)
        answer._columns = columns
        return answer

    @strawberry.pydantic.field(description="When the periods begin.")
    def timestamps(self) -> list[ZonedMoment]:
        return self._columns.timestamps

    @strawberry.pydantic.field(description="The same values by metric: whole columns, for many periods.")
    def series(self) -> list[MetricSeries]:
        return [
            MetricSeries.model_construct(
                slug=MetricSlug(slug), values=values, total=self._columns.totals[slug]
            )
            for slug, values in self._columns.values.items()
        ]


@graphql_type
class MetricsLimits(Output):
    """The bounds of what can be asked."""

    min_date: Annotated[date, Field(description="The earliest `start_date`.")]
    max_date: Annotated[date, Field(description="The latest `end_date`.")]
    max_periods: Annotated[Int, Field(description="The most periods of one answer.")]
    intervals: list[Interval]
    timezones: Annotated[list[str], Field(description="Every name that `timezone` takes.")]
