"""Compute metrics: the sums of what they need, period by period, and their values out of those."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from storage.enums import FactKind
from storage.metrics.definitions import (
    IN_OTHER_CURRENCIES,
    PERSON,
    Combination,
    Measure,
    Metric,
    Number,
)
from storage.metrics.source import Cell, Person, Source


@dataclass(frozen=True)
class Columns:
    """Metric by slug: its values period by period, and its value over the whole range as one period."""

    periods: Mapping[str, list[Number]]
    totals: Mapping[str, Number]


@dataclass
class _Sums:
    """Exact sums of measures in each period and in the whole range; of a gauge, the states at their ends."""

    periods: dict[Measure, list[int]]
    totals: dict[Measure, int]


async def compute(source: Source, metrics: Sequence[Metric], edges: Sequence[int], currency: str) -> Columns:
    """The metrics between the edges, which are microseconds since 1970; money in `currency`."""
    measures = {measure for metric in metrics for measure in metric.measures}
    gauged = {metric.of for metric in metrics if metric.combines is Combination.GAUGE}
    counted = [measure for measure in measures if measure.column == PERSON]
    summed = [measure for measure in measures if measure.column != PERSON]
    sums, states = _Sums({}, {}), _Sums({}, {})
    if summed:
        cells = await source.cells(_kinds(summed), _columns(summed), edges)
        _add_up(sums, summed, cells, edges, currency)
    for measure in gauged:
        before = await source.total(_kinds([measure]), [measure.column], None, edges[0])
        state = sum(_sign(measure, cell.kind) * cell.sums[0] for cell in before)
        states.totals[measure] = state + sums.totals[measure]
        _, *states.periods[measure] = accumulate(sums.periods[measure], initial=state)
    for measure in counted:
        _count(sums, measure, await source.persons(edges), edges)
    periods, totals = {}, {}
    for metric in metrics:
        combined = states if metric.combines is Combination.GAUGE else sums
        periods[metric.slug] = metric.column(combined.periods)
        whole = {measure: [combined.totals[measure]] for measure in metric.measures}
        totals[metric.slug] = metric.column(whole)[0]
    return Columns(periods, totals)


async def in_other_currencies(
    source: Source, edges: Sequence[int], currency: str
) -> dict[str, dict[str, Number]]:
    """The money of the same range in each currency but this one: currency to slug to value, in order."""
    measures = [metric.of for metric in IN_OTHER_CURRENCIES]
    cells = await source.total(_kinds(measures), _columns(measures), edges[0], edges[-1])
    others = sorted({cell.currency for cell in cells if cell.currency not in (None, currency)}, key=str)
    found = {}
    for other in others:
        sums = _Sums({}, {})
        _add_up(sums, measures, cells, [0, 1], str(other))
        found[str(other)] = {metric.slug: metric.column(sums.periods)[0] for metric in IN_OTHER_CURRENCIES}
    return found


def _add_up(
    sums: _Sums, measures: Sequence[Measure], cells: Iterable[Cell], edges: Sequence[int], currency: str
) -> None:
    """Add the cells to the periods they lie in."""
    columns = _columns(measures)
    for measure in measures:
        sums.periods[measure] = [0] * (len(edges) - 1)
    places = {
        (kind, own): [
            (sums.periods[measure], _sign(measure, kind), columns.index(measure.column))
            for measure in measures
            if kind in measure.kinds | measure.less and (own or not measure.in_currency)
        ]
        for kind in _kinds(measures)
        for own in (True, False)
    }
    for cell in cells:
        period = bisect_right(edges, cell.at) - 1
        for values, sign, column in places[cell.kind, cell.currency == currency]:
            values[period] += sign * cell.sums[column]
    for measure in measures:
        sums.totals[measure] = sum(sums.periods[measure])


def _count(
    sums: _Sums, measure: Measure, persons: Iterable[tuple[int, Person]], edges: Sequence[int]
) -> None:
    """Count the persons of each period and of the range, each once."""
    seen: list[set[Person]] = [set() for _ in edges[1:]]
    for at, person in persons:
        seen[bisect_right(edges, at) - 1].add(person)
    sums.periods[measure] = [len(each) for each in seen]
    sums.totals[measure] = len(set().union(*seen))


def _kinds(measures: Iterable[Measure]) -> frozenset[FactKind]:
    return frozenset().union(*(measure.kinds | measure.less for measure in measures))


def _columns(measures: Iterable[Measure]) -> list[str]:
    return sorted({measure.column for measure in measures})


def _sign(measure: Measure, kind: FactKind) -> int:
    return -1 if kind in measure.less else 1
