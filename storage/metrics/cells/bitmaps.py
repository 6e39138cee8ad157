"""Sets of persons as Roaring bitmaps, and the counting of them by period."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from pyroaring import BitMap

# Absorbed person to the one that it is, by workspace.
Merges = Mapping[UUID, Sequence[tuple[int, int]]]


class Persons(NamedTuple):
    """How many distinct persons each period has, and how many the whole range."""

    periods: list[int]
    total: int


def replace_absorbed(persons: BitMap, merges: Iterable[tuple[int, int]]) -> None:
    """Put whom they were merged into in the place of absorbed persons."""
    into = dict(merges)
    absorbed = persons & BitMap(into)
    persons -= absorbed
    persons.update(into[person] for person in absorbed)


class PersonCount:
    """Counts the distinct persons of periods between edges; persons are numbered in their workspace."""

    def __init__(self, edges: Sequence[int]) -> None:
        self._edges = edges
        self._bitmaps: defaultdict[UUID, list[list[BitMap]]] = defaultdict(self._empty)

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows of a moment, a workspace and persons in it."""
        for moment, workspace_id, persons in rows:
            self._bitmaps[workspace_id][self._period(moment)].append(BitMap(persons))

    def add_bitmaps(self, workspace_id: UUID, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows that begin with a moment and a serialized bitmap."""
        edges, periods, read = self._edges, self._bitmaps[workspace_id], BitMap.deserialize
        for row in rows:
            periods[bisect_right(edges, row[0]) - 1].append(read(row[1]))

    def result(self, merges: Merges | None = None) -> Persons:
        """The counts, with merges that the bitmaps do not know yet."""
        counts, total = [0] * (len(self._edges) - 1), 0
        for workspace_id, periods in self._bitmaps.items():
            absorbed = (merges or {}).get(workspace_id, ())
            unions = []
            for period, bitmaps in enumerate(periods):
                if bitmaps:
                    persons = bitmaps[0] if len(bitmaps) == 1 else BitMap.union(*bitmaps)
                    if absorbed:
                        replace_absorbed(persons, absorbed)
                    counts[period] += len(persons)
                    unions.append(persons)
            total += len(BitMap.union(*unions)) if unions else 0
        return Persons(counts, total)

    def _empty(self) -> list[list[BitMap]]:
        return [[] for _ in self._edges[1:]]

    def _period(self, moment: int) -> int:
        return bisect_right(self._edges, moment) - 1
