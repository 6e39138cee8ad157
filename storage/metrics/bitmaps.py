"""Sets of persons as Roaring bitmaps, and the counting of them by period."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from pyroaring import BitMap

from storage.metrics.source import Persons

# Absorbed person to the one that it is, by workspace.
Merges = Mapping[UUID, Sequence[tuple[int, int]]]


def replace_absorbed(persons: BitMap, merges: Iterable[tuple[int, int]]) -> None:
    """Put whom they were merged into in the place of absorbed persons."""
    for absorbed, into in merges:
        if absorbed in persons:
            persons.remove(absorbed)
            persons.add(into)


class PersonCount:
    """Counts the distinct persons of periods between edges; persons are numbered in their workspace."""

    def __init__(self, edges: Sequence[int]) -> None:
        self._edges = edges
        self._bitmaps: list[defaultdict[UUID, list[BitMap]]] = [defaultdict(list) for _ in edges[1:]]
        self._single: list[defaultdict[UUID, set[int]]] = [defaultdict(set) for _ in edges[1:]]

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows of a moment, a workspace and a person."""
        for moment, workspace_id, person in rows:
            self._single[self._period(moment)][workspace_id].add(person)

    def add_bitmaps(self, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows of a moment, a workspace and a serialized bitmap."""
        for moment, workspace_id, persons in rows:
            self._bitmaps[self._period(moment)][workspace_id].append(BitMap.deserialize(persons))

    def result(self, merges: Merges | None = None) -> Persons:
        """The counts, with merges that the bitmaps do not know yet."""
        total: defaultdict[UUID, BitMap] = defaultdict(BitMap)
        counts = []
        for bitmaps, single in zip(self._bitmaps, self._single, strict=True):
            count = 0
            for workspace_id in bitmaps.keys() | single.keys():
                persons = BitMap.union(BitMap(), *bitmaps.get(workspace_id, ()))
                replace_absorbed(persons, (merges or {}).get(workspace_id, ()))
                persons.update(single.get(workspace_id, ()))
                total[workspace_id] |= persons
                count += len(persons)
            counts.append(count)
        return Persons(counts, sum(map(len, total.values())))

    def _period(self, moment: int) -> int:
        return bisect_right(self._edges, moment) - 1
