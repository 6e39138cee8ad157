"""The figures beside the shares or customers of a list, without the rest of an answer about metrics."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from oauth.scopes import Scope
from resolvers.metrics.requests import asked_metrics, check_grouping, ranges_of, weigh_metrics
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lookups import check_workspaces
from schema.metrics.query import MetricsQuery
from storage.engine.connections import Connection
from storage.enums import Currency
from storage.metrics.definitions import Metric, Number
from storage.metrics.facts import moment_of
from storage.metrics.grouping.customer_list import customers_of
from storage.metrics.grouping.engine import no_persons
from storage.metrics.grouping.groups import Grouping, Key
from storage.metrics.grouping.make import make_groups
from storage.metrics.reading.cell_source import make_source
from storage.metrics.reading.engine import Needs, Reading, in_other_currencies, total_of
from storage.metrics.reading.last_moments import last_moments
from storage.metrics.reading.reader import Selection


@dataclass
class Totals:
    """What happened with a share or a customer: money in each currency that it has, and what is counted."""

    counts: dict[str, Number] = field(default_factory=dict)
    money: dict[Currency, dict[str, Number]] = field(default_factory=dict)


@requires(Scope.METRICS_READ, weigh=weigh_metrics)
async def get_totals(ctx: Context, filters: MetricsQuery) -> Mapping[Key, Totals]:
    """What `get_metrics` answers as the groups' totals, by key, of metrics that count no persons.

    Filters name the workspace and the shares or customers, which are the groups; they choose no currency.
    Nothing is ranked, labelled or opened, so that each kind of sums is read once. A group without a value is
    left out.
    """
    check_grouping(ctx, filters)
    await check_workspaces(ctx, filters.workspace_id)
    metrics, periods = asked_metrics(filters), ranges_of(filters).asked.timeline.edges
    edges, grouping = [periods[0], periods[-1]], filters.group_by or Grouping.SHARE
    selection = Selection(filters.workspace_id or [], filters.share_id, filters.customer_id)
    keys = (filters.share_id if grouping is Grouping.SHARE else filters.customer_id) or []

    async def read(connection: Connection) -> Mapping[Key, Totals]:
        groups = make_groups(connection, selection, grouping)
        # Those of the workspace are cells, read faster than the facts of some customers.
        own = make_source(connection, Selection(selection.workspace_ids))
        currencies = list(await in_other_currencies(own, edges, "")) or [Currency.USD.value]
        totals: defaultdict[Key, Totals] = defaultdict(Totals)
        needed = metrics
        for code in currencies:
            for key, sums in (await groups.sums(Needs.of(needed).question(edges, code), keys)).items():
                _add(totals[key], needed, Reading(sums, no_persons(edges)), Currency(code))
            needed = [metric for metric in metrics if metric.is_money]
        return {key: each for key, each in totals.items() if each.money or any(each.counts.values())}

    return await ctx.in_snapshot(read, replica=True)


def _add(totals: Totals, metrics: Sequence[Metric], reading: Reading, currency: Currency) -> None:
    values = {metric: total_of(metric, reading) for metric in metrics}
    totals.counts |= {metric.slug: value for metric, value in values.items() if not metric.is_money}
    money = {metric.slug: value for metric, value in values.items() if metric.is_money}
    if any(money.values()):
        totals.money[currency] = money


@requires(Scope.METRICS_READ)
async def get_last_seen(
    ctx: Context, workspace_id: UUID, customer_ids: list[UUID]
) -> Mapping[UUID, datetime]:
    """When each of these customers last began a session, downloaded, paid or had an event, if ever."""
    await check_workspaces(ctx, [workspace_id])
    selection = Selection([workspace_id], customer_ids=customer_ids)

    async def read(connection: Connection) -> Mapping[UUID, datetime]:
        customers = (await customers_of(connection, selection))[workspace_id]
        last: dict[UUID, int] = {}
        found = await last_moments(connection, workspace_id, list(customers.by_person))
        for person, moment in found.items():
            id = customers.by_person[person]
            last[id] = max(moment, last.get(id, moment))
        return {id: moment_of(moment) for id, moment in last.items()}

    return await ctx.in_snapshot(read, replica=True)
