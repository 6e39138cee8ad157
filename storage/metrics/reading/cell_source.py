"""Metrics from cells, from deltas that are not in them yet, and from the facts of cells that an edge cuts.

The fold moves deltas into cells in one transaction, and all are read in one snapshot: each fact counts once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from storage.engine.connections import Connection
from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.cells.cells import PERSON_GRAINS
from storage.metrics.cells.tiling import FIRST_EVER, Cover, Layer, make_cover
from storage.metrics.reading.cell_query import PlacedCells, grains_of, placed_cells
from storage.metrics.reading.cell_statements import any_deltas, sums_of_cells
from storage.metrics.reading.fact_rows import FactRows
from storage.metrics.reading.fact_source import FACTS, FactSource
from storage.metrics.reading.fact_statements import FactQuery, InCells, OutsideCells
from storage.metrics.reading.period_sums import PeriodSums
from storage.metrics.reading.person_source import PersonSource
from storage.metrics.reading.reader import GroupedBy, Question, Selection, Source, SumsByKey
from storage.metrics.sums import kinds_of
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import MetricDeltaRow

_deltas = table_of(MetricDeltaRow)


def make_source(connection: Connection, selection: Selection) -> Source:
    """Cells for workspaces and shares; facts for customers, who have few, found by an index."""
    if selection.customer_ids is not None:
        return FactSource(connection, selection)
    return CellSource(connection, selection)


@dataclass
class CellSource:
    """The cells of workspaces, or of their shares. `connection` is in a snapshot."""

    connection: Connection
    selection: Selection
    _has_deltas: bool | None = field(default=None, init=False, repr=False)

    async def sums(self, question: Question) -> SumsByKey:
        cover = make_cover(tuple(question.edges), grains_of(self.selection))
        if not cover.layers:
            found = await self._facts.sums(replace(question, states=()))
            if question.states:
                # The states before the edges are in cells.
                earlier = replace(question, fact_sums=question.states, states=())
                until = replace(earlier, edges=[FIRST_EVER, question.edges[0]])
                for key, before in (await self.sums(until)).items():
                    for state in question.states:
                        found[key][state][0] = before[state][1]
            return found
        sums = await self._between(question)
        for rows in await self._others(question, cover):
            sums.add_facts(await rows.sums(question.fact_sums), question.currency)
        return sums.by_key

    async def persons(self, edges: Sequence[int]) -> PersonCounts:
        cover = make_cover(tuple(edges), PERSON_GRAINS)
        if not cover.layers or self.selection.share_ids is not None:
            return await self._facts.persons(edges)
        source = PersonSource(self.connection, self.selection.workspace_ids, edges)
        await source.read()
        if source.has_deltas is not None:
            self._has_deltas = source.has_deltas
        facts = [
            persons
            for rows in await self._others(Question((), edges), cover)
            for persons in await rows.persons()
        ]
        return await source.result(facts)

    async def _between(self, question: Question, layers: tuple[Layer, ...] | None = None) -> PeriodSums:
        """The cells between the edges; with `layers`, only these."""
        sums = PeriodSums(question)
        dialect = self.connection.dialect.name
        for asked in placed_cells(dialect, self.selection, question, layers=layers):
            rows = await self._cells(asked, question.currency)
            sums.add_cells(asked.query.fact_sums, rows, KEYS[question.grouped_by])
        return sums

    @property
    def _facts(self) -> FactSource:
        return FactSource(self.connection, self.selection)

    async def _others(self, question: Question, cover: Cover) -> list[FactRows]:
        """The facts that the cover's cells do not hold."""
        others = []
        query = FactQuery(
            self.connection.dialect.name,
            _deltas,
            tuple(question.edges),
            OutsideCells(cover.finest, cover.cut),
            by_share=self.selection.share_ids is not None,
            since_ever=kinds_of(question.states),
            grouped_by=question.grouped_by,
        )
        if self._has_deltas is None:
            ids = {"workspace_ids": self.selection.workspace_ids}
            ((self._has_deltas,),) = await self.connection.fetch(any_deltas(self.connection.dialect), ids)
        if self._has_deltas:
            others.append(FactRows(self.connection, query, self.selection))
        if cover.cut:
            query = replace(query, table=FACTS, restriction=InCells(cover.finest, cover.cut))
            others.append(FactRows(self.connection, query, self.selection))
        return others

    async def _cells(self, asked: PlacedCells, currency: str) -> Sequence[Any]:
        kept = sums_of_cells(self.connection.dialect, asked.query)
        rows = await self.connection.fetch(kept, {**asked.values, "currency": currency})
        if rows:
            # Usually the fold is up to date, and this saves every further statement.
            *_, has_any = rows[0]
            self._has_deltas = self._has_deltas if has_any is None else bool(has_any)
        return rows


def _id(value: UUID | str) -> UUID:
    """The id in a row as the driver returns it: SQLite stores texts."""
    return UUID(value) if isinstance(value, str) else value


KEYS: Mapping[GroupedBy | None, Callable[[Any], Any] | None] = {
    None: None,
    GroupedBy.SHARE: _id,
    GroupedBy.CURRENCY: str,
}
