"""The answer of metrics, whose fields follow from the definitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Self, cast

import strawberry
from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, PrivateAttr, create_model
from pydantic_core import CoreSchema, core_schema

from schema.kit.base import Output, graphql_type
from schema.kit.columns import ColumnList, KeptByColumn
from schema.kit.fields import is_absent
from schema.metrics.rows import MetricRows
from schema.values.scalars import Int, Long, ZonedMoment, write_number
from storage.enums import Currency
from storage.metrics.definitions import METRICS, Combination, Metric, MetricSlug, Unit
from storage.metrics.periods import Interval

for _values in (Combination, Unit):
    strawberry.enum(_values)


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


_NO_TOTALS: dict[str, Any] = dict.fromkeys(_fields)
_is_complete: Any = Annotated[
    bool,
    Field(description="Whether the period is over; the values of one that is not can still change."),
]


@graphql_type
class MetricPeriod(
    create_model(  # type: ignore[misc]
        "MetricPeriod", __base__=Output, timestamp=_timestamp, is_complete=_is_complete, **_fields
    )
):
    """Each metric in one period."""


@graphql_type
class MetricInfo(Output):
    """A metric's name, unit and definition."""

    slug: MetricSlug
    display_name: str
    unit: Unit
    combines: Combination
    exponent: Annotated[
        Int | None,
        Field(
            description="The decimal places of the currency, for money: 2 for `usd`, whose amounts are in "
            "cents, 0 for `jpy`. Null for other units."
        ),
    ]
    description: Annotated[str, Field(description="The formula in words.")]

    @classmethod
    def of(cls, metric: Metric, currency: Currency) -> "MetricInfo":
        return cls(
            slug=MetricSlug(metric.slug),
            display_name=metric.display_name,
            unit=metric.unit,
            combines=metric.combines,
            exponent=currency.exponent if metric.unit is Unit.MONEY else None,
            description=metric.description,
        )


@graphql_type
class MetricSeries(Output):
    """A metric's values, one for each of `timestamps`."""

    slug: MetricSlug
    values: list[float]
    total: float


def _by_slug(metrics: Sequence[MetricInfo]) -> dict[str, MetricInfo]:
    return {metric.slug.value: metric for metric in metrics}


@graphql_type
class OtherCurrency(Output):
    """Amounts of the same range and filters in another currency."""

    currency: Currency
    exponent: Annotated[Int, Field(description="The decimal places of the currency.")]
    file_share_revenue: Whole
    file_share_platform_fees: Whole
    costs: float


@dataclass(frozen=True)
class MetricColumns:
    """The answer by metric, in the order asked: one value per period, and the total."""

    timestamps: list[ZonedMoment]
    are_complete: list[bool]
    values: dict[str, list[float]]
    totals: dict[str, float]


class MeasuredRange(Output):
    """A range of dates, divided into periods."""

    periods: Annotated[
        list[MetricPeriod],
        KeptByColumn(),
        Field(description="The periods in order. Local dates that the time zone skipped have none."),
    ]
    totals: MetricTotals
    rows: Annotated[
        list[MetricRows],
        Field(
            description="The calls that list what `totals` count, by metric in the order asked: their rows, "
            "taken as `part` and `value` say, make the total. A group has no call for rows that it cannot "
            "have, like payments of an event's name; what is missing counts 0."
        ),
    ]

    _columns: MetricColumns = PrivateAttr()

    @classmethod
    def with_columns(cls, columns: MetricColumns, **values: Any) -> Self:
        """The answer, with `columns` as the source of `periods`, `totals`, `timestamps` and `series`."""
        periods = ColumnList(
            MetricPeriod,
            {"timestamp": columns.timestamps, "is_complete": columns.are_complete, **columns.values},
        )
        totals = MetricTotals.made(**_NO_TOTALS | columns.totals)
        answer = cls.made(periods=periods, totals=totals, **values)
        object.__setattr__(answer, "__pydantic_private__", {"_columns": columns})
        return answer

    @strawberry.pydantic.field(description="The beginnings of the periods.")
    def timestamps(self) -> list[ZonedMoment]:
        return self._columns.timestamps

    @strawberry.pydantic.field(
        description="The same values by metric, in the order asked; the fastest form for many periods."
    )
    def series(self) -> list[MetricSeries]:
        return [
            MetricSeries.made(slug=MetricSlug(slug), values=values, total=self._columns.totals[slug])
            for slug, values in self._columns.values.items()
        ]


@graphql_type
class MetricGroup(MeasuredRange):
    """The metrics of one share, customer, currency or event name; of facts without one; or of the rest."""

    key: Annotated[
        str | None,
        Field(
            description="The share's or customer's id, the currency or the event name; null for facts "
            "without one, and for the rest."
        ),
    ]
    label: Annotated[
        str, Field(description="A name for people: of a deleted customer too, `No share`, `Other`.")
    ]
    is_rest: Annotated[bool, Field(description="Whether these are all facts outside the other groups.")]
    currency: Annotated[Currency, Field(description="The currency of the amounts.")]
    exponent: Annotated[Int, Field(description="The decimal places of the currency.")]


_groups: Any = Annotated[
    list[MetricGroup],
    Field(
        description="The groups asked for by `group_by`, largest first, without those in which every metric "
        "asked is 0 in both ranges; then the rest, if there are more than `top`. Of currencies: by code, "
        "then what is not money. Empty without `group_by`."
    ),
]


@graphql_type
class MetricsComparison(MeasuredRange):
    """The same metrics over another range of dates."""

    start_date: Annotated[date, Field(description="The first date of the compared range.")]
    end_date: Annotated[date, Field(description="Its last date, included.")]
    groups: Annotated[
        list[MetricGroup],
        Field(
            description="The groups of the range asked for, in the same order, with the rest if it is there."
        ),
    ]


@graphql_type
class Metrics(MeasuredRange):
    """Metrics over a range of dates."""

    metrics: Annotated[
        list[MetricInfo],
        _BySlug(),
        Field(description="The definitions of the requested metrics, in the order asked."),
    ]
    currency: Annotated[
        Currency, Field(description="The currency of the amounts, which are in its minor units.")
    ]
    other_currencies: Annotated[
        list[OtherCurrency], Field(description="Amounts in other currencies, in order of the currency codes.")
    ]
    groups: _groups
    comparison: Annotated[
        MetricsComparison | None, Field(description="The range asked for by `compare`; null without it.")
    ]


@graphql_type
class MetricsLimits(Output):
    """The limits of the arguments of metrics."""

    min_date: Annotated[date, Field(description="The earliest `start_date`.")]
    max_date: Annotated[date, Field(description="The latest `end_date`.")]
    max_periods: Annotated[Int, Field(description="The maximum number of periods in a range.")]
    intervals: list[Interval]
    timezones: Annotated[list[str], Field(description="The valid values of `timezone`.")]
