"""Metrics from cells, from deltas that are not in them yet, and from the facts of cells that an edge cuts.

All are read in one snapshot; the fold moves deltas into cells in one transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Table, bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.metrics.bitmaps import PersonCount
from storage.metrics.cell_statements import Money, persons_of_cells, sums_of_cells
from storage.metrics.cells import ACTIVITY, MONEY, SHARE_GRAINS, WORKSPACE_GRAINS
from storage.metrics.cover import Cover, Grain, make_cover
from storage.metrics.fact_rows import FactRows
from storage.metrics.fact_source import FACTS, FactSource, tally_by_currency
from storage.metrics.fact_statements import Shape
from storage.metrics.merges import unfolded_merges
from storage.metrics.source import Persons, Selection, Source, Sums
from storage.metrics.tally import Tally
from storage.metrics.terms import Term
from storage.rows import table_of
from storage.tables.metric_cells import NO_SHARE, MetricDeltaRow

_deltas = table_of(MetricDeltaRow)
_WORKSPACE_IDS = _deltas.c.workspace_id.in_(bindparam("workspace_ids", expanding=True))
# One of the deltas, if there are any.
_TAIL = select(_deltas.c.id).where(_WORKSPACE_IDS).limit(1)


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
    _has_tail: bool | None = field(default=None, init=False, repr=False)

    async def sums(self, terms: Sequence[Term], edges: Sequence[int], currency: str) -> Sums:
        cover = self._cover(edges)
        if not cover.layers:
            return await self._facts.sums(terms, edges, currency)
        tally = Tally(terms, edges)
        counts = [term for term in terms if not term.in_currency]
        money = [term for term in terms if term.in_currency]
        if counts:
            tally.add(counts, await self._cells(ACTIVITY, counts, edges))
        if money:
            tally.add(money, await self._cells(MONEY, money, edges, Money.OF_ONE, currency=currency))
        for rows in await self._others(edges, cover):
            tally.add(terms, await rows.sums(terms, currency))
        return tally.sums

    async def money(self, terms: Sequence[Term], edges: Sequence[int]) -> Mapping[str, Sums]:
        cover = self._cover(edges)
        if not cover.layers:
            return await self._facts.money(terms, edges)
        found = list(await self._cells(MONEY, terms, edges, Money.BY_CURRENCY))
        for rows in await self._others(edges, cover):
            found += await rows.money(terms)
        return tally_by_currency(terms, edges, found)

    async def persons(self, edges: Sequence[int]) -> Persons:
        cover = self._cover(edges)
        if not cover.layers or self.selection.share_ids is not None:
            return await self._facts.persons(edges)
        count = PersonCount(edges)
        statement = persons_of_cells(tuple(edges), self._grains, self.connection.dialect.name)
        for workspace_id in self.selection.workspace_ids:
            found = await self.connection.execute(statement, {"workspace_id": workspace_id})
            count.add_bitmaps(workspace_id, found.all())
        for rows in await self._others(edges, cover):
            count.add(await rows.persons())
        return count.result(await unfolded_merges(self.connection, self.selection.workspace_ids))

    @property
    def _grains(self) -> tuple[Grain, ...]:
        return WORKSPACE_GRAINS if self.selection.share_ids is None else SHARE_GRAINS

    @property
    def _facts(self) -> FactSource:
        return FactSource(self.connection, self.selection)

    def _cover(self, edges: Sequence[int]) -> Cover:
        return make_cover(tuple(edges), self._grains)

    async def _others(self, edges: Sequence[int], cover: Cover) -> list[FactRows]:
        """The rows of facts that the cover's cells do not hold."""
        cut, others = (cover.finest, cover.cut), []
        by_share = self.selection.share_ids is not None
        shape = Shape(self.connection.dialect.name, _deltas, tuple(edges), but=cut, by_share=by_share)
        # Asked first: where the fold is up to date, which is most of the time, the rest is saved.
        if self._has_tail is None:
            ids = {"workspace_ids": self.selection.workspace_ids}
            self._has_tail = (await self.connection.execute(_TAIL, ids)).first() is not None
        if self._has_tail:
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
        **values: str,
    ) -> Sequence[Any]:
        dialect = self.connection.dialect.name
        statement = sums_of_cells(
            table, tuple(terms), tuple(edges), self._grains, dialect=dialect, money=money
        )
        shares = (NO_SHARE,) if self.selection.share_ids is None else self.selection.share_ids
        whose = {"workspace_ids": self.selection.workspace_ids, "share_ids": shares}
        rows: Sequence[Any] = (await self.connection.execute(statement, whose | values)).all()
        return rows
