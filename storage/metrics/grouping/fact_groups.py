"""Groups of facts from the log itself: by share or by person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storage.engine.connections import Connection
from storage.metrics.reading.fact_rows import FactRows
from storage.metrics.reading.fact_source import FACTS
from storage.metrics.reading.fact_statements import FactQuery, GroupedBy, InRange, OfPersons, PersonsOf
from storage.metrics.reading.period_sums import PeriodSumsByKey
from storage.metrics.reading.reader import Selection, Sums
from storage.metrics.sums import FactSum, kinds_of


@dataclass(frozen=True)
class GroupedFacts:
    """The facts of a selection by group; those of `persons` only, if given. `connection` is in a snapshot."""

    connection: Connection
    selection: Selection
    grouped_by: GroupedBy
    persons: PersonsOf | None = None

    async def sums(
        self,
        fact_sums: Sequence[FactSum],
        edges: Sequence[int],
        currency: str,
        states: Sequence[FactSum] = (),
    ) -> Mapping[Any, Sums]:
        """The sums by key."""
        sums = PeriodSumsByKey(fact_sums, edges)
        sums.add_facts(await self.rows(edges, states).sums_by_key(fact_sums), currency)
        return sums.by_key

    def rows(self, edges: Sequence[int], states: Sequence[FactSum] = ()) -> FactRows:
        query = FactQuery(
            self.connection.dialect.name,
            FACTS,
            tuple(edges),
            InRange() if self.persons is None else OfPersons(len(self.persons)),
            by_share=self.selection.share_ids is not None,
            since_ever=kinds_of(states),
            grouped_by=self.grouped_by,
        )
        return FactRows(self.connection, query, self.selection, self.persons)
