"""The distinct persons of workspaces: those of cells, and those of facts that the cells do not hold."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from storage.engine.connections import Connection
from storage.metrics.cells.bitmaps import DistinctPersons, Merges, PersonCounts, PersonsInPeriod
from storage.metrics.cells.merges import unfolded_merges
from storage.metrics.reading.person_statements import persons_of_cells, placed_persons


class PersonsOfCells:
    """Counts the persons in the rows of cells. Unless `are_counted`, others can be added to `united`."""

    def __init__(self, edges: tuple[int, ...], *, are_counted: bool) -> None:
        self.are_counted = are_counted
        self.counts = [0] * (len(edges) - 1)
        # By period; for the range as a whole if cells hold the number of persons in each period.
        self.united = DistinctPersons((edges[0], edges[-1]) if are_counted else edges)
        self._edges = edges

    def add(self, workspace_id: UUID, rows: Sequence[Any]) -> None:
        """Add rows of a moment, a bitmap or null, and the number of its persons or null."""
        self.united.add_bitmaps(workspace_id, self._count(rows) if self.are_counted else rows)

    def result(self, merges: Merges | None = None) -> PersonCounts:
        """The counts; merges are applied to bitmaps only."""
        united = self.united.count(merges)
        return PersonCounts(self.counts, united.total) if self.are_counted else united

    def _count(self, rows: Sequence[Any]) -> list[Any]:
        """Add up the numbers of persons by period; returns the rows that have a bitmap instead."""
        with_bitmap = []
        for row in rows:
            moment, bitmap, many, *_ = row
            if bitmap is None:
                self.counts[bisect_right(self._edges, moment) - 1] += many
            else:
                with_bitmap.append(row)
        return with_bitmap


class PersonSource:
    """Call `read`, then `result`. Unless `has_deltas` is False, pass the persons of the deltas too.

    `has_deltas` is None if it is unknown, because some workspace has no cells in the range.
    """

    def __init__(self, connection: Connection, workspace_ids: Sequence[UUID], edges: Sequence[int]) -> None:
        self.has_deltas: bool | None = None
        self._has_merges = False
        self._connection = connection
        self._workspace_ids = workspace_ids
        self._edges = tuple(edges)
        self._cells = PersonsOfCells(self._edges, are_counted=False)

    async def read(self, *, unite: bool = False) -> None:
        """Read the cells; with `unite`, as bitmaps by period, to which persons and merges can be added."""
        dialect = self._connection.dialect
        query, values, _ = placed_persons(dialect.name, self._edges, unite=unite)
        self._cells = PersonsOfCells(self._edges, are_counted=query.is_counted)
        deltas, merges = [], []
        for workspace_id in self._workspace_ids:
            kept = persons_of_cells(dialect, query)
            rows = await self._connection.fetch(kept, {**values, "workspace_id": workspace_id})
            for *_, has_deltas, has_merges in rows[:1]:
                deltas.append(has_deltas)
                merges.append(has_merges)
            self._cells.add(workspace_id, rows)
        self._has_merges = any(merges)
        if any(deltas):
            self.has_deltas = True
        elif len(deltas) == len(self._workspace_ids):
            self.has_deltas = False

    async def result(self, facts: Sequence[PersonsInPeriod]) -> PersonCounts:
        """The counts, including the persons of facts that the cells do not hold."""
        merges = await unfolded_merges(self._connection, self._workspace_ids) if self._has_merges else {}
        cells = self._cells
        if not cells.are_counted:
            cells.united.add(facts)
            return cells.result(merges)
        if merges:
            return await self._unite(self._edges, facts)
        if facts:
            places = [bisect_right(self._edges, persons.moment) - 1 for persons in facts]
            first, last = min(places), max(places)
            part = await self._unite(self._edges[first : last + 2], facts)
            cells.counts[first : last + 1] = part.periods
            cells.united.add(facts)
        return cells.result()

    async def _unite(self, edges: Sequence[int], facts: Sequence[PersonsInPeriod]) -> PersonCounts:
        part = PersonSource(self._connection, self._workspace_ids, edges)
        await part.read(unite=True)
        return await part.result(facts)
