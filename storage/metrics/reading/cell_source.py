"""Metrics from cells, from deltas that are not in them yet, and from the facts of cells that an edge cuts.

The fold moves deltas into cells in one transaction, and all are read in one snapshot: each fact counts once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from sqlalchemy import Table, select

from storage.engine.connections import Connection
from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.cells.cells import ACTIVITY, MONEY, PERSON_GRAINS, SHARE_GRAINS, WORKSPACE_GRAINS
from storage.metrics.cells.tiling import FIRST_EVER, Cover, Grain, Layer, make_cover
from storage.metrics.reading.cell_statements import CellQuery, has_deltas, sums_of_cells
from storage.metrics.reading.fact_rows import FactRows
from storage.metrics.reading.fact_source import FACTS, FactSource
from storage.metrics.reading.fact_statements import FactQuery, InCells, OutsideCells
from storage.metrics.reading.fast_rows import driver_rows
from storage.metrics.reading.period_sums import PeriodSums
from storage.metrics.reading.person_source import PersonSource
from storage.metrics.reading.reader import GroupedBy, Question, Selection, Source, SumsByKey
from storage.metrics.sums import FactSum, kinds_of
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import NO_SHARE, MetricDeltaRow

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
        cover = make_cover(tuple(question.edges), self._grains)
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
        for table in (ACTIVITY, MONEY):
            own = [fact_sum for fact_sum in question.fact_sums if fact_sum.in_currency == (table is MONEY)]
            if own:
                rows = await self._cells(table, own, question, layers)
                sums.add_cells(own, rows, _KEYS[question.grouped_by])
        return sums

    @property
    def _grains(self) -> tuple[Grain, ...]:
        return WORKSPACE_GRAINS if self.selection.share_ids is None else SHARE_GRAINS

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
            statement = select(has_deltas(of_one=False))
            self._has_deltas = bool((await self.connection.execute(statement, ids)).scalar())
        if self._has_deltas:
            others.append(FactRows(self.connection, query, self.selection))
        if cover.cut:
            query = replace(query, table=FACTS, restriction=InCells(cover.finest, cover.cut))
            others.append(FactRows(self.connection, query, self.selection))
        return others

    async def _cells(
        self,
        table: Table,
        fact_sums: Sequence[FactSum],
        question: Question,
        layers: tuple[Layer, ...] | None,
    ) -> Sequence[Any]:
        shares = (NO_SHARE,) if self.selection.share_ids is None else self.selection.share_ids
        owner: dict[str, Any] = {"workspace_ids": self.selection.workspace_ids, "share_ids": shares}
        of_one = len(self.selection.workspace_ids) == len(shares) == 1 and question.grouped_by is None
        if of_one:
            owner = {name.removesuffix("s"): ids[0] for name, ids in owner.items()}
        query = CellQuery(
            self.connection.dialect.name,
            table,
            tuple(question.edges),
            self._grains,
            of_one=of_one,
            grouped_by=question.grouped_by,
            layers=layers,
            in_one=len(self.selection.workspace_ids) == 1,
        )
        statement = sums_of_cells(
            query, tuple(fact_sums), tuple(question.states) if table is ACTIVITY else ()
        )
        rows = await driver_rows(self.connection, statement, owner | {"currency": question.currency})
        if rows:
            # Usually the fold is up to date, and this saves every further statement.
            *_, has_any = rows[0]
            self._has_deltas = self._has_deltas if has_any is None else bool(has_any)
        return rows


def _id(value: UUID | str) -> UUID:
    """The id in a row as the driver returns it: SQLite stores texts."""
    return UUID(value) if isinstance(value, str) else value


_KEYS: Mapping[GroupedBy | None, Callable[[Any], Any] | None] = {
    None: None,
    GroupedBy.SHARE: _id,
    GroupedBy.CURRENCY: str,
}
