"""Metrics from the log itself: for customers, for ranges that no cells fit, and to check cells against."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from storage.engine.connections import Connection
from storage.metrics.cells.bitmaps import DistinctPersons, PersonCounts
from storage.metrics.reading.customer_persons import persons_of_customers
from storage.metrics.reading.fact_rows import FactRows
from storage.metrics.reading.fact_statements import FactQuery, InRange, OfPersons, PersonsOf
from storage.metrics.reading.period_sums import PeriodSums, PeriodSumsByCurrency
from storage.metrics.reading.reader import Selection, Sums
from storage.metrics.sums import FactSum, kinds_of
from storage.rows.rows import table_of
from storage.tables.metrics.metrics import MetricFactRow

FACTS = table_of(MetricFactRow)


@dataclass
class FactSource:
    """Groups facts by period. `connection` is in a snapshot."""

    connection: Connection
    selection: Selection
    _customers: PersonsOf | None = field(default=None, init=False, repr=False)

    async def sums(
        self,
        fact_sums: Sequence[FactSum],
        edges: Sequence[int],
        currency: str,
        states: Sequence[FactSum] = (),
    ) -> Sums:
        sums, rows = PeriodSums(fact_sums, edges), await self._rows(edges, states)
        sums.add_facts(fact_sums, await rows.sums(fact_sums), currency)
        return sums.by_fact_sum

    async def money(self, fact_sums: Sequence[FactSum], edges: Sequence[int]) -> Mapping[str, Sums]:
        sums, rows = PeriodSumsByCurrency(fact_sums, edges), await self._rows(edges)
        sums.add_facts(await rows.sums(fact_sums))
        return sums.by_currency

    async def persons(self, edges: Sequence[int]) -> PersonCounts:
        distinct, rows = DistinctPersons(edges), await self._rows(edges)
        distinct.add(await rows.persons())
        return distinct.count()

    async def _rows(self, edges: Sequence[int], states: Sequence[FactSum] = ()) -> FactRows:
        if self._customers is None and self.selection.customer_ids is not None:
            self._customers = await persons_of_customers(self.connection, self.selection)
        query = FactQuery(
            self.connection.dialect.name,
            FACTS,
            tuple(edges),
            InRange() if self._customers is None else OfPersons(len(self._customers)),
            by_share=self.selection.share_ids is not None,
            since_ever=kinds_of(states),
        )
        return FactRows(self.connection, query, self.selection, self._customers)
