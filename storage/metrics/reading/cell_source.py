"""Metrics from cells, from deltas that are not in them yet, and from the facts of cells that an edge cuts.

The fold moves deltas into cells in one transaction, and all are read in one snapshot: each fact counts once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Table, select

from storage.engine.connections import Connection
from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.cells.cells import ACTIVITY, MONEY, PERSON_GRAINS, SHARE_GRAINS, WORKSPACE_GRAINS
from storage.metrics.cells.tiling import FIRST_EVER, Cover, Grain, Layer, make_cover
from storage.metrics.reading.cell_statements import CellQuery, Money, has_deltas, sums_of_cells
from storage.metrics.reading.fact_rows import FactRows
from storage.metrics.reading.fact_source import FACTS, FactSource
from storage.metrics.reading.fact_statements import FactQuery, GroupedBy, InCells, OutsideCells
from storage.metrics.reading.fast_rows import driver_rows
from storage.metrics.reading.period_sums import PeriodSums, PeriodSumsByCurrency
from storage.metrics.reading.person_source import PersonSource
from storage.metrics.reading.reader import Selection, Source, Sums
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
    """The cells of workspaces, or of their shares. `connection` is in a snapshot.

    `grouped_by` makes `_cells` and `_others` give a key with each row.
    """

    connection: Connection
    selection: Selection
    grouped_by: GroupedBy | None = None
    _has_deltas: bool | None = field(default=None, init=False, repr=False)

    async def sums(
        self,
        fact_sums: Sequence[FactSum],
        edges: Sequence[int],
        currency: str,
        states: Sequence[FactSum] = (),
    ) -> Sums:
        cover = self._cover(edges)
        if not cover.layers:
            from_facts = await self._facts.sums(fact_sums, edges, currency)
            if states:
                earlier = await self.sums(states, [FIRST_EVER, edges[0]], currency)
                for state in states:
                    from_facts[state][0] = earlier[state][1]
            return from_facts
        sums = PeriodSums(fact_sums, edges)
        counts = [fact_sum for fact_sum in fact_sums if not fact_sum.in_currency]
        money = [fact_sum for fact_sum in fact_sums if fact_sum.in_currency]
        if counts:
            sums.add_cells(counts, await self._cells(ACTIVITY, counts, edges, states=states))
        if money:
            sums.add_cells(money, await self._cells(MONEY, money, edges, Money.OF_ONE, currency=currency))
        for rows in await self._others(edges, cover, states):
            sums.add_facts(fact_sums, await rows.sums(fact_sums), currency)
        return sums.by_fact_sum

    async def money(self, fact_sums: Sequence[FactSum], edges: Sequence[int]) -> Mapping[str, Sums]:
        cover = self._cover(edges)
        if not cover.layers:
            return await self._facts.money(fact_sums, edges)
        sums = PeriodSumsByCurrency(fact_sums, edges)
        sums.add_cells(await self._cells(MONEY, fact_sums, edges, Money.BY_CURRENCY))
        for rows in await self._others(edges, cover):
            sums.add_facts(await rows.sums(fact_sums))
        return sums.by_currency

    async def persons(self, edges: Sequence[int]) -> PersonCounts:
        cover = make_cover(tuple(edges), PERSON_GRAINS)
        if not cover.layers or self.selection.share_ids is not None:
            return await self._facts.persons(edges)
        source = PersonSource(self.connection, self.selection.workspace_ids, edges)
        await source.read()
        if source.has_deltas is not None:
            self._has_deltas = source.has_deltas
        facts = [persons for rows in await self._others(edges, cover) for persons in await rows.persons()]
        return await source.result(facts)

    @property
    def _grains(self) -> tuple[Grain, ...]:
        return WORKSPACE_GRAINS if self.selection.share_ids is None else SHARE_GRAINS

    @property
    def _facts(self) -> FactSource:
        return FactSource(self.connection, self.selection)

    def _cover(self, edges: Sequence[int]) -> Cover:
        return make_cover(tuple(edges), self._grains)

    async def _others(
        self, edges: Sequence[int], cover: Cover, states: Sequence[FactSum] = ()
    ) -> list[FactRows]:
        """The facts that the cover's cells do not hold."""
        others = []
        query = FactQuery(
            self.connection.dialect.name,
            _deltas,
            tuple(edges),
            OutsideCells(cover.finest, cover.cut),
            by_share=self.selection.share_ids is not None,
            since_ever=kinds_of(states),
            grouped_by=self.grouped_by,
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
        edges: Sequence[int],
        money: Money | None = None,
        *,
        states: Sequence[FactSum] = (),
        layers: tuple[Layer, ...] | None = None,
        **values: str,
    ) -> Sequence[Any]:
        shares = (NO_SHARE,) if self.selection.share_ids is None else self.selection.share_ids
        owner: dict[str, Any] = {"workspace_ids": self.selection.workspace_ids, "share_ids": shares}
        has_keys = money is Money.BY_CURRENCY or self.grouped_by is not None
        of_one = len(self.selection.workspace_ids) == len(shares) == 1 and not has_keys
        if of_one:
            owner = {name.removesuffix("s"): ids[0] for name, ids in owner.items()}
        query = CellQuery(
            self.connection.dialect.name,
            table,
            tuple(edges),
            self._grains,
            money,
            of_one,
            by_share=self.grouped_by is not None,
            layers=layers,
            in_one=len(self.selection.workspace_ids) == 1,
        )
        statement = sums_of_cells(query, tuple(fact_sums), tuple(states))
        rows = await driver_rows(self.connection, statement, owner | values)
        if rows:
            # Usually the fold is up to date, and this saves every further statement.
            *_, has_any = rows[0]
            self._has_deltas = self._has_deltas if has_any is None else bool(has_any)
        return rows
