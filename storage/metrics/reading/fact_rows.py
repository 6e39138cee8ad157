"""Facts as sums and persons by period: those of the log, or those of the deltas."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.dialects.fast_rows import driver_rows
from storage.dialects.number_lists import read_numbers
from storage.metrics.cells.bitmaps import replace_absorbed
from storage.metrics.cells.merges import merges_of
from storage.metrics.reading.fact_statements import PersonsOf, Shape, persons_with_events, sums_of_facts
from storage.metrics.reading.period_sums import SumOfFacts
from storage.metrics.reading.reader import Selection
from storage.metrics.sums import Term, columns_of, whole_sums


@dataclass(frozen=True)
class FactRows:
    """The selected facts of a shape; `of`: those of these persons by workspace."""

    connection: AsyncConnection
    shape: Shape
    selection: Selection
    of: PersonsOf | None = None

    async def sums(self, terms: Sequence[Term]) -> list[SumOfFacts]:
        """What the facts that the terms are about add up to."""
        columns = columns_of(terms)
        rows = await self.connection.execute(sums_of_facts(self.shape, tuple(terms)), self._values)
        return [
            SumOfFacts(at, kind, currency, whole_sums(columns, sums))
            for at, kind, currency, *sums in rows
            if kind is not None
        ]

    async def persons(self) -> list[tuple[int, UUID, BitMap]]:
        """Rows of a moment in the period, of a workspace, and of persons in it, merged ones as one."""
        statement, found = persons_with_events(self.shape), []
        for workspace_id in self.selection.workspace_ids:
            own = self._values | {"workspace_ids": [workspace_id]}
            rows = await driver_rows(self.connection, statement, own)
            persons = [(at, BitMap(read_numbers(numbers))) for at, numbers, _ in rows if at is not None]
            if persons and rows[0][-1]:
                everybody = BitMap.union(*(some for _, some in persons))
                merges = await merges_of(self.connection, workspace_id, everybody)
                for _, some in persons:
                    replace_absorbed(some, merges.items())
            found += [(at, workspace_id, some) for at, some in persons]
        return found

    @property
    def _values(self) -> dict[str, Any]:
        return self.shape.values(self.selection, self.of)
