"""Choose the groups of an answer: those with the largest values, of all in which something is measured."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from storage.metrics.definitions import Metric, Number
from storage.metrics.grouping.engine import GroupedReader
from storage.metrics.grouping.groups import Key
from storage.metrics.measures import PERSON
from storage.metrics.reading.engine import Needs, Reading, total_of

# What each group has in a range.
Readings = Mapping[Key | None, Reading]


@dataclass(frozen=True)
class Ranked:
    """The keys of the groups to show, largest first, and whether there are more."""

    keys: Sequence[Key | None]
    has_rest: bool


@dataclass(frozen=True)
class Ranking:
    """How groups rank: by a metric's largest total in a number of ranges; where it is 0, by the next metrics.

    A group is left out only if no metric has a value in any range, and so is the rest.
    """

    metrics: Sequence[Metric]
    by: Metric
    top: int

    async def choose(
        self, grouped: GroupedReader, ranges: Sequence[Sequence[int]], *, by_first: bool
    ) -> Ranked:
        """The groups over the ranges between the edges; `by_first`: only the first range ranks them."""
        pairs = [(edges[0], edges[-1]) for edges in ranges]
        ranking = pairs[:1] if by_first else pairs
        needs = Needs.of([self.by])
        readings = [await grouped.readings(needs, pair) for pair in ranking]
        above = {key: value for key, value in self._values(readings).items() if value > 0}
        if len(above) > self.top and self.by in self.metrics:
            # Usually so, and saves reading all metrics of all groups: those without a value come later.
            largest = sorted(above, key=lambda key: (-above[key], *_by_key(key)))
            return Ranked(largest[: self.top], has_rest=True)
        every = Needs.of([self.by, *self.metrics])
        if every != needs or len(ranking) < len(pairs):
            readings = [await grouped.readings(every, pair) for pair in pairs]
        keys = [key for key in _keys(readings) if _has_values([self.by, *self.metrics], key, readings)]
        places = {key: self._place(key, readings[: len(ranking)]) for key in keys}
        ranked = sorted(keys, key=places.__getitem__)
        others = ranked[self.top :]
        return Ranked(ranked[: self.top], any(_has_values(self.metrics, key, readings) for key in others))

    def _values(self, readings: Sequence[Readings]) -> dict[Key | None, Number]:
        return {key: _largest(self.by, key, readings) for key in _keys(readings)}

    def _place(self, key: Key | None, readings: Sequence[Readings]) -> tuple[object, ...]:
        value = _largest(self.by, key, readings)
        following = [] if value else self._until_a_value(key, readings)
        return -value, following, *_by_key(key)

    def _until_a_value(self, key: Key | None, readings: Sequence[Readings]) -> list[Number]:
        """The values of the metrics up to the first that is not 0; negative, so that the largest is first."""
        values: list[Number] = []
        for metric in self.metrics:
            values.append(-_largest(metric, key, readings))
            if values[-1]:
                break
        return values


def _has_values(metrics: Sequence[Metric], key: Key | None, readings: Iterable[Readings]) -> bool:
    return any(_has_value(metric, each[key]) for each in readings if key in each for metric in metrics)


def _has_value(metric: Metric, reading: Reading) -> bool:
    """Whether the metric's total is not 0, or is only because what it adds up cancels out, like refunds."""
    if total_of(metric, reading):
        return True
    if metric.per is not None:
        return False
    added = [each for each in (metric.of, metric.less) if each is not None and each.column != PERSON]
    return any(any(reading.sums[fact_sum][1:]) for measure in added for fact_sum in measure.fact_sums)


def _largest(metric: Metric, key: Key | None, readings: Iterable[Readings]) -> Number:
    # A group without facts in a range has a total of 0 there, which is larger than a loss in the other.
    return max((total_of(metric, each[key]) if key in each else 0 for each in readings), default=0)


def _keys(readings: Iterable[Readings]) -> Collection[Key | None]:
    return dict.fromkeys(key for each in readings for key in each)


def _by_key(key: Key | None) -> tuple[bool, str]:
    return key is None, str(key)
