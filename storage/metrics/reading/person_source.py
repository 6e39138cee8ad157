"""The distinct persons of workspaces out of cells, with those of facts that the cells do not hold."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from storage.dialects.fast_rows import driver_rows
from storage.metrics.cells.bitmaps import PersonCount, Persons
from storage.metrics.cells.merges import unfolded_merges
from storage.metrics.reading.person_statements import are_counted, persons_cell_by_cell, persons_of_cells


class PersonSource:
    """Read first, then ask for the result, with the facts of deltas if `has_deltas` is not False.

    It is None where not every workspace has cells that could tell.
    """

    def __init__(
        self, connection: AsyncConnection, workspace_ids: Sequence[UUID], edges: Sequence[int]
    ) -> None:
        self.has_deltas: bool | None = None
        self._has_merges = False
        self._connection = connection
        self._workspace_ids = workspace_ids
        self._edges = tuple(edges)
        self._counts = [0] * (len(edges) - 1)
        # Of the periods, or of the range as a whole where cells say how many the periods have.
        self._united = PersonCount(self._edges)
        self._are_counted = False

    async def read(self, *, unite: bool = False) -> None:
        """Read the cells; `unite` all of them, as where facts or merges are to be added."""
        dialect = self._connection.dialect.name
        self._are_counted = not unite and are_counted(self._edges)
        statement = persons_of_cells(self._edges, dialect)
        if self._are_counted:
            self._united = PersonCount((self._edges[0], self._edges[-1]))
            statement = persons_cell_by_cell(self._edges, dialect)
        flags = []
        for workspace_id in self._workspace_ids:
            rows = await driver_rows(self._connection, statement, {"workspace_id": workspace_id})
            flags += [row[-2:] for row in rows[:1]]
            self._united.add_bitmaps(workspace_id, self._count(rows) if self._are_counted else rows)
        self._has_merges = any(has_merges for _, has_merges in flags)
        if any(has_deltas for has_deltas, _ in flags):
            self.has_deltas = True
        elif len(flags) == len(self._workspace_ids):
            self.has_deltas = False

    async def result(self, facts: Sequence[Any]) -> Persons:
        """The counts, with rows of a moment, a workspace and persons that the cells do not hold."""
        merges = await unfolded_merges(self._connection, self._workspace_ids) if self._has_merges else {}
        if not self._are_counted:
            self._united.add(facts)
            return self._united.result(merges)
        if merges:
            return await self._unite(self._edges, facts)
        if facts:
            places = [bisect_right(self._edges, moment) - 1 for moment, *_ in facts]
            first, last = min(places), max(places)
            part = await self._unite(self._edges[first : last + 2], facts)
            self._counts[first : last + 1] = part.periods
            self._united.add(facts)
        return Persons(self._counts, self._united.result().total)

    def _count(self, rows: Sequence[Any]) -> list[Any]:
        """Note how many persons the periods have, and give the rows that are bitmaps."""
        bitmaps = []
        for row in rows:
            if row[1] is None:
                self._counts[bisect_right(self._edges, row[0]) - 1] += row[2]
            else:
                bitmaps.append(row)
        return bitmaps

    async def _unite(self, edges: Sequence[int], facts: Sequence[Any]) -> Persons:
        part = PersonSource(self._connection, self._workspace_ids, edges)
        await part.read(unite=True)
        return await part.result(facts)
