"""Facts, from the log or the deltas, as sums and persons by period."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pyroaring import BitMap

from storage.dialects.number_lists import read_numbers
from storage.engine.connections import Connection
from storage.metrics.cells.bitmaps import PersonsInPeriod, replace_absorbed
from storage.metrics.cells.merges import merges_of
from storage.metrics.reading.fact_statements import FactQuery, PersonsOf, persons_with_events, sums_of_facts
from storage.metrics.reading.period_sums import SumOfFacts
from storage.metrics.reading.reader import Selection
from storage.metrics.sums import FactSum, summed_columns, whole_sums
from storage.rows.fast_rows import driver_rows


@dataclass(frozen=True)
class FactRows:
    """The selected facts of a query; `of_persons` lists the persons, by workspace, that it is limited to."""

    connection: Connection
    query: FactQuery
    selection: Selection
    of_persons: PersonsOf | None = None

    async def sums(self, fact_sums: Sequence[FactSum]) -> list[tuple[Any, SumOfFacts]]:
        """The sums with the key that the query groups them by, or None."""
        columns = summed_columns(fact_sums)
        statement = sums_of_facts(self.query, tuple(fact_sums))
        rows: Iterable[Sequence[Any]] = await self.connection.execute(statement, self._values)
        if self.query.grouped_by is None:
            rows = ((None, *row) for row in rows)
        return [
            (key, SumOfFacts(at, kind, currency, whole_sums(columns, sums)))
            for key, at, kind, currency, *sums in rows
            if kind is not None
        ]

    async def persons(self) -> list[PersonsInPeriod]:
        """The persons with an event, for each period and workspace; merged persons are one."""
        statement, persons = persons_with_events(self.query), []
        for workspace_id in self.selection.workspace_ids:
            values = self._values | {"workspace_ids": [workspace_id]}
            rows = await driver_rows(self.connection, statement, values)
            periods = [
                PersonsInPeriod(at, workspace_id, BitMap(read_numbers(numbers)))
                for at, numbers, _ in rows
                if at is not None
            ]
            has_merges = bool(periods) and rows[0][2]
            if has_merges:
                everyone = BitMap.union(*(period.persons for period in periods))
                merges = await merges_of(self.connection, workspace_id, everyone)
                for period in periods:
                    replace_absorbed(period.persons, merges.items())
            persons += periods
        return persons

    @property
    def _values(self) -> dict[str, Any]:
        return self.query.values(self.selection, self.of_persons)
