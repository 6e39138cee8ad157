"""Groups by share: from the cells of shares, and for selected customers from their facts."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from storage.engine.connections import Connection
from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.grouping.groups import AnyKey, Groups, Key
from storage.metrics.grouping.share_cells import ShareCells
from storage.metrics.grouping.share_persons import SharePersons
from storage.metrics.reading.cell_source import make_source
from storage.metrics.reading.customer_persons import persons_of_customers
from storage.metrics.reading.fact_source import FactSource
from storage.metrics.reading.fact_statements import PersonsOf
from storage.metrics.reading.period_sums import PeriodSums
from storage.metrics.reading.reader import GroupedBy, Question, Selection, Sums
from storage.metrics.reading.share_list import shares_with_facts

# A statement has a parameter for each share, and databases allow about 32,000.
MOST_SHARES_AT_ONCE = 5_000


@dataclass
class ShareGroups(Groups):
    """A group for each share. `connection` is in a snapshot."""

    connection: Connection
    selection: Selection
    _shares: list[UUID] | None = field(default=None, init=False, repr=False)
    _persons: PersonsOf | None = field(default=None, init=False, repr=False)

    async def sums(self, question: Question, keys: Collection[Key] | None = None) -> Mapping[Key, Sums]:
        sums: dict[Key, Sums] = {}
        asked = replace(question, grouped_by=GroupedBy.SHARE)
        chosen = await self._all_shares() if keys is None else [key for key in keys if isinstance(key, UUID)]
        for share_ids in _batches(chosen):
            selection = replace(self.selection, share_ids=share_ids)
            if self.selection.customer_ids is None:
                cells = ShareCells(self.connection, selection)
                sums |= await cells.sums(asked)
            else:
                facts = FactSource(self.connection, selection, await self._selected_persons())
                sums |= await facts.sums(asked)
        return sums

    async def keyed(self, question: Question) -> Sums:
        together = PeriodSums(question)
        for share_ids in _batches(await self._all_shares()):
            source = make_source(self.connection, replace(self.selection, share_ids=share_ids))
            together.add_sums({None: (await source.sums(question))[None]})
        return together.by_key[None]

    async def persons(
        self, edges: Sequence[int], total: PersonCounts, keys: Collection[Key | None] | None = None
    ) -> Mapping[AnyKey, PersonCounts]:
        source = SharePersons(
            self.connection,
            self.selection.workspace_ids,
            await self._all_shares(),
            has_null=self.selection.share_ids is None,
            persons=None if self.selection.customer_ids is None else await self._selected_persons(),
        )
        return await source.count(edges, keys)

    async def _all_shares(self) -> list[UUID]:
        if self._shares is None:
            self._shares = await shares_with_facts(self.connection, self.selection)
        return self._shares

    async def _selected_persons(self) -> PersonsOf:
        if self._persons is None:
            self._persons = await persons_of_customers(self.connection, self.selection)
        return self._persons


def _batches(share_ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    for first in range(0, len(share_ids), MOST_SHARES_AT_ONCE):
        yield share_ids[first : first + MOST_SHARES_AT_ONCE]
