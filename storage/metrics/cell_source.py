"""Metrics from cells, from deltas that are not in them yet, and from the facts of cells that an edge cuts.

All are read in one snapshot; the fold moves deltas into cells in one transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    Table,
    and_,
    cast,
    func,
    literal,
    null,
    select,
    type_coerce,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import NullType

from storage.metrics.bitmaps import PersonCount
from storage.metrics.cells import ACTIVITY, MONEY, SHARE_GRAINS, WORKSPACE_GRAINS
from storage.metrics.cover import Cover, Grain, Layer, make_cover
from storage.metrics.fact_rows import FactRows
from storage.metrics.fact_source import FACTS, FactSource, tally_by_currency
from storage.metrics.grouping import period_of
from storage.metrics.merges import unfolded_merges
from storage.metrics.source import Persons, Selection, Source, Sums
from storage.metrics.tally import Tally
from storage.metrics.terms import Term, parts_of
from storage.numbers import numbers
from storage.rows import table_of
from storage.tables.metric_cells import (
    NO_SHARE,
    MetricDeltaRow,
    PersonCellRow,
)

_persons, _deltas = table_of(PersonCellRow), table_of(MetricDeltaRow)
# As the drivers give them: thousands of rows need no copy.
_BYTES = type_coerce(_persons.c.persons, NullType())


def make_source(connection: AsyncConnection, selection: Selection) -> Source:
    """Cells for workspaces and shares; a customer's facts are few, and an index finds them."""
    if selection.customer_ids is not None:
        return FactSource(connection, selection)
    return CellSource(connection, selection)


@dataclass(frozen=True)
class CellSource:
    """The cells of workspaces, or of shares of theirs. `connection` is in a snapshot."""

    connection: AsyncConnection
    selection: Selection

    async def sums(self, terms: Sequence[Term], edges: Sequence[int], currency: str) -> Sums:
        cover = self._cover(edges)
        if not cover.layers:
            return await self._facts.sums(terms, edges, currency)
        tally = Tally(terms, edges)
        counts = [term for term in terms if not term.in_currency]
        money = [term for term in terms if term.in_currency]
        if counts:
            tally.add(counts, await self._cells(ACTIVITY, counts, edges, cover))
        if money:
            own = MONEY.c.currency == currency
            tally.add(money, await self._cells(MONEY, money, edges, cover, own))
        for rows in await self._others(edges, cover):
            tally.add(terms, await rows.sums(terms, currency))
        return tally.sums

    async def money(self, terms: Sequence[Term], edges: Sequence[int]) -> Mapping[str, Sums]:
        cover = self._cover(edges)
        if not cover.layers:
            return await self._facts.money(terms, edges)
        found = list(await self._cells(MONEY, terms, edges, cover, by=MONEY.c.currency))
        for rows in await self._others(edges, cover):
            found += await rows.money(terms)
        return tally_by_currency(terms, edges, found)

    async def persons(self, edges: Sequence[int]) -> Persons:
        cover = self._cover(edges)
        if not cover.layers or self.selection.share_ids is not None:
            return await self._facts.persons(edges)
        count = PersonCount(edges)
        for workspace_id in self.selection.workspace_ids:
            layers = [
                select(_persons.c.at, _BYTES).where(
                    _persons.c.workspace_id == workspace_id, self._in(_persons, layer, edges)
                )
                for layer in cover.layers
            ]
            count.add_bitmaps(workspace_id, (await self.connection.execute(union_all(*layers))).all())
        for rows in await self._others(edges, cover):
            count.add(await rows.persons())
        return count.result(await unfolded_merges(self.connection, self.selection.workspace_ids))

    @property
    def _grains(self) -> tuple[Grain, ...]:
        return WORKSPACE_GRAINS if self.selection.share_ids is None else SHARE_GRAINS

    @property
    def _tail(self) -> Select[Any]:
        """One of the deltas, if there are any."""
        return select(_deltas.c.id).where(_deltas.c.workspace_id.in_(self.selection.workspace_ids)).limit(1)

    @property
    def _facts(self) -> FactSource:
        return FactSource(self.connection, self.selection)

    def _cover(self, edges: Sequence[int]) -> Cover:
        return make_cover(tuple(edges), self._grains)

    async def _others(self, edges: Sequence[int], cover: Cover) -> list[FactRows]:
        """The rows of facts that the cover's cells do not hold."""
        cut, others = (cover.finest, cover.cut), []
        # Asked first: where the fold is up to date, which is most of the time, the rest is saved.
        if (await self.connection.execute(self._tail)).first():
            others.append(FactRows(self.connection, _deltas, self.selection, edges, but=cut))
        if cover.cut:
            others.append(FactRows(self.connection, FACTS, self.selection, edges, only=cut))
        return others

    async def _cells(
        self,
        table: Table,
        terms: Sequence[Term],
        edges: Sequence[int],
        cover: Cover,
        *conditions: ColumnElement[bool],
        by: ColumnElement[Any] | None = None,
    ) -> Sequence[Any]:
        """Rows of `by`, if there is one, of a moment in the period, and of the sums of the terms' parts."""
        key = null() if by is None else by
        columns = [table.c[part.name] for part in parts_of(terms)]
        shares = (NO_SHARE,) if self.selection.share_ids is None else self.selection.share_ids
        layers: list[Select[Any]] = [
            select(key.label("key"), period_of(table.c.at, edges).label("period"), *columns).where(
                table.c.workspace_id.in_(self.selection.workspace_ids),
                table.c.share_id.in_(shares),
                self._in(table, layer, edges),
                *conditions,
            )
            for layer in cover.layers
        ]
        cells = union_all(*layers).subquery()
        keys = [cells.c.period] if by is None else [cells.c.key, cells.c.period]
        sums = [cast(func.sum(cells.c[column.name]), BigInteger) for column in columns]
        return (await self.connection.execute(select(*keys, *sums).group_by(*keys))).all()

    def _in(self, table: Table, layer: Layer, edges: Sequence[int]) -> ColumnElement[bool]:
        """The cells of a layer."""
        at, own = table.c.at, table.c.grain == literal(layer.grain.value)
        if layer.only is not None:
            return and_(own, at.in_(select(numbers(self.connection, layer.only).c.value)))
        inside = and_(own, at >= edges[0], at < edges[-1])
        if not layer.but:
            return inside
        return and_(inside, at.not_in(select(numbers(self.connection, layer.but).c.value)))
