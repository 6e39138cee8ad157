"""Measures: what metrics are computed from, as weighted sums over facts or as a count of persons."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from storage.caches import hashed_once
from storage.enums import FactKind
from storage.metrics.sums import FactSum

# Columns that only measures have: distinct persons, and costs. The log has a cost in two columns, whole minor
# units and 10^-12 parts.
PERSON, COST = "person", "cost"
COST_SCALE = 10**12


class WeightedSum(NamedTuple):
    """One sum that enters a measure, multiplied by `weight`."""

    fact_sum: FactSum
    weight: int


@hashed_once
@dataclass(frozen=True)
class Measure:
    """A sum over facts of some kinds: of one of their columns or of `COST`; or their distinct `PERSON`s.

    Facts of the kinds in `less` are subtracted. `in_currency` includes only facts in the requested
    currency. `scale` is how many of the sum's units make one unit of the metric.
    """

    kinds: frozenset[FactKind]
    column: str = "count"
    less: frozenset[FactKind] = frozenset()
    in_currency: bool = False
    scale: int = 1

    @cached_property
    def weighted_sums(self) -> tuple[WeightedSum, ...]:
        """The sums that add up to the measure; none for a count of persons."""
        columns = {PERSON: {}, COST: {"amount": COST_SCALE, "parts": 1}}.get(self.column, {self.column: 1})
        return tuple(
            WeightedSum(FactSum(kind, column, self.in_currency), -weight if kind in self.less else weight)
            for kind in sorted(self.kinds | self.less)
            for column, weight in columns.items()
        )

    @property
    def fact_sums(self) -> list[FactSum]:
        return [fact_sum for fact_sum, _ in self.weighted_sums]
