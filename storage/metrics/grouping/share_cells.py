"""The cells of several shares, each on its own; where there are packs, those instead."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from storage.metrics.cells.blocks import BLOCK
from storage.metrics.cells.cells import SHARE_GRAINS
from storage.metrics.cells.tiling import FIRST_EVER, Cover, Grain, Layer, make_days
from storage.metrics.grouping.packed_sums import PackedSums, fit_hours
from storage.metrics.packs.packed_blocks import gaps, packed_blocks
from storage.metrics.reading.cell_source import CellSource
from storage.metrics.reading.period_sums import PeriodSums
from storage.metrics.reading.reader import Question, Sums, SumsByKey


class ShareCells(CellSource):
    """The cells of several shares, each on its own: questions are grouped by share."""

    async def sums(self, question: Question) -> SumsByKey:
        edges, packed = question.edges, {}
        if fit_hours(edges):
            for workspace_id in self.selection.workspace_ids:
                blocks = await packed_blocks(self.connection, workspace_id)
                if any(at < edges[-1] and at + BLOCK > edges[0] for at in blocks):
                    packed[workspace_id] = blocks
        if not packed:
            return await super().sums(question)
        sums = PeriodSums(question)
        for workspace_id in self.selection.workspace_ids:
            own = ShareCells(self.connection, replace(self.selection, workspace_ids=[workspace_id]))
            if workspace_id in packed:
                await own._add_packed(sums, workspace_id, packed[workspace_id], question)
            else:
                sums.add_sums(await super(ShareCells, own).sums(question))
        return sums.by_key

    async def _add_packed(
        self, sums: PeriodSums, workspace_id: UUID, blocks: Sequence[int], question: Question
    ) -> None:
        """Add the packs of a workspace, and the cells of time that is not packed."""
        edges, states = question.edges, question.states
        packs = PackedSums(self.connection, workspace_id, blocks, edges, question.currency)
        sums.add_sums(await packs.read(question.fact_sums, states, self.selection.share_ids))
        for begins, ends in gaps(edges[0], edges[-1], blocks):
            within = [begins, *(edge for edge in edges if begins < edge < ends), ends]
            cells = await self._between(replace(question, edges=within, states=()))
            sums.add_sums(_periods(cells), bisect_right(edges, begins))
        for begins, ends in gaps(FIRST_EVER, edges[0], blocks) if states else ():
            before = replace(question, fact_sums=states, edges=[begins, ends], states=())
            sums.add_sums(_periods(await self._between(before)))
        only_deltas = Cover((), Grain.HOUR, ())
        for others in await self._others(question, only_deltas):
            sums.add_facts(await others.sums(question.fact_sums), question.currency)

    async def _between(self, question: Question, layers: tuple[Layer, ...] | None = None) -> PeriodSums:
        """The same from whole days, where those help."""
        days = make_days(tuple(question.edges), SHARE_GRAINS)
        if days is None:
            return await super()._between(question, layers)
        whole = await super()._between(replace(question, edges=days.edges[:-1]))
        early = await super()._between(replace(question, edges=days.edges, states=()), days.early)
        sums = PeriodSums(question)
        sums.add_days(whole.by_key, early.by_key, question.states)
        return sums


def _periods(sums: PeriodSums) -> Mapping[UUID, Sums]:
    """The sums without those before the first edge."""
    return {
        key: {fact_sum: values for fact_sum, (_, *values) in own.items()} for key, own in sums.by_key.items()
    }
