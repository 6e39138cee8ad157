"""Adding the rows of statements to sums by period."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import add, sub
from typing import Any, NamedTuple

from storage.metrics.cells.tiling import FIRST_EVER
from storage.metrics.reading.reader import Question, Sums, SumsByKey
from storage.metrics.sums import FactSum


class SumOfFacts(NamedTuple):
    """What facts of one kind and currency add up to, in the period of a moment or before the edges."""

    moment: int
    kind: str
    currency: str | None
    by_column: Mapping[str, int]


class PeriodSums:
    """Sums before the first edge and in the periods between edges, for each group that has any."""

    def __init__(self, question: Question) -> None:
        self._fact_sums, self._edges = question.fact_sums, question.edges
        self.by_key: SumsByKey = defaultdict(self._zeros)

    def add_cells(
        self,
        fact_sums: Sequence[FactSum],
        rows: Sequence[Sequence[Any]],
        read_key: Callable[[Any], Any] | None = None,
    ) -> None:
        """Add rows of a moment and the values of these sums' cell columns; further columns are ignored.

        With `read_key`, which makes a key of the driver's value, the key comes first.
        """
        if read_key is None:
            if rows:
                moments, *columns = zip(*rows, strict=True)
                self.add_columns(fact_sums, moments, columns)
            return
        by_key: defaultdict[Any, list[Sequence[Any]]] = defaultdict(list)
        for key, *row in rows:
            by_key[key].append(row)
        for key, own in by_key.items():
            moments, *columns = zip(*own, strict=True)
            self._add(self.by_key[read_key(key)], fact_sums, moments, columns)

    def add_columns(
        self, fact_sums: Sequence[FactSum], moments: Sequence[int], columns: Sequence[Sequence[int]]
    ) -> None:
        """The same as `add_cells` with rows that have no key, which are given as columns; there is a row."""
        self._add(self.by_key[None], fact_sums, moments, columns)

    def add_facts(self, sums: Iterable[tuple[Any, SumOfFacts]], currency: str) -> None:
        """Add facts; sums in a currency take only those in this one, or in their key if it is empty."""
        by_kind: defaultdict[str, list[FactSum]] = defaultdict(list)
        for fact_sum in self._fact_sums:
            by_kind[fact_sum.kind].append(fact_sum)
        for key, facts in sums:
            if not currency and key is None:
                continue
            own, place = self.by_key[key], bisect_right(self._edges, facts.moment)
            for fact_sum in by_kind[facts.kind]:
                if not fact_sum.in_currency or facts.currency == (currency or key):
                    own[fact_sum][place] += facts.by_column[fact_sum.column]

    def add_sums(self, parts: Mapping[Any, Sums], place: int = 0) -> None:
        """Add sums by key, the first of which is at this place: 0 is before the first edge."""
        for key, sums in parts.items():
            is_first = key not in self.by_key
            target = self.by_key[key]
            for fact_sum, values in sums.items():
                if any(values):
                    own = target[fact_sum]
                    added = values if is_first else map(add, own[place:], values)
                    own[place : place + len(values)] = added

    def add_days(
        self, days: Mapping[Any, Sums], early: Mapping[Any, Sums], states: Sequence[FactSum]
    ) -> None:
        """Add the sums of `Days`: those of whole days, without the early cells, and with the next ones.

        `states` also count before the first edge, and so do its early cells.
        """
        for key in {**days, **early}:
            target = self.by_key[key]
            for fact_sum in self._fact_sums:
                before, *values = days[key][fact_sum] if key in days else [0] * len(target[fact_sum])
                _, *parts = early[key][fact_sum] if key in early else [0] * (len(values) + 2)
                before += parts[0] if fact_sum in states else 0
                shifted = map(add, map(sub, values, parts), parts[1:])
                target[fact_sum][:] = map(add, target[fact_sum], [before, *shifted])

    def _zeros(self) -> Sums:
        return {fact_sum: [0] * len(self._edges) for fact_sum in self._fact_sums}

    def _add(
        self,
        own: Sums,
        fact_sums: Sequence[FactSum],
        moments: Sequence[int],
        columns: Sequence[Sequence[int]],
    ) -> None:
        targets = [
            (own[fact_sum], column.weight) for fact_sum in fact_sums for column in fact_sum.cell_columns
        ]
        columns = columns[: len(targets)]
        aligned, places = self._aligned(moments, columns), None
        if aligned is None:
            places, aligned = [bisect_right(self._edges, moment) for moment in moments], columns
        for (target, weight), values in zip(targets, aligned, strict=True):
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

    def _aligned(
        self, moments: Sequence[int], columns: Sequence[Sequence[int]]
    ) -> Sequence[Sequence[int]] | None:
        """The columns with one value for each place, or None if most places have no row of their own.

        A database that has grouped by period gives a row for most periods; the missing ones are filled in.
        """
        begins = (FIRST_EVER, *self._edges[:-1])
        if moments == begins[1:]:
            return [(0, *values) for values in columns]
        if 2 * len(moments) <= len(begins):
            return None
        rows = dict(zip(moments, zip(*columns, strict=True), strict=True))
        if len(rows) < len(moments) or not rows.keys() <= set(begins):
            return None
        zeros = (0,) * len(columns)
        return list(zip(*(rows.get(moment, zeros) for moment in begins), strict=True))
