"""Compute metrics by group: what each has, and the rest as one group.

What a group has no statement for is the difference between all facts and the other groups, which is exact.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import sub

from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.definitions import Metric
from storage.metrics.grouping.groups import REST, AnyKey, Groups, Key
from storage.metrics.reading.engine import Columns, Needs, Reading, columns_of, read
from storage.metrics.reading.reader import Question, Source, Sums


@dataclass(frozen=True)
class GroupedReader:
    """All facts of a selection, and the same facts by group; money in `currency`."""

    source: Source
    groups: Groups
    currency: str

    async def readings(self, needs: Needs, edges: Sequence[int]) -> dict[Key | None, Reading]:
        """What each group has between the edges, the one without a key included."""
        total = await read(self.source, needs, edges, self.currency)
        sums: Mapping[Key, Sums] = {}
        if needs.fact_sums:
            sums = await self.groups.sums(Question(needs.fact_sums, edges, self.currency, needs.states))
        persons: Mapping[AnyKey, PersonCounts] = {}
        if total.persons is not None:
            persons = await self.groups.persons(edges, total.persons)
        nothing, empty = no_sums(needs, edges), no_persons(edges)
        keys = dict.fromkeys([*sums, *(key for key in persons if isinstance(key, Key))])
        return {
            **{key: Reading(sums.get(key, nothing), persons.get(key, empty)) for key in keys},
            None: Reading(difference(total.sums, sums.values()), persons.get(None, empty)),
        }

    async def columns(
        self, keys: Sequence[Key | None], metrics: Sequence[Metric], edges: Sequence[int], total: Reading
    ) -> dict[AnyKey, Columns]:
        """The metrics of each of these groups, and of the rest of `total`, which includes all of them."""
        needs = Needs.of(metrics)
        sums = await self._sums(keys, needs, edges, total.sums)
        persons: Mapping[AnyKey, PersonCounts] = {}
        if total.persons is not None and needs.persons:
            persons = await self.groups.persons(edges, total.persons, keys)
        empty = no_persons(edges)
        return {
            key: columns_of(metrics, Reading(each, persons.get(key, empty))) for key, each in sums.items()
        }

    async def _sums(
        self, keys: Sequence[Key | None], needs: Needs, edges: Sequence[int], total: Sums
    ) -> dict[AnyKey, Sums]:
        if not needs.fact_sums:
            return {key: {} for key in [*keys, REST]}
        asked = Question(needs.fact_sums, edges, self.currency, needs.states)
        named = [key for key in keys if key is not None]
        found = await self.groups.sums(asked, named) if named else {}
        nothing = no_sums(needs, edges)
        sums: dict[AnyKey, Sums] = {key: found.get(key, nothing) for key in named}
        whole = {fact_sum: total[fact_sum] for fact_sum in needs.fact_sums}
        if None in keys:
            sums[None] = difference(whole, [await self.groups.keyed(asked)])
        return {key: sums[key] for key in keys} | {REST: difference(whole, sums.values())}


def difference(total: Sums, parts: Iterable[Sums]) -> Sums:
    """The total without its parts."""
    left = dict(total)
    for part in parts:
        for fact_sum, values in part.items():
            left[fact_sum] = list(map(sub, left[fact_sum], values))
    return left


def no_sums(needs: Needs, edges: Sequence[int]) -> Sums:
    return {fact_sum: [0] * len(edges) for fact_sum in needs.fact_sums}


def no_persons(edges: Sequence[int]) -> PersonCounts:
    return PersonCounts([0] * (len(edges) - 1), 0)
