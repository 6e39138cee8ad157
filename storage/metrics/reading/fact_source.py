"""Metrics from the log itself: for one customer, for bounds that no cells fit, and to check the cells by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncConnection

from storage.metrics.cells.bitmaps import PersonCount, Persons
from storage.metrics.reading.customer_persons import persons_of_customers
from storage.metrics.reading.fact_rows import FactRows
from storage.metrics.reading.fact_statements import PersonsOf, Shape
from storage.metrics.reading.period_sums import Tallies, Tally
from storage.metrics.reading.reader import Selection, Sums
from storage.metrics.sums import Term, kinds_of
from storage.rows import table_of
from storage.tables.metrics import MetricFactRow

FACTS = table_of(MetricFactRow)


@dataclass
class FactSource:
    """Groups the facts by the period that they lie in."""

    connection: AsyncConnection
    selection: Selection
    _customers: PersonsOf | None = field(default=None, init=False, repr=False)

    async def sums(
        self, terms: Sequence[Term], edges: Sequence[int], currency: str, states: Sequence[Term] = ()
    ) -> Sums:
        tally = Tally(terms, edges)
        tally.add_facts(terms, await (await self._rows(edges, states)).sums(terms), currency)
        return tally.sums

    async def money(self, terms: Sequence[Term], edges: Sequence[int]) -> Mapping[str, Sums]:
        tallies = Tallies(terms, edges)
        tallies.add_facts(await (await self._rows(edges)).sums(terms))
        return tallies.sums

    async def persons(self, edges: Sequence[int]) -> Persons:
        count = PersonCount(edges)
        count.add(await (await self._rows(edges)).persons())
        return count.result()

    async def _rows(self, edges: Sequence[int], states: Sequence[Term] = ()) -> FactRows:
        if self._customers is None and self.selection.customer_ids is not None:
            self._customers = await persons_of_customers(self.connection, self.selection)
        shape = Shape(
            self.connection.dialect.name,
            FACTS,
            tuple(edges),
            by_share=self.selection.share_ids is not None,
            homes=None if self._customers is None else len(self._customers),
            since_ever=kinds_of(states),
        )
        return FactRows(self.connection, shape, self.selection, self._customers)
