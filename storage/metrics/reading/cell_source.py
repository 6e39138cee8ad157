"""Metrics from cells, from deltas that are not in them yet, and from the facts of cells that an edge cuts.

All are read in one snapshot; the fold moves deltas into cells in one transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Table, select
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.dialects.fast_rows import driver_rows
from storage.metrics.cells.bitmaps import Persons
from storage.metrics.cells.cells import ACTIVITY, MONEY, PERSON_GRAINS, SHARE_GRAINS, WORKSPACE_GRAINS
from storage.metrics.cells.tiling import FIRST_EVER, Cover, Grain, make_cover
from storage.metrics.reading.cell_statements import CellShape, Money, has_deltas, sums_of_cells
from storage.metrics.reading.fact_rows import FactRows
from storage.metrics.reading.fact_source import FACTS, FactSource
from storage.metrics.reading.fact_statements import Shape
from storage.metrics.reading.period_sums import Tallies, Tally
from storage.metrics.reading.person_source import PersonSource
from storage.metrics.reading.reader import Selection, Source, Sums
from storage.metrics.sums import Term, kinds_of
from storage.rows import table_of
from storage.tables.metric_cells import NO_SHARE, MetricDeltaRow

_deltas = table_of(MetricDeltaRow)


def make_source(connection: AsyncConnection, selection: Selection) -> Source:
    """Cells for workspaces and shares; a customer's facts are few, and an index finds them."""
    if selection.customer_ids is not None:
        return FactSource(connection, selection)
    return CellSource(connection, selection)


@dataclass
class CellSource:
    """The cells of workspaces, or of shares of theirs. `connection` is in a snapshot."""

    connection: AsyncConnection
    selection: Selection
    _has_deltas: bool | None = field(default=None, init=False, repr=False)

    async def sums(
        self, terms: Sequence[Term], edges: Sequence[int], currency: str, states: Sequence[Term] = ()
    ) -> Sums:
        cover = self._cover(edges)
        if not cover.layers:
            sums = await self._facts.sums(terms, edges, currency)
            if states:
                earlier = await self.sums(states, [FIRST_EVER, edges[0]], currency)
                for term in states:
                    sums[term][0] = earlier[term][1]
            return sums
        tally = Tally(terms, edges)
        counts = [term for term in terms if not term.in_currency]
        money = [term for term in terms if term.in_currency]
        if counts:
            tally.add(counts, await self._cells(ACTIVITY, counts, edges, states=states))
        if money:
            tally.add(money, await self._cells(MONEY, money, edges, Money.OF_ONE, currency=currency))
        for rows in await self._others(edges, cover, states):
            tally.add_facts(terms, await rows.sums(terms), currency)
        return tally.sums

    async def money(self, terms: Sequence[Term], edges: Sequence[int]) -> Mapping[str, Sums]:
        cover = self._cover(edges)
        if not cover.layers:
            return await self._facts.money(terms, edges)
        tallies = Tallies(terms, edges)
        tallies.add(await self._cells(MONEY, terms, edges, Money.BY_CURRENCY))
        for rows in await self._others(edges, cover):
            tallies.add_facts(await rows.sums(terms))
        return tallies.sums

    async def persons(self, edges: Sequence[int]) -> Persons:
        cover = make_cover(tuple(edges), PERSON_GRAINS)
        if not cover.layers or self.selection.share_ids is not None:
            return await self._facts.persons(edges)
        source = PersonSource(self.connection, self.selection.workspace_ids, edges)
        await source.read()
        if source.has_deltas is not None:
            self._has_deltas = source.has_deltas
        others = [await rows.persons() for rows in await self._others(edges, cover)]
        return await source.result([row for rows in others for row in rows])

    @property
    def _grains(self) -> tuple[Grain, ...]:
        return WORKSPACE_GRAINS if self.selection.share_ids is None else SHARE_GRAINS

    @property
    def _facts(self) -> FactSource:
        return FactSource(self.connection, self.selection)

    def _cover(self, edges: Sequence[int]) -> Cover:
        return make_cover(tuple(edges), self._grains)

    async def _others(
        self, edges: Sequence[int], cover: Cover, states: Sequence[Term] = ()
    ) -> list[FactRows]:
        """The rows of facts that the cover's cells do not hold."""
        cut, others = (cover.finest, cover.cut), []
        shape = Shape(
            self.connection.dialect.name,
            _deltas,
            tuple(edges),
            but=cut,
            by_share=self.selection.share_ids is not None,
            since_ever=kinds_of(states),
        )
        if self._has_deltas is None:
            ids = {"workspace_ids": self.selection.workspace_ids}
            asked = select(has_deltas(of_one=False))
            self._has_deltas = bool((await self.connection.execute(asked, ids)).scalar())
        if self._has_deltas:
            others.append(FactRows(self.connection, shape, self.selection))
        if cover.cut:
            shape = replace(shape, table=FACTS, only=cut, but=None)
            others.append(FactRows(self.connection, shape, self.selection))
        return others

    async def _cells(
        self,
        table: Table,
        terms: Sequence[Term],
        edges: Sequence[int],
        money: Money | None = None,
        states: Sequence[Term] = (),
        **values: str,
    ) -> Sequence[Any]:
        shares = (NO_SHARE,) if self.selection.share_ids is None else self.selection.share_ids
        whose: dict[str, Any] = {"workspace_ids": self.selection.workspace_ids, "share_ids": shares}
        of_one = len(self.selection.workspace_ids) == len(shares) == 1 and money is not Money.BY_CURRENCY
        if of_one:
            whose = {name.removesuffix("s"): ids[0] for name, ids in whose.items()}
        shape = CellShape(
            self.connection.dialect.name,
            table,
            tuple(edges),
            self._grains,
            money,
            of_one,
        )
        statement = sums_of_cells(shape, tuple(terms), tuple(states))
        rows = await driver_rows(self.connection, statement, whose | values)
        if rows:
            # Where the fold is up to date, which is most of the time, all else is saved.
            self._has_deltas = bool(rows[0][-1])
        return rows
