"""Adding up what statements give, row by row, to sums by period."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

from storage.metrics.source import Sums
from storage.metrics.terms import Term, parts_of


class Tally:
    """The sums of terms in the periods between edges."""

    def __init__(self, terms: Sequence[Term], edges: Sequence[int]) -> None:
        self.sums: Sums = {term: [0] * (len(edges) - 1) for term in terms}
        self._edges = edges

    def add(self, terms: Sequence[Term], rows: Iterable[Sequence[Any]]) -> None:
        """Add rows of a moment and of the sums of the parts of these terms, which are some of the tally's."""
        weights = [part.weight for part in parts_of(terms)]
        targets = [self.sums[term] for term in terms for _ in term.parts]
        for moment, *values in rows:
            period = bisect_right(self._edges, moment) - 1
            for target, weight, value in zip(targets, weights, values, strict=True):
                if value:
                    target[period] += weight * value
