"""What a request for metrics asks for: the metrics, the ranges of dates, and its cost."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from strawberry.utils.str_converters import to_camel_case

from oauth.scopes import covers, that_would_do
from resolvers.metrics.labels import SCOPES
from resolvers.operations.context import Context
from schema.errors import InsufficientScope, Invalid, problem
from schema.metrics.query import MetricsQuery
from storage.metrics.definitions import BY_SLUG, METRICS, Metric
from storage.metrics.grouping.groups import Grouping
from storage.metrics.periods import MOST_PERIODS, Timeline, TooManyPeriods, make_timeline

PERIODS_PER_CALL = 2_000
# The parts of an answer that have a field for each metric.
_PARTS = {
    f"{below}{part}"
    for below in ("", "groups.", "comparison.", "comparison.groups.")
    for part in ("periods", "totals")
}
# The values of groups in an answer: periods times groups times metrics.
MOST_VALUES = 400_000


class DateRange(NamedTuple):
    """A range of dates, inclusive, and its periods."""

    start_date: date
    end_date: date
    timeline: Timeline


class Ranges(NamedTuple):
    """The range asked for, and the one to compare with."""

    asked: DateRange
    compared: DateRange | None

    @property
    def periods(self) -> int:
        """The number of periods in both."""
        return sum(len(each.timeline.starts) for each in self if each is not None)


def weigh_metrics(filters: MetricsQuery) -> int:
    """The cost of the call: one for each 2,000 periods, times a tenth of the groups if there are more.

    Raises `Invalid` for too many periods.
    """
    periods = ranges_of(filters).periods * max(10, filters.most_groups)
    return max(1, -(-periods // (PERIODS_PER_CALL * 10)))


def asked_metrics(filters: MetricsQuery) -> list[Metric]:
    """The metrics in the order asked, each once."""
    if filters.metrics is None:
        return list(METRICS)
    asked: list[Metric] | None = filters.prepared.get("metrics")
    if asked is None:
        asked = filters.prepared["metrics"] = [BY_SLUG[slug] for slug in dict.fromkeys(filters.metrics)]
    return asked


def check_selection(ctx: Context, filters: MetricsQuery, metrics: Sequence[Metric]) -> None:
    """Raises `Invalid` if a selected field belongs to a metric that was not asked for."""
    checked = ("checked", ctx.selection)
    if len(metrics) == len(METRICS) or checked in filters.prepared:
        return
    asked = {metric.slug for metric in metrics}
    places = (path.rpartition(".") for path in ctx.selection or ())
    selected = {name for part, _, name in places if part in _PARTS} - asked
    names = [to_camel_case(slug) for slug in BY_SLUG if slug in selected]
    problems = [
        problem(
            ("filters", "metrics"),
            f"The field `{name}` is selected, but its metric is not in `metrics`: add it there, "
            "or remove the field",
            "metric_not_requested",
        )
        for name in names
    ]
    if problems:
        raise Invalid(problems)
    filters.prepared[checked] = True


class Choice(NamedTuple):
    """The metrics of a range in the answer, and those of its groups, both in the order asked."""

    metrics: Sequence[Metric]
    has_groups: bool
    grouped: Sequence[Metric]
    needed: Sequence[Metric]


def choose(ctx: Context, filters: MetricsQuery, below: str = "") -> Choice:
    """What the answer contains of a range; `below` is its path, like `comparison.`."""
    key = ("choice", ctx.selection, below)
    choice: Choice | None = filters.prepared.get(key)
    if choice is None:
        choice = filters.prepared[key] = _choice(ctx, filters, below)
    return choice


def _choice(ctx: Context, filters: MetricsQuery, below: str) -> Choice:
    metrics = asked_metrics(filters)
    chosen = _selected(ctx, metrics, below)
    grouped: Sequence[Metric]
    if filters.group_by is Grouping.CURRENCY:
        # Which currencies there are follows from all metrics of both ranges, whatever is selected of them.
        has_groups = wants_groups(ctx)
        grouped = metrics if has_groups else []
    else:
        has_groups = filters.group_by is not None and ctx.wants(f"{below}groups")
        grouped = _selected(ctx, metrics, f"{below}groups.") if has_groups else []
    needed = [metric for metric in metrics if metric in chosen or metric in grouped] if grouped else chosen
    return Choice(chosen, has_groups, grouped, needed)


def wants_groups(ctx: Context) -> bool:
    """Whether the answer contains the groups of a range."""
    return ctx.wants("groups") or ctx.wants("comparison.groups")


def compares(ctx: Context, filters: MetricsQuery) -> bool:
    """Whether the compared range is read, for itself or because its currencies are groups of the other."""
    by_currency = filters.group_by is Grouping.CURRENCY and wants_groups(ctx)
    return filters.compare is not None and (by_currency or ctx.wants("comparison"))


def _selected(ctx: Context, metrics: Sequence[Metric], below: str) -> Sequence[Metric]:
    """The metrics that a part of the answer contains."""
    if ctx.wants(f"{below}series"):
        return metrics
    return [
        metric
        for metric in metrics
        if ctx.wants(f"{below}periods.{metric.slug}") or ctx.wants(f"{below}totals.{metric.slug}")
    ]


def ranges_of(filters: MetricsQuery) -> Ranges:
    """The ranges, with their periods. Raises `Invalid` for too many periods."""
    asked, compared = _range(filters, filters.start_date, filters.end_date), None
    if filters.compare is not None:
        compared = _range(filters, *filters.compare.dates(filters.start_date, filters.end_date))
    return Ranges(asked, compared)


def check_grouping(ctx: Context, filters: MetricsQuery) -> None:
    """Check that the caller may read what is grouped by, and that the answer is not too large.

    Raises `InsufficientScope` and `Invalid`.
    """
    scope = None if filters.group_by is None else SCOPES.get(filters.group_by)
    if scope is not None and not covers(ctx.principal.scopes, scope):
        raise InsufficientScope(that_would_do(scope))
    if not wants_groups(ctx):
        return
    periods, groups, metrics = ranges_of(filters).periods, filters.most_groups, len(asked_metrics(filters))
    if periods * groups * metrics > MOST_VALUES:
        message = (
            f"{periods:,} periods of up to {groups} groups with {metrics} metrics are more than "
            f"{MOST_VALUES:,} values, the limit: use a longer interval, a smaller top or fewer metrics"
        )
        raise Invalid([problem(("filters", "group_by"), message, "too_many_values")])


def _range(filters: MetricsQuery, start_date: date, end_date: date) -> DateRange:
    try:
        timeline = make_timeline(start_date, end_date, filters.interval, filters.timezone)
    except TooManyPeriods:
        message = (
            f"From start_date to end_date are more than {MOST_PERIODS} periods of this interval, the limit"
        )
        raise Invalid([problem(("filters", "interval"), message, "too_many_periods")]) from None
    return DateRange(start_date, end_date, timeline)
