"""Adding up what statements give, row by row, to sums by period."""

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from storage.metrics.source import Sums
from storage.metrics.terms import Term


class Tally:
    """The sums of terms in the periods between edges."""

    def __init__(self, terms: Sequence[Term], edges: Sequence[int]) -> None:
        self.sums: Sums = {term: [0] * (len(edges) - 1) for term in terms}
        self._edges = edges

    def add(self, terms: Sequence[Term], rows: Sequence[Sequence[Any]]) -> None:
        """Add rows of a moment and of the sums of the parts of these terms, which are some of the tally's."""
        if not rows:
            return
        moments, *columns = zip(*sorted(rows, key=itemgetter(0)), strict=True)
        periods = [bisect_right(self._edges, moment) - 1 for moment in moments]
        every_one = periods == list(range(len(self._edges) - 1))
        parts = [(self.sums[term], part.weight) for term in terms for part in term.parts]
        for (target, weight), values in zip(parts, columns, strict=True):
            if every_one and not any(target):
                target[:] = values if weight == 1 else [weight * value for value in values]
                continue
            for period, value in zip(periods, values, strict=True):
                if value:
                    target[period] += weight * value
