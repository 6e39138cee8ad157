"""Operations on metrics."""

from collections.abc import Mapping
from typing import Any

from oauth.scopes import Scope
from resolvers.metrics.answers import columns_of, info_of
from resolvers.metrics.openings import rows_of
from resolvers.metrics.reading import read_metrics, without_tests
from resolvers.metrics.requests import (
    asked_metrics,
    check_grouping,
    check_selection,
    ranges_of,
    weigh_metrics,
)
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lookups import check_workspaces
from schema.metrics.metrics import Metrics, MetricsComparison, MetricsLimits, OtherCurrency
from schema.metrics.query import MetricsQuery
from storage.enums import Currency
from storage.metrics.periods import FIRST_DATE, LAST_DATE, MOST_PERIODS, Interval
from storage.metrics.zones import zone_names


@requires(Scope.METRICS_READ, weigh=weigh_metrics)
async def get_metrics(ctx: Context, filters: MetricsQuery) -> Metrics:
    """Returns metrics for each period and for the whole range, computing only those requested.

    A period begins at the first instant of its local date. Filters apply to every metric. Money is counted
    in one currency; `other_currencies` reports the amounts that this leaves out, and groups by currency
    report everything in every currency. Test workspaces count only where `workspace_id` names them, or with
    `include_test`.
    """
    metrics = asked_metrics(filters)
    check_selection(ctx, filters, metrics)
    check_grouping(ctx, filters)
    ranges = ranges_of(filters)
    await check_workspaces(ctx, filters.workspace_id)
    filters = await without_tests(ctx, filters)
    read = await read_metrics(ctx, filters, ranges)
    asked, compared, currency = ranges.asked, ranges.compared, read.currency
    comparison = None
    if compared is not None and read.compared is not None:
        comparison = MetricsComparison.with_columns(
            columns_of(read.compared.columns, compared.timeline),
            rows=rows_of(ctx, filters, compared, currency, "comparison."),
            start_date=compared.start_date,
            end_date=compared.end_date,
            groups=read.groups[1],
        )
    return Metrics.with_columns(
        columns_of(read.measured.columns, asked.timeline),
        rows=rows_of(ctx, filters, asked, currency),
        metrics=[info_of(metric.slug, currency) for metric in metrics],
        currency=currency,
        other_currencies=[_other_currency(Currency(code), money) for code, money in read.others.items()],
        groups=read.groups[0],
        comparison=comparison,
    )


@requires(Scope.METRICS_READ)
async def get_metrics_limits(ctx: Context) -> MetricsLimits:
    """Returns the limits of metrics queries."""
    return MetricsLimits(
        min_date=FIRST_DATE,
        max_date=LAST_DATE,
        max_periods=MOST_PERIODS,
        intervals=list(Interval),
        timezones=list(zone_names()),
    )


def _other_currency(currency: Currency, money: Mapping[str, Any]) -> OtherCurrency:
    return OtherCurrency(currency=currency, exponent=currency.exponent, **money)
