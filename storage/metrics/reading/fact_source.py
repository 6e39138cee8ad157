"""Metrics from the log itself: for customers, for ranges that no cells fit, and to check cells against."""

from collections.abc import Sequence
from dataclasses import dataclass

from storage.engine.connections import Connection
from storage.metrics.cells.bitmaps import DistinctPersons, PersonCounts
from storage.metrics.reading.customer_persons import persons_of_customers
from storage.metrics.reading.fact_rows import FactRows
from storage.metrics.reading.fact_statements import FactQuery, InRange, OfPersons, PersonsOf
from storage.metrics.reading.period_sums import PeriodSums
from storage.metrics.reading.reader import Question, Selection, SumsByKey
from storage.metrics.sums import kinds_of
from storage.rows.rows import table_of
from storage.tables.metrics.metrics import MetricFactRow

FACTS = table_of(MetricFactRow)


@dataclass
class FactSource:
    """Groups facts by period; those of `of_persons` only, if given. `connection` is in a snapshot."""

    connection: Connection
    selection: Selection
    of_persons: PersonsOf | None = None

    async def sums(self, question: Question) -> SumsByKey:
        sums, rows = PeriodSums(question), await self.rows(question)
        sums.add_facts(await rows.sums(question.fact_sums), question.currency)
        return sums.by_key

    async def persons(self, edges: Sequence[int]) -> PersonCounts:
        distinct, rows = DistinctPersons(edges), await self.rows(Question((), edges))
        distinct.add(await rows.persons())
        return distinct.count()

    async def rows(self, question: Question) -> FactRows:
        """The facts between the edges, and those of the states before them."""
        if self.of_persons is None and self.selection.customer_ids is not None:
            self.of_persons = await persons_of_customers(self.connection, self.selection)
        query = FactQuery(
            self.connection.dialect.name,
            FACTS,
            tuple(question.edges),
            InRange() if self.of_persons is None else OfPersons(len(self.of_persons)),
            by_share=self.selection.share_ids is not None,
            since_ever=kinds_of(question.states),
            grouped_by=question.grouped_by,
        )
        return FactRows(self.connection, query, self.selection, self.of_persons)
