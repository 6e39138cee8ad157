"""Reads what a request for metrics selects: by one statement, or in a snapshot what one cannot read."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Select, and_, select, true

from oauth.principals import Principal
from resolvers.metrics.answers import groups_of
from resolvers.metrics.labels import labels_of
from resolvers.metrics.measuring import Measured, Measurement, with_same_currencies
from resolvers.metrics.openings import openings_of
from resolvers.metrics.requests import (
    Choice,
    DateRange,
    Ranges,
    asked_metrics,
    choose,
    compares,
    wants_groups,
)
from resolvers.operations.context import Context
from resolvers.operations.rows.access import visible
from resolvers.operations.rows.plans import form_of, plan_for, with_places
from resolvers.operations.rows.routing import narrowed
from schema.metrics.metrics import MetricGroup
from schema.metrics.query import MetricsQuery
from storage.dialects.matching import among
from storage.engine.connections import Connection
from storage.enums import Currency
from storage.metrics.grouping.currencies import question_by_currency
from storage.metrics.grouping.engine import GroupedReader
from storage.metrics.grouping.groups import Grouping
from storage.metrics.grouping.make import make_groups
from storage.metrics.reading.at_once import AtOnce, FoundAtOnce, Home, at_once
from storage.metrics.reading.cell_source import make_source
from storage.metrics.reading.engine import Needs, in_other_currencies, question_of_money
from storage.metrics.reading.reader import Question, Selection
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import MetricDeltaRow
from storage.tables.workspaces.workspaces import WorkspaceRow

# SQLite reads at once on the event loop, which takes three milliseconds for some more cells than these.
MOST_CELLS_OF_SQLITE = 2_000
# Of a question that is kept with its arguments, which are counted as small.
MOST_PERIODS_KEPT = 100

_workspaces = table_of(WorkspaceRow)


class Read(NamedTuple):
    """What an answer is made of. `groups` are those of each range, `others` the money by other currency."""

    currency: Currency
    measured: Measured
    compared: Measured | None
    groups: list[list[MetricGroup]]
    others: Mapping[str, Any]


async def without_tests(ctx: Context, filters: MetricsQuery) -> MetricsQuery:
    """The same filters; for several workspaces that are not named, they name those that are no tests."""
    principal = ctx.principal
    if filters.workspace_id is not None or filters.include_test or len(principal.workspace_ids) < 2:
        return filters

    def make() -> Select[Any]:
        seen = visible(WorkspaceRow, with_places(principal))
        return select(_workspaces.c.id).where(seen, _workspaces.c.is_test.is_(True))

    plan = plan_for(ctx, ("test workspaces", form_of(principal)), make)
    rows = await ctx.fetch(plan, principal.ids, replica=True)
    tests = {id for (id,) in ctx.services.database.converted(plan, rows)}
    others = [id for id in principal.workspace_ids if id not in tests]
    return filters.model_copy(update={"workspace_id": others}) if tests and others else filters


async def read_metrics(ctx: Context, filters: MetricsQuery, ranges: Ranges) -> Read:
    """What is selected, of one state of the database."""
    found = await _read_at_once(ctx, filters, ranges)
    if found is None:
        return await ctx.in_snapshot(partial(_read_in_snapshot, ctx, filters, ranges), replica=True)
    currency = filters.currency or Currency(found.currency)
    measurement = Measurement(ctx, found, None, filters, asked_metrics(filters), currency)
    return await _measured(measurement, ranges, None, ())


async def _read_at_once(ctx: Context, filters: MetricsQuery, ranges: Ranges) -> FoundAtOnce | None:
    """What one statement reads of one workspace; None if it cannot, or something waits for the fold."""
    principal = narrowed(ctx.principal, MetricDeltaRow, filters.workspace_id)
    asked = _at_once(ctx, principal, filters, ranges)
    if asked is None:
        return None
    home = Home(form_of(principal), lambda: visible(WorkspaceRow, with_places(principal)))
    plan = asked.form.kept(ctx.services.database.dialect, home)
    values = {**principal.ids, **asked.values, "currency": filters.currency and filters.currency.value}
    return asked.found(await ctx.fetch(plan, values, replica=True))


def _at_once(ctx: Context, principal: Principal, filters: MetricsQuery, ranges: Ranges) -> AtOnce | None:
    """The same for all callers of one workspace, so it is worked out once for kept arguments."""
    if ranges.periods > MOST_PERIODS_KEPT or principal.one_workspace_id is None:
        return _worked_out(ctx, principal, filters, ranges)
    key = (ctx.selection, ctx.services.database.dialect.name)
    if key not in filters.prepared:
        filters.prepared[key] = _worked_out(ctx, principal, filters, ranges)
    kept: AtOnce | None = filters.prepared[key]
    return None if kept is None else kept.of_workspace(principal.one_workspace_id)


def _worked_out(ctx: Context, principal: Principal, filters: MetricsQuery, ranges: Ranges) -> AtOnce | None:
    workspace_id, database = principal.one_workspace_id, ctx.services.database
    is_grouped = filters.group_by not in (None, Grouping.CURRENCY)
    if workspace_id is None or filters.customer_id is not None or is_grouped:
        return None
    questions: list[Question] = []
    persons = []
    if ctx.wants("other_currencies"):
        questions.append(question_of_money(ranges.asked.timeline.edges))
    for choice, dates in _choices(ctx, filters, ranges):
        edges, needs = dates.timeline.edges, Needs.of(choice.needed)
        if len(edges) < 2:
            return None
        questions += [needs.question(edges)] if needs.fact_sums else []
        persons += [edges] if needs.persons else []
        if choice.has_groups:
            by_currency = question_by_currency(choice.grouped, edges)
            questions += [by_currency] if by_currency.fact_sums else []
    asked = at_once(
        database.dialect.name,
        Selection([workspace_id], filters.share_id),
        questions,
        persons,
        has_currency=filters.currency is not None,
    )
    is_long = asked is not None and database.is_sqlite and asked.cells > MOST_CELLS_OF_SQLITE
    return None if is_long else asked


def _choices(ctx: Context, filters: MetricsQuery, ranges: Ranges) -> Iterator[tuple[Choice, DateRange]]:
    """What is selected of each range that is."""
    yield choose(ctx, filters), ranges.asked
    if ranges.compared is not None and compares(ctx, filters):
        yield choose(ctx, filters, "comparison."), ranges.compared


async def _read_in_snapshot(
    ctx: Context, filters: MetricsQuery, ranges: Ranges, connection: Connection
) -> Read:
    workspaces = await _home_currencies(ctx, connection, filters.workspace_id)
    currency = filters.currency or _currency_of(workspaces)
    selection = Selection(list(workspaces), filters.share_id, filters.customer_id)
    source, grouped = make_source(connection, selection), None
    if filters.group_by is not None and filters.group_by is not Grouping.CURRENCY:
        groups = make_groups(connection, selection, filters.group_by)
        grouped = GroupedReader(source, groups, currency.value)
    measurement = Measurement(ctx, source, grouped, filters, asked_metrics(filters), currency)
    return await _measured(measurement, ranges, connection, selection.workspace_ids)


async def _measured(
    measurement: Measurement, ranges: Ranges, connection: Connection | None, workspace_ids: Sequence[UUID]
) -> Read:
    ctx, filters, currency = measurement.ctx, measurement.filters, measurement.currency
    if filters.group_by is not None and wants_groups(ctx):
        await measurement.rank([each.timeline for each in ranges if each is not None])
    parts = [await measurement.measure(ranges.asked.timeline)]
    if ranges.compared is not None and compares(ctx, filters):
        parts.append(await measurement.measure(ranges.compared.timeline, "comparison."))
    groups: list[list[MetricGroup]] = [[], []]
    if filters.group_by is not None:
        by_currency = filters.group_by is Grouping.CURRENCY
        parts = with_same_currencies(parts) if by_currency else parts
        keys = [key for part in parts for key in part.groups]
        labels = await labels_of(connection, workspace_ids, filters.group_by, keys)
        openings = [
            openings_of(ctx, filters, range, currency, f"{below}groups.")
            for range, below in ((ranges.asked, ""), (ranges.compared, "comparison."))
        ]
        answers = [
            groups_of(part, labels, currency, opened, by_currency=by_currency)
            for part, opened in zip(parts, openings, strict=False)
        ]
        groups = [*answers, []]
    others: Mapping[str, Any] = {}
    if ctx.wants("other_currencies"):
        others = await in_other_currencies(measurement.source, ranges.asked.timeline.edges, currency.value)
    measured, *compared = parts
    return Read(currency, measured, compared[0] if compared else None, groups, others)


async def _home_currencies(
    ctx: Context, connection: Connection, ids: Sequence[UUID] | None
) -> dict[UUID, str]:
    """The workspaces to measure, each with its default currency."""

    def make() -> Select[Any]:
        asked = among(_workspaces.c.id, "ids")
        measured = and_(visible(WorkspaceRow, with_places(ctx.principal)), true() if ids is None else asked)
        return select(_workspaces.c.id, _workspaces.c.default_presentment_currency).where(measured)

    plan = plan_for(ctx, ("home currencies", form_of(ctx.principal), ids is None), make)
    rows = await connection.fetch(plan, {**ctx.principal.ids, "ids": ids})
    return dict(ctx.services.database.converted(plan, rows))


def _currency_of(workspaces: Mapping[UUID, str]) -> Currency:
    """The default currency of all these workspaces if they share one, else US dollars."""
    shared = set(workspaces.values())
    return Currency(shared.pop()) if len(shared) == 1 else Currency.USD
