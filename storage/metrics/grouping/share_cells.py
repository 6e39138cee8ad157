"""The cells of several shares, each on its own; where there are packs, those instead."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from storage.metrics.cells.blocks import BLOCK
from storage.metrics.cells.cells import ACTIVITY, MONEY
from storage.metrics.cells.tiling import FIRST_EVER, Cover, Grain, Layer, make_days
from storage.metrics.grouping.fact_groups import GroupedFacts
from storage.metrics.grouping.packed_sums import PackedSums, fit_hours
from storage.metrics.packs.packed_blocks import gaps, packed_blocks
from storage.metrics.reading.cell_source import CellSource
from storage.metrics.reading.cell_statements import Money
from storage.metrics.reading.fact_statements import GroupedBy
from storage.metrics.reading.period_sums import PeriodSumsByKey
from storage.metrics.reading.reader import Sums
from storage.metrics.sums import FactSum


class ShareCells(CellSource):
    """The cells of several shares, each on its own."""

    async def by_share(
        self,
        fact_sums: Sequence[FactSum],
        edges: Sequence[int],
        currency: str,
        states: Sequence[FactSum] = (),
    ) -> dict[UUID, Sums]:
        packed = {}
        if fit_hours(edges):
            for workspace_id in self.selection.workspace_ids:
                blocks = await packed_blocks(self.connection, workspace_id)
                if any(at < edges[-1] and at + BLOCK > edges[0] for at in blocks):
                    packed[workspace_id] = blocks
        if not packed:
            return await self._from_cells(fact_sums, edges, currency, states)
        sums = PeriodSumsByKey(fact_sums, edges)
        for workspace_id in self.selection.workspace_ids:
            own = ShareCells(
                self.connection, replace(self.selection, workspace_ids=[workspace_id]), GroupedBy.SHARE
            )
            if workspace_id in packed:
                blocks = packed[workspace_id]
                packs = PackedSums(self.connection, workspace_id, blocks, edges, currency)
                await own._add_packed(sums, packs, fact_sums, states)
            else:
                sums.add_sums(await own._from_cells(fact_sums, edges, currency, states))
        return sums.by_key

    async def _add_packed(
        self,
        sums: PeriodSumsByKey,
        packs: PackedSums,
        fact_sums: Sequence[FactSum],
        states: Sequence[FactSum],
    ) -> None:
        """Add the packs of a workspace, and the cells of time that is not packed."""
        blocks, edges, currency = packs.blocks, packs.edges, packs.currency
        sums.add_sums(await packs.read(fact_sums, states, self.selection.share_ids))
        for begins, ends in gaps(edges[0], edges[-1], blocks):
            within = [begins, *(edge for edge in edges if begins < edge < ends), ends]
            cells = PeriodSumsByKey(fact_sums, within)
            await self._add_between(cells, fact_sums, within, currency)
            sums.add_sums(_periods(cells), bisect_right(edges, begins))
        for begins, ends in gaps(FIRST_EVER, edges[0], blocks) if states else ():
            cells = PeriodSumsByKey(states, [begins, ends])
            await self._add_between(cells, states, [begins, ends], currency)
            sums.add_sums(_periods(cells))
        only_deltas = Cover((), Grain.HOUR, ())
        for others in await self._others(edges, only_deltas, states):
            sums.add_facts(await others.sums_by_key(fact_sums), currency)

    async def _from_cells(
        self,
        fact_sums: Sequence[FactSum],
        edges: Sequence[int],
        currency: str,
        states: Sequence[FactSum] = (),
    ) -> dict[UUID, Sums]:
        cover = self._cover(edges)
        if not cover.layers:
            return await self._by_facts(fact_sums, edges, currency, states)
        sums = PeriodSumsByKey(fact_sums, edges)
        await self._add_between(sums, fact_sums, edges, currency, states)
        for others in await self._others(edges, cover, states):
            sums.add_facts(await others.sums_by_key(fact_sums), currency)
        return sums.by_key

    async def _add_between(
        self,
        sums: PeriodSumsByKey,
        fact_sums: Sequence[FactSum],
        edges: Sequence[int],
        currency: str,
        states: Sequence[FactSum] = (),
    ) -> None:
        """Add the cells between the edges, without what cells do not hold."""
        days = make_days(tuple(edges), self._grains)
        if days is None:
            await self._add_cells(sums, fact_sums, edges, currency, states=states)
            return
        whole = PeriodSumsByKey(fact_sums, days.edges[:-1])
        await self._add_cells(whole, fact_sums, days.edges[:-1], currency, states=states)
        early = PeriodSumsByKey(fact_sums, days.edges)
        await self._add_cells(early, fact_sums, days.edges, currency, layers=days.early)
        sums.add_days(whole.by_key, early.by_key, states)

    async def _add_cells(
        self,
        sums: PeriodSumsByKey,
        fact_sums: Sequence[FactSum],
        edges: Sequence[int],
        currency: str,
        *,
        states: Sequence[FactSum] = (),
        layers: tuple[Layer, ...] | None = None,
    ) -> None:
        """Add the cells between the edges; with `layers`, only these."""
        counts = [fact_sum for fact_sum in fact_sums if not fact_sum.in_currency]
        money = [fact_sum for fact_sum in fact_sums if fact_sum.in_currency]
        if counts:
            rows = await self._cells(ACTIVITY, counts, edges, states=states, layers=layers)
            sums.add_cells(counts, ((_id(share), row) for share, *row in rows))
        if money:
            rows = await self._cells(MONEY, money, edges, Money.OF_ONE, layers=layers, currency=currency)
            sums.add_cells(money, ((_id(share), row) for share, *row in rows))

    async def _by_facts(
        self, fact_sums: Sequence[FactSum], edges: Sequence[int], currency: str, states: Sequence[FactSum]
    ) -> dict[UUID, Sums]:
        """From the facts, because no cells fit the edges; the states before them are in cells."""
        facts = GroupedFacts(self.connection, self.selection, GroupedBy.SHARE)
        sums = dict(await facts.sums(fact_sums, edges, currency))
        if states:
            earlier = await self.by_share(states, [FIRST_EVER, edges[0]], currency)
            for share, before in earlier.items():
                own = sums.setdefault(share, {fact_sum: [0] * len(edges) for fact_sum in fact_sums})
                for state in states:
                    own[state][0] = before[state][1]
        return sums


def _periods(sums: PeriodSumsByKey) -> Mapping[UUID, Sums]:
    """The sums without those before the first edge."""
    return {
        key: {fact_sum: values for fact_sum, (_, *values) in own.items()} for key, own in sums.by_key.items()
    }


def _id(value: UUID | str) -> UUID:
    """The id in a row as the driver returns it: SQLite stores texts."""
    return UUID(value) if isinstance(value, str) else value
