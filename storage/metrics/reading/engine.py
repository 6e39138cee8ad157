"""Compute metrics: read the sums and persons that they need, period by period, then derive their values."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from operator import add

from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.definitions import IN_OTHER_CURRENCIES, Combination, Metric, Number
from storage.metrics.measures import PERSON, Measure
from storage.metrics.reading.reader import GroupedBy, Question, Source, Sums
from storage.metrics.sums import FactSum


@dataclass(frozen=True)
class Columns:
    """Values by slug: for each period, and for the whole range as one period."""

    periods: Mapping[str, list[Number]]
    totals: Mapping[str, Number]


@dataclass(frozen=True)
class Needs:
    """What some metrics are computed from; `states` are the sums that also count before the range.

    Needs that are read by the same question are equal.
    """

    measures: Sequence[Measure] = field(compare=False)
    gauged: Set[Measure] = field(compare=False)
    fact_sums: Sequence[FactSum]
    states: Sequence[FactSum]
    persons: bool

    @classmethod
    def of(cls, metrics: Sequence[Metric]) -> "Needs":
        return _needs_of(tuple(metrics))

    def question(self, edges: Sequence[int], currency: str = "") -> Question:
        """The sums that are needed between the edges."""
        return Question(self.fact_sums, edges, currency, self.states)


# Requests mostly ask for the same few metrics.
@lru_cache(maxsize=1_000)
def _needs_of(metrics: tuple[Metric, ...]) -> Needs:
    measures = list(dict.fromkeys(measure for metric in metrics for measure in metric.measures))
    gauged = dict.fromkeys(metric.of for metric in metrics if metric.combines is Combination.GAUGE)
    return Needs(
        measures,
        gauged.keys(),
        list(dict.fromkeys(fact_sum for measure in measures for fact_sum in measure.fact_sums)),
        [fact_sum for measure in gauged for fact_sum in measure.fact_sums],
        any(measure.column == PERSON for measure in measures),
    )


@dataclass(frozen=True)
class Reading:
    """What a source has read: sums, and persons if they are needed."""

    sums: Sums
    persons: PersonCounts | None


@dataclass
class _Values:
    """Exact values of measures in each period and in the whole range; of gauges, the states at their ends."""

    periods: dict[Measure, list[int]] = field(default_factory=dict)
    totals: dict[Measure, list[int]] = field(default_factory=dict)


async def compute(source: Source, metrics: Sequence[Metric], edges: Sequence[int], currency: str) -> Columns:
    """The metrics between the edges, which are microseconds since 1970; money in `currency`."""
    return columns_of(metrics, await read(source, Needs.of(metrics), edges, currency))


async def read(source: Source, needs: Needs, edges: Sequence[int], currency: str) -> Reading:
    """Everything that the metrics with these needs are computed from."""
    sums: Sums = {}
    if needs.fact_sums:
        sums = (await source.sums(needs.question(edges, currency)))[None]
    return Reading(sums, await source.persons(edges) if needs.persons else None)


def columns_of(metrics: Sequence[Metric], reading: Reading) -> Columns:
    """The metrics' values from what has been read."""
    needs, values, states = Needs.of(metrics), _Values(), _Values()
    for measure in needs.measures:
        if measure.column == PERSON:
            if reading.persons is not None:
                values.periods[measure], total = reading.persons
                values.totals[measure] = [total]
            continue
        before, *column = _value(measure, reading.sums)
        total = sum(column)
        values.periods[measure], values.totals[measure] = column, [total]
        if measure in needs.gauged:
            states.totals[measure] = [before + total]
            _, *states.periods[measure] = accumulate(column, initial=before)
    periods, totals = {}, {}
    for metric in metrics:
        combined = states if metric.combines is Combination.GAUGE else values
        periods[metric.slug] = metric.column(combined.periods)
        (totals[metric.slug],) = metric.column(combined.totals)
    return Columns(periods, totals)


def total_of(metric: Metric, reading: Reading) -> Number:
    """The metric's value over the whole range, as one period."""
    totals: dict[Measure, list[int]] = {}
    for measure in metric.measures:
        if measure.column == PERSON:
            totals[measure] = [0 if reading.persons is None else reading.persons.total]
        else:
            before, *periods = _value(measure, reading.sums)
            totals[measure] = [sum(periods, before if metric.combines is Combination.GAUGE else 0)]
    return metric.column(totals)[0]


async def in_other_currencies(
    source: Source, edges: Sequence[int], currency: str
) -> dict[str, dict[str, Number]]:
    """The range's money in every other currency: values by slug, by currency in alphabetical order."""
    by_currency = await source.sums(question_of_money(edges))
    others = {}
    for other in sorted(by_currency.keys() - {currency}):
        if not any(any(by_currency[other][count]) for count in _COUNTS):
            continue
        values = {measure: _value(measure, by_currency[other])[1:] for measure in _MONEY}
        others[other] = {metric.slug: metric.column(values)[0] for metric in IN_OTHER_CURRENCIES}
    return others


_MONEY = list({metric.of: None for metric in IN_OTHER_CURRENCIES})
_AMOUNTS = [fact_sum for measure in _MONEY for fact_sum in measure.fact_sums]
_COUNTS = list({FactSum(fact_sum.kind, "count", True): None for fact_sum in _AMOUNTS})


def question_of_money(edges: Sequence[int]) -> Question:
    """What `in_other_currencies` asks: the range's money in each currency."""
    return Question([*_AMOUNTS, *_COUNTS], [edges[0], edges[-1]], grouped_by=GroupedBy.CURRENCY)


def _value(measure: Measure, sums: Sums) -> list[int]:
    """The measure's value before the first edge and in each period."""
    first, *others = [
        sums[fact_sum] if weight == 1 else [weight * value for value in sums[fact_sum]]
        for fact_sum, weight in measure.weighted_sums
    ]
    for weighted in others:
        first = list(map(add, first, weighted))
    return first
