"""Operations on metrics."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import and_, select, true

from oauth.scopes import Scope
from resolvers.operations.access import visible
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.lookups import check_workspaces
from schema.errors import Invalid, problem
from schema.metrics import (
    MetricColumns,
    MetricInfo,
    Metrics,
    MetricsLimits,
    MetricsQuery,
    OtherCurrency,
)
from schema.scalars import Number, Numbers, ZonedMoment, write_number, write_numbers
from storage.connections import Connection
from storage.enums import Currency
from storage.metrics.definitions import METRICS, Metric
from storage.metrics.periods import (
    FIRST_DATE,
    LAST_DATE,
    MOST_PERIODS,
    Interval,
    Timeline,
    TooManyPeriods,
    make_timeline,
)
from storage.metrics.reading.cell_source import make_source
from storage.metrics.reading.engine import compute, in_other_currencies
from storage.metrics.reading.reader import Selection
from storage.metrics.zones import zone_names
from storage.rows import table_of
from storage.tables.workspaces import WorkspaceRow

PERIODS_PER_CALL = 2_000
_workspaces = table_of(WorkspaceRow)


def weigh_metrics(filters: MetricsQuery) -> int:
    """The cost of the call: one for each 2,000 periods. Raises `Invalid` for too many periods."""
    return max(1, -(-len(_timeline(filters).starts) // PERIODS_PER_CALL))


@requires(Scope.METRICS_READ, weigh=weigh_metrics)
async def get_metrics(ctx: Context, filters: MetricsQuery) -> Metrics:
    """Returns metrics for each period and for the whole range, computing only those requested.

    A period begins at the first instant of its local date. Filters apply to every metric. Money is counted
    in one currency; `other_currencies` reports the amounts that this leaves out.
    """
    timeline = _timeline(filters)
    await check_workspaces(ctx, filters.workspace_id)
    metrics = [metric for metric in METRICS if filters.metrics is None or metric.slug in filters.metrics]
    others: dict[str, Any] = {}
    async with ctx.snapshot(replica=True) as connection:
        workspaces = await _home_currencies(ctx, connection, filters.workspace_id)
        home_currencies = set(workspaces.values())
        default = Currency(home_currencies.pop()) if len(home_currencies) == 1 else Currency.USD
        currency = filters.currency or default
        selection = Selection(list(workspaces), filters.share_id, filters.customer_id)
        source = make_source(connection, selection)
        results = await compute(source, list(_selected(ctx, metrics)), timeline.edges, currency.value)
        if ctx.wants("other_currencies"):
            others = await in_other_currencies(source, timeline.edges, currency.value)
    timestamps = [ZonedMoment(timestamp) for timestamp in timeline.timestamps]
    columns = MetricColumns(
        timestamps,
        {slug: Numbers(write_numbers(values)) for slug, values in results.periods.items()},
        {slug: Number(write_number(total)) for slug, total in results.totals.items()},
    )
    return Metrics.with_columns(
        columns,
        metrics=[MetricInfo.of(metric) for metric in metrics],
        currency=currency,
        other_currencies=[OtherCurrency(currency=Currency(code), **money) for code, money in others.items()],
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


def _timeline(filters: MetricsQuery) -> Timeline:
    try:
        return make_timeline(filters.start_date, filters.end_date, filters.interval, filters.timezone)
    except TooManyPeriods:
        message = (
            f"From start_date to end_date are more than {MOST_PERIODS} periods of this interval, the limit"
        )
        raise Invalid([problem(("filters", "interval"), message, "too_many_periods")]) from None


async def _home_currencies(
    ctx: Context, connection: Connection, ids: Sequence[UUID] | None
) -> dict[UUID, str]:
    """The workspaces to measure, each with its default currency."""
    chosen = true() if ids is None else _workspaces.c.id.in_(ids)
    measured = and_(visible(WorkspaceRow, ctx.principal), chosen)
    rows = await connection.execute(
        select(_workspaces.c.id, _workspaces.c.default_presentment_currency).where(measured)
    )
    return {row.id: row.default_presentment_currency for row in rows}


def _selected(ctx: Context, metrics: Sequence[Metric]) -> Iterator[Metric]:
    """The metrics that the answer contains."""
    for metric in metrics:
        if any(map(ctx.wants, (f"periods.{metric.slug}", f"totals.{metric.slug}", "series"))):
            yield metric
