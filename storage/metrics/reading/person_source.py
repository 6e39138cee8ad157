"""The distinct persons of workspaces: those of cells, and those of facts that the cells do not hold."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from storage.engine.connections import Connection
from storage.metrics.cells.bitmaps import DistinctPersons, PersonCounts, PersonsInPeriod
from storage.metrics.cells.merges import unfolded_merges
from storage.metrics.reading.fast_rows import driver_rows
from storage.metrics.reading.person_statements import are_counted, persons_cell_by_cell, persons_of_cells


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
        self._counts = [0] * (len(edges) - 1)
        # By period; for the range as a whole if cells hold the number of persons in each period.
        self._united = DistinctPersons(self._edges)
        self._are_counted = False

    async def read(self, *, unite: bool = False) -> None:
        """Read the cells; with `unite`, as bitmaps by period, to which persons and merges can be added."""
        dialect = self._connection.dialect.name
        self._are_counted = not unite and are_counted(self._edges)
        statement = persons_of_cells(self._edges, dialect)
        if self._are_counted:
            self._united = DistinctPersons((self._edges[0], self._edges[-1]))
            statement = persons_cell_by_cell(self._edges, dialect)
        deltas, merges = [], []
        for workspace_id in self._workspace_ids:
            rows = await driver_rows(self._connection, statement, {"workspace_id": workspace_id})
            for *_, has_deltas, has_merges in rows[:1]:
                deltas.append(has_deltas)
                merges.append(has_merges)
            self._united.add_bitmaps(workspace_id, self._count(rows) if self._are_counted else rows)
        self._has_merges = any(merges)
        if any(deltas):
            self.has_deltas = True
        elif len(deltas) == len(self._workspace_ids):
            self.has_deltas = False

    async def result(self, facts: Sequence[PersonsInPeriod]) -> PersonCounts:
        """The counts, including the persons of facts that the cells do not hold."""
        merges = await unfolded_merges(self._connection, self._workspace_ids) if self._has_merges else {}
        if not self._are_counted:
            self._united.add(facts)
            return self._united.count(merges)
        if merges:
            return await self._unite(self._edges, facts)
        if facts:
            places = [bisect_right(self._edges, persons.moment) - 1 for persons in facts]
            first, last = min(places), max(places)
            part = await self._unite(self._edges[first : last + 2], facts)
            self._counts[first : last + 1] = part.periods
            self._united.add(facts)
        return PersonCounts(self._counts, self._united.count().total)

    def _count(self, rows: Sequence[Any]) -> list[Any]:
        """Add up the numbers of persons by period; returns the rows that have a bitmap instead."""
        with_bitmap = []
        for row in rows:
            moment, bitmap, many, *_ = row
            if bitmap is None:
                self._counts[bisect_right(self._edges, moment) - 1] += many
            else:
                with_bitmap.append(row)
        return with_bitmap

    async def _unite(self, edges: Sequence[int], facts: Sequence[PersonsInPeriod]) -> PersonCounts:
        part = PersonSource(self._connection, self._workspace_ids, edges)
        await part.read(unite=True)
        return await part.result(facts)
