"""Adding up what statements give, row by row, to sums by period."""

from bisect import bisect_right
from collections.abc import Sequence
from operator import add, itemgetter
from typing import Any

from storage.metrics.source import Sums
from storage.metrics.terms import Term


class Tally:
    """The sums of terms before the first edge, and in the periods between edges."""

    def __init__(self, terms: Sequence[Term], edges: Sequence[int]) -> None:
        self.sums: Sums = {term: [0] * len(edges) for term in terms}
        self._edges = edges
        self._begins = tuple(edges[:-1])

    def add(self, terms: Sequence[Term], rows: Sequence[Sequence[Any]]) -> None:
        """Add rows of a moment and of the sums of the parts of these terms, which are some of the tally's.

        What rows have after those is left.
        """
        if not rows:
            return
        moments, *columns = zip(*sorted(rows, key=itemgetter(0)), strict=True)
        parts = [(self.sums[term], part.weight) for term in terms for part in term.parts]
        has_before = int(moments[0] < self._edges[0])
        if moments[has_before:] == self._begins:
            first = 1 - has_before
            for (target, weight), values in zip(parts, columns, strict=False):
                if any(values):
                    weighted = values if weight == 1 else [weight * value for value in values]
                    target[first:] = map(add, target[first:], weighted)
            return
        places = [bisect_right(self._edges, moment) for moment in moments]
        for (target, weight), values in zip(parts, columns, strict=False):
            for place, value in zip(places, values, strict=True):
                if value:
                    target[place] += weight * value
