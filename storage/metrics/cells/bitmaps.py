"""Sets of persons as Roaring bitmaps, and counting their distinct members by period."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from pyroaring import BitMap


class Merge(NamedTuple):
    """Two numbers of one person: `absorbed` counts as `into`."""

    absorbed: int
    into: int


# By workspace.
Merges = Mapping[UUID, Sequence[Merge]]


class PersonsInPeriod(NamedTuple):
    """Persons of one workspace with an event in the period that contains `moment`."""

    moment: int
    workspace_id: UUID
    persons: BitMap


class PersonCounts(NamedTuple):
    """The number of distinct persons in each period, and in the whole range."""

    periods: list[int]
    total: int


def replace_absorbed(persons: BitMap, merges: Iterable[tuple[int, int]]) -> None:
    """Replace absorbed persons by those they were merged into."""
    into = dict(merges)
    absorbed = persons & BitMap(into)
    persons -= absorbed
    persons.update(into[person] for person in absorbed)


class DistinctPersons:
    """Collects the persons of each period between edges and counts each once, workspace by workspace."""

    def __init__(self, edges: Sequence[int]) -> None:
        self._edges = edges
        self._bitmaps: defaultdict[UUID, list[list[BitMap]]] = defaultdict(self._empty)

    def add(self, rows: Iterable[PersonsInPeriod]) -> None:
        for moment, workspace_id, persons in rows:
            self._bitmaps[workspace_id][self._period(moment)].append(BitMap(persons))

    def add_bitmaps(self, workspace_id: UUID, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows that begin with a moment and a serialized bitmap."""
        edges, periods, read = self._edges, self._bitmaps[workspace_id], BitMap.deserialize
        for row in rows:
            periods[bisect_right(edges, row[0]) - 1].append(read(row[1]))

    def count(self, merges: Merges | None = None) -> PersonCounts:
        """The counts, after applying merges that the bitmaps do not include yet."""
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
        return PersonCounts(counts, total)

    def _empty(self) -> list[list[BitMap]]:
        return [[] for _ in self._edges[1:]]

    def _period(self, moment: int) -> int:
        return bisect_right(self._edges, moment) - 1
