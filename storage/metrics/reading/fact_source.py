"""Metrics from the log itself: for customers, for ranges that no cells fit, and to check cells against."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storage.engine.connections import Connection
from storage.metrics.cells.bitmaps import DistinctPersons, PersonCounts
from storage.metrics.reading.customer_persons import persons_of_customers
from storage.metrics.reading.fact_rows import FactRows
from storage.metrics.reading.fact_statements import FactQuery, InRange, OfPersons, PersonsOf
from storage.metrics.reading.period_sums import PeriodSums, SumsByKey
from storage.metrics.reading.reader import GroupedBy, Selection, Sums
from storage.metrics.sums import FactSum, kinds_of
from storage.rows.rows import table_of
from storage.tables.metrics.metrics import MetricFactRow

FACTS = table_of(MetricFactRow)


@dataclass
class FactSource:
    """Groups facts by period; those of `of_persons` only, if given. `connection` is in a snapshot."""

    connection: Connection
    selection: Selection
    of_persons: PersonsOf | None = None

    async def sums(
        self,
        fact_sums: Sequence[FactSum],
        edges: Sequence[int],
        currency: str,
        states: Sequence[FactSum] = (),
    ) -> Sums:
        return (await self.by_key(fact_sums, edges, currency, states))[None]

    async def money(self, fact_sums: Sequence[FactSum], edges: Sequence[int]) -> Mapping[str, Sums]:
        return await self.by_key(fact_sums, edges, "", grouped_by=GroupedBy.CURRENCY)

    async def persons(self, edges: Sequence[int]) -> PersonCounts:
        distinct, rows = DistinctPersons(edges), await self.rows(edges)
        distinct.add(await rows.persons())
        return distinct.count()

    async def by_key(
        self,
        fact_sums: Sequence[FactSum],
        edges: Sequence[int],
        currency: str,
        states: Sequence[FactSum] = (),
        grouped_by: GroupedBy | None = None,
    ) -> SumsByKey:
        """The sums of each group; money in `currency`, or in the key if that is empty."""
        sums, rows = PeriodSums(fact_sums, edges), await self.rows(edges, states, grouped_by)
        sums.add_facts(await rows.sums(fact_sums), currency)
        return sums.by_key

    async def rows(
        self, edges: Sequence[int], states: Sequence[FactSum] = (), grouped_by: GroupedBy | None = None
    ) -> FactRows:
        """The facts between the edges, and those of `states` before them."""
        if self.of_persons is None and self.selection.customer_ids is not None:
            self.of_persons = await persons_of_customers(self.connection, self.selection)
        query = FactQuery(
            self.connection.dialect.name,
            FACTS,
            tuple(edges),
            InRange() if self.of_persons is None else OfPersons(len(self.of_persons)),
            by_share=self.selection.share_ids is not None,
            since_ever=kinds_of(states),
            grouped_by=grouped_by,
        )
        return FactRows(self.connection, query, self.selection, self.of_persons)
