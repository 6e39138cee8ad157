"""The cells of several shares, each on its own; where there are packs, those instead."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from storage.metrics.cells.blocks import BLOCK
from storage.metrics.cells.tiling import FIRST_EVER, Cover, Grain, Layer, make_days
from storage.metrics.grouping.packed_sums import PackedSums, fit_hours
from storage.metrics.packs.packed_blocks import gaps, packed_blocks
from storage.metrics.reading.cell_source import CellSource
from storage.metrics.reading.period_sums import PeriodSums, SumsByKey
from storage.metrics.reading.reader import GroupedBy, Sums
from storage.metrics.sums import FactSum


class ShareCells(CellSource):
    """The cells of several shares, each on its own: `by_key` groups by share."""

    async def by_key(
        self,
        fact_sums: Sequence[FactSum],
        edges: Sequence[int],
        currency: str,
        states: Sequence[FactSum] = (),
        grouped_by: GroupedBy | None = GroupedBy.SHARE,
    ) -> SumsByKey:
        packed = {}
        if fit_hours(edges):
            for workspace_id in self.selection.workspace_ids:
                blocks = await packed_blocks(self.connection, workspace_id)
                if any(at < edges[-1] and at + BLOCK > edges[0] for at in blocks):
                    packed[workspace_id] = blocks
        if not packed:
            return await super().by_key(fact_sums, edges, currency, states, grouped_by)
        sums = PeriodSums(fact_sums, edges)
        for workspace_id in self.selection.workspace_ids:
            own = ShareCells(self.connection, replace(self.selection, workspace_ids=[workspace_id]))
            if workspace_id in packed:
                packs = PackedSums(self.connection, workspace_id, packed[workspace_id], edges, currency)
                await own._add_packed(sums, packs, fact_sums, states)
            else:
                sums.add_sums(
                    await super(ShareCells, own).by_key(fact_sums, edges, currency, states, grouped_by)
                )
        return sums.by_key

    async def _add_packed(
        self,
        sums: PeriodSums,
        packs: PackedSums,
        fact_sums: Sequence[FactSum],
        states: Sequence[FactSum],
    ) -> None:
        """Add the packs of a workspace, and the cells of time that is not packed."""
        blocks, edges, currency, by_share = packs.blocks, packs.edges, packs.currency, GroupedBy.SHARE
        sums.add_sums(await packs.read(fact_sums, states, self.selection.share_ids))
        for begins, ends in gaps(edges[0], edges[-1], blocks):
            within = [begins, *(edge for edge in edges if begins < edge < ends), ends]
            cells = PeriodSums(fact_sums, within)
            await self._add_between(cells, currency, (), by_share)
            sums.add_sums(_periods(cells), bisect_right(edges, begins))
        for begins, ends in gaps(FIRST_EVER, edges[0], blocks) if states else ():
            cells = PeriodSums(states, [begins, ends])
            await self._add_between(cells, currency, (), by_share)
            sums.add_sums(_periods(cells))
        only_deltas = Cover((), Grain.HOUR, ())
        for others in await self._others(edges, only_deltas, states, by_share):
            sums.add_facts(await others.sums(fact_sums), currency)

    async def _add_between(
        self,
        sums: PeriodSums,
        currency: str,
        states: Sequence[FactSum] = (),
        grouped_by: GroupedBy | None = None,
        layers: tuple[Layer, ...] | None = None,
    ) -> None:
        """The same with whole days, where those help."""
        add, days = super()._add_between, make_days(tuple(sums.edges), self._grains)
        if days is None:
            await add(sums, currency, states, grouped_by, layers)
            return
        whole = PeriodSums(sums.fact_sums, days.edges[:-1])
        await add(whole, currency, states, grouped_by)
        early = PeriodSums(sums.fact_sums, days.edges)
        await add(early, currency, (), grouped_by, days.early)
        sums.add_days(whole.by_key, early.by_key, states)


def _periods(sums: PeriodSums) -> Mapping[UUID, Sums]:
    """The sums without those before the first edge."""
    return {
        key: {fact_sum: values for fact_sum, (_, *values) in own.items()} for key, own in sums.by_key.items()
    }
