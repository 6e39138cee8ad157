"""Adding up what statements give, row by row, to sums by period."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import add
from typing import Any, NamedTuple

from storage.metrics.cells.tiling import FIRST_EVER
from storage.metrics.reading.reader import Sums
from storage.metrics.sums import Term


class SumOfFacts(NamedTuple):
    """What facts of a kind and a currency add up to, before the edges or in the period of a moment."""

    moment: int
    kind: str
    currency: str | None
    by_column: Mapping[str, int]


class Tally:
    """The sums of terms before the first edge, and in the periods between edges."""

    def __init__(self, terms: Sequence[Term], edges: Sequence[int]) -> None:
        self.sums: Sums = {term: [0] * len(edges) for term in terms}
        self._edges = edges

    def add(self, terms: Sequence[Term], rows: Sequence[Sequence[Any]]) -> None:
        """Add rows of a moment and of the sums of the parts of these terms, which are some of the tally's.

        What rows have after those is left.
        """
        if not rows:
            return
        moments, columns = self._by_column(rows)
        places = None if moments is None else [bisect_right(self._edges, moment) for moment in moments]
        parts = [(self.sums[term], part.weight) for term in terms for part in term.parts]
        for (target, weight), values in zip(parts, columns, strict=False):
            if not any(values):
                continue
            weighted = values if weight == 1 else [weight * value for value in values]
            if places is not None:
                for place, value in zip(places, weighted, strict=True):
                    target[place] += value
            elif any(target):
                target[:] = map(add, target, weighted)
            else:
                target[:] = weighted

    def add_facts(self, terms: Sequence[Term], sums: Iterable[SumOfFacts], currency: str) -> None:
        """Add facts to these terms, to those in a currency the facts in this one."""
        by_kind: defaultdict[str, list[Term]] = defaultdict(list)
        for term in terms:
            by_kind[term.kind].append(term)
        for facts in sums:
            place = bisect_right(self._edges, facts.moment)
            for term in by_kind[facts.kind]:
                if not term.in_currency or facts.currency == currency:
                    self.sums[term][place] += facts.by_column[term.column]

    def _by_column(
        self, rows: Sequence[Sequence[Any]]
    ) -> tuple[Sequence[int] | None, Iterable[Sequence[int]]]:
        """The moments and the other columns of the rows; no moments where there is a row for each place.

        A database that has added up gives a row for most periods; those that it has not are filled in.
        """
        if 2 * len(rows) > len(self._edges):
            begins = (FIRST_EVER, *self._edges[:-1])
            by_moment = {row[0]: row for row in rows}
            if len(by_moment) == len(rows) and by_moment.keys() <= set(begins):
                nothing = (0,) * len(rows[0])
                _, *columns = zip(*(by_moment.get(moment, nothing) for moment in begins), strict=True)
                return None, columns
        moments, *columns = zip(*rows, strict=True)
        return moments, columns


class Tallies:
    """A tally for each currency that there is."""

    def __init__(self, terms: Sequence[Term], edges: Sequence[int]) -> None:
        self._terms = terms
        self._by_currency: defaultdict[str, Tally] = defaultdict(lambda: Tally(terms, edges))

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows of a currency and of what a tally adds."""
        for currency, *row in rows:
            self._by_currency[currency].add(self._terms, [row])

    def add_facts(self, sums: Iterable[SumOfFacts]) -> None:
        for facts in sums:
            if facts.currency is not None:
                self._by_currency[facts.currency].add_facts(self._terms, [facts], facts.currency)

    @property
    def sums(self) -> dict[str, Sums]:
        return {currency: tally.sums for currency, tally in self._by_currency.items()}
