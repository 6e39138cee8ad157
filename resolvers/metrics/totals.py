"""The figures beside the shares or customers of a list, without the rest of an answer about metrics."""

from collections.abc import Mapping
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
from storage.metrics.definitions import Number
from storage.metrics.facts import moment_of
from storage.metrics.grouping.customer_list import customers_of
from storage.metrics.grouping.engine import no_persons
from storage.metrics.grouping.groups import Grouping, Key
from storage.metrics.grouping.make import make_groups
from storage.metrics.reading.engine import Needs, Reading, total_of
from storage.metrics.reading.last_moments import last_moments
from storage.metrics.reading.reader import Selection

Totals = Mapping[Key, Mapping[str, Number]]


@requires(Scope.METRICS_READ, weigh=weigh_metrics)
async def get_totals(ctx: Context, filters: MetricsQuery) -> Totals:
    """What `get_metrics` answers as the groups' totals, by key and slug, of metrics that count no persons.

    Filters name the workspace and the shares or customers, which are the groups. Nothing is ranked, labelled
    or opened, so that each kind of sums is read once. A group without a value is left out.
    """
    check_grouping(ctx, filters)
    await check_workspaces(ctx, filters.workspace_id)
    metrics, periods = asked_metrics(filters), ranges_of(filters).asked.timeline.edges
    edges, grouping = [periods[0], periods[-1]], filters.group_by or Grouping.SHARE
    selection = Selection(filters.workspace_id or [], filters.share_id, filters.customer_id)
    keys = (filters.share_id if grouping is Grouping.SHARE else filters.customer_id) or []
    question = Needs.of(metrics).question(edges, (filters.currency or Currency.USD).value)

    async def read(connection: Connection) -> Totals:
        found = await make_groups(connection, selection, grouping).sums(question, keys)
        readings = {key: Reading(sums, no_persons(edges)) for key, sums in found.items()}
        totals = {
            key: {metric.slug: total_of(metric, each) for metric in metrics} for key, each in readings.items()
        }
        return {key: each for key, each in totals.items() if any(each.values())}

    return await ctx.in_snapshot(read, replica=True)


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
