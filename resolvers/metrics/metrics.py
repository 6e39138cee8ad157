"""Operations on metrics."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import and_, select, true

from oauth.scopes import Scope
from resolvers.metrics.answers import columns_of, groups_of
from resolvers.metrics.labels import labels_of
from resolvers.metrics.measuring import Measured, Measurement
from resolvers.metrics.requests import (
    Ranges,
    asked_metrics,
    check_grouping,
    check_selection,
    ranges_of,
    weigh_metrics,
)
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.access import visible
from resolvers.operations.rows.lookups import check_workspaces
from schema.metrics.metrics import (
    MetricGroup,
    MetricInfo,
    Metrics,
    MetricsComparison,
    MetricsLimits,
    OtherCurrency,
)
from schema.metrics.query import MetricsQuery
from storage.engine.connections import Connection
from storage.enums import Currency
from storage.metrics.grouping.engine import GroupedReader
from storage.metrics.grouping.groups import Grouping
from storage.metrics.grouping.make import make_groups
from storage.metrics.periods import FIRST_DATE, LAST_DATE, MOST_PERIODS, Interval
from storage.metrics.reading.cell_source import make_source
from storage.metrics.reading.engine import in_other_currencies
from storage.metrics.reading.reader import Selection
from storage.metrics.zones import zone_names
from storage.rows.rows import table_of
from storage.tables.workspaces.workspaces import WorkspaceRow

_workspaces = table_of(WorkspaceRow)


@requires(Scope.METRICS_READ, weigh=weigh_metrics)
async def get_metrics(ctx: Context, filters: MetricsQuery) -> Metrics:
    """Returns metrics for each period and for the whole range, computing only those requested.

    A period begins at the first instant of its local date. Filters apply to every metric. Money is counted
    in one currency; `other_currencies` reports the amounts that this leaves out, and `group_by: currency`
    everything in every currency.
    """
    metrics = asked_metrics(filters)
    check_selection(ctx, metrics)
    check_grouping(ctx, filters)
    ranges = ranges_of(filters)
    await check_workspaces(ctx, filters.workspace_id)
    read = await ctx.in_snapshot(partial(_read, ctx, filters, ranges), replica=True)
    asked, compared, currency = ranges.asked, ranges.compared, read.currency
    comparison = None
    if compared is not None and read.compared is not None:
        comparison = MetricsComparison.with_columns(
            columns_of(read.compared.columns, compared.timeline),
            start_date=compared.start_date,
            end_date=compared.end_date,
            groups=read.groups[1],
        )
    return Metrics.with_columns(
        columns_of(read.measured.columns, asked.timeline),
        metrics=[MetricInfo.of(metric, currency) for metric in metrics],
        currency=currency,
        other_currencies=[_other_currency(Currency(code), money) for code, money in read.others.items()],
        groups=read.groups[0],
        comparison=comparison,
    )


class _Read(NamedTuple):
    """What an answer is made of. `groups` are those of each range, `others` the money by other currency."""

    currency: Currency
    measured: Measured
    compared: Measured | None
    groups: list[list[MetricGroup]]
    others: Mapping[str, Any]


async def _read(ctx: Context, filters: MetricsQuery, ranges: Ranges, connection: Connection) -> _Read:
    asked, compared = ranges
    workspaces = await _home_currencies(ctx, connection, filters.workspace_id)
    currency = filters.currency or _currency_of(workspaces)
    selection = Selection(list(workspaces), filters.share_id, filters.customer_id)
    measurement = _measurement(ctx, connection, filters, selection, currency)
    if filters.group_by is not None and (ctx.wants("groups") or ctx.wants("comparison.groups")):
        await measurement.rank(asked.timeline)
    measured, compared_with = await measurement.measure(asked.timeline), None
    if compared is not None and ctx.wants("comparison"):
        compared_with = await measurement.measure(compared.timeline, "comparison.")
    groups = await _groups(connection, filters, selection, currency, (measured, compared_with))
    others: Mapping[str, Any] = {}
    if ctx.wants("other_currencies"):
        others = await in_other_currencies(measurement.source, asked.timeline.edges, currency.value)
    return _Read(currency, measured, compared_with, groups, others)


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


def _currency_of(workspaces: Mapping[UUID, str]) -> Currency:
    """The default currency of all these workspaces if they share one, else US dollars."""
    shared = set(workspaces.values())
    return Currency(shared.pop()) if len(shared) == 1 else Currency.USD


def _other_currency(currency: Currency, money: Mapping[str, Any]) -> OtherCurrency:
    return OtherCurrency(currency=currency, exponent=currency.exponent, **money)


def _measurement(
    ctx: Context, connection: Connection, filters: MetricsQuery, selection: Selection, currency: Currency
) -> Measurement:
    source, grouped = make_source(connection, selection), None
    if filters.group_by is not None and filters.group_by is not Grouping.CURRENCY:
        groups = make_groups(connection, selection, filters.group_by)
        grouped = GroupedReader(source, groups, currency.value)
    return Measurement(ctx, source, grouped, filters, asked_metrics(filters), currency)


async def _groups(
    connection: Connection,
    filters: MetricsQuery,
    selection: Selection,
    currency: Currency,
    parts: Sequence[Measured | None],
) -> list[list[MetricGroup]]:
    """The groups of each range, with their labels."""
    if filters.group_by is None:
        return [[] for _ in parts]
    keys = [key for part in parts if part is not None for key in part.groups]
    labels = await labels_of(connection, selection.workspace_ids, filters.group_by, keys)
    by_currency = filters.group_by is Grouping.CURRENCY
    return [
        [] if part is None else groups_of(part, labels, currency, by_currency=by_currency) for part in parts
    ]
