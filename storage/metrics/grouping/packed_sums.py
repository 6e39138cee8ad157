"""The sums of shares from packs, by period."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import add, sub
from typing import Any
from uuid import UUID

from sqlalchemy import Select, Uuid, bindparam, select

from storage.dialects.number_lists import as_ids, as_numbers, ids_named, numbers_named
from storage.engine.connections import Connection
from storage.metrics.cells.blocks import BLOCK
from storage.metrics.cells.cells import ACTIVITY, MONEY
from storage.metrics.cells.tiling import Grain
from storage.metrics.packs.packed_blocks import columns_of_packs
from storage.metrics.packs.packed_columns import NO_CURRENCY, PLACES
from storage.metrics.packs.share_hours import read_hours
from storage.metrics.packs.share_totals import read_totals
from storage.metrics.reading.reader import Sums
from storage.metrics.sums import FactSum
from storage.rows.fast_rows import driver_rows
from storage.rows.rows import table_of
from storage.tables.metrics.metric_packs import MetricSharePackRow

_share_packs = table_of(MetricSharePackRow)
_WORKSPACE_ID = bindparam("workspace_id", type_=Uuid())


def fit_hours(edges: Sequence[int]) -> bool:
    """Whether no edge cuts an hour."""
    return not any(edge % Grain.HOUR.microseconds for edge in edges)


@dataclass(frozen=True)
class PackedSums:
    """The sums of a workspace's shares in `blocks`, which have packs. `connection` is in a snapshot."""

    connection: Connection
    workspace_id: UUID
    blocks: Sequence[int]
    edges: Sequence[int]
    currency: str
    # By share, currency and place of the column: before the first edge, in each period, and after the last.
    _columns: defaultdict[tuple[bytes, str, int], list[int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        many = len(self.edges) + 1
        object.__setattr__(self, "_columns", defaultdict(lambda: [0] * many))

    async def read(
        self, fact_sums: Sequence[FactSum], states: Sequence[FactSum], share_ids: Collection[UUID] | None
    ) -> dict[UUID, Sums]:
        """By share; of all shares, or of these. `states` also count before the first edge."""
        begins, ends = self.edges[0], self.edges[-1]
        inside = [at for at in self.blocks if at < ends and at + BLOCK > begins]
        cut = [at for at in inside if self._edges_in(at)]
        whole = [at for at in inside if at not in cut]
        earlier = [at for at in self.blocks if at + BLOCK <= begins] if states else []
        only = None if share_ids is None else {share_id.bytes for share_id in share_ids}
        await self._add_totals(earlier, self._wanted(states), only)
        await self._add_totals(whole, self._wanted(fact_sums), only)
        await self._add_hours(cut, self._wanted(fact_sums), share_ids)
        shares = dict.fromkeys(share for share, _, _ in self._columns)
        return {UUID(bytes=share): self._sums_of(share, fact_sums, states) for share in shares}

    def _wanted(self, fact_sums: Sequence[FactSum]) -> Mapping[str, Sequence[int]]:
        """The places of the columns of these sums, by currency."""
        wanted: defaultdict[str, dict[int, None]] = defaultdict(dict)
        for fact_sum in fact_sums:
            for currency, place, _ in self._places(fact_sum):
                wanted[currency][place] = None
        return {currency: list(places) for currency, places in wanted.items()}

    def _places(self, fact_sum: FactSum) -> Iterator[tuple[str, int, int]]:
        """The currency, the place and the weight of each column of a sum."""
        currency = self.currency if fact_sum.in_currency else NO_CURRENCY
        places = PLACES[MONEY if fact_sum.in_currency else ACTIVITY]
        for column in fact_sum.cell_columns:
            yield currency, places[column.name], column.weight

    def _sums_of(self, share: bytes, fact_sums: Sequence[FactSum], states: Sequence[FactSum]) -> Sums:
        sums = {}
        for fact_sum in fact_sums:
            parts = []
            for currency, place, weight in self._places(fact_sum):
                column = self._columns.get((share, currency, place))
                if column is not None:
                    *values, _ = column
                    parts.append(values if weight == 1 else [weight * value for value in values])
            total, *others = parts or [[0] * len(self.edges)]
            for other in others:
                total = list(map(add, total, other))
            if fact_sum not in states:
                total[0] = 0
            sums[fact_sum] = total
        return sums

    def _edges_in(self, at: int) -> Sequence[int]:
        """The edges in a block, but not an edge at its beginning that nothing precedes."""
        return self.edges[bisect_left(self.edges, at) : bisect_left(self.edges, at + BLOCK)]

    async def _add_totals(
        self, blocks: Sequence[int], wanted: Mapping[str, Sequence[int]], only: Collection[bytes] | None
    ) -> None:
        """Add what shares add up to in blocks without an edge."""
        if not blocks:
            return
        dialect, columns = self.connection.dialect.name, self._columns
        values = {"workspace_id": self.workspace_id, "blocks": as_numbers(dialect, blocks)}
        for at, packed in await driver_rows(self.connection, columns_of_packs(dialect, "totals"), values):
            period = bisect_left(self.edges, at)
            for currency, share, totals in read_totals(packed, wanted):
                if only is None or share in only:
                    for place, total in zip(wanted[currency], totals, strict=True):
                        columns[share, currency, place][period] += total

    async def _add_hours(
        self, blocks: Sequence[int], wanted: Mapping[str, Sequence[int]], share_ids: Collection[UUID] | None
    ) -> None:
        """Add the sums of shares between the edges in blocks."""
        if not blocks:
            return
        dialect, columns = self.connection.dialect.name, self._columns
        values: dict[str, Any] = {"workspace_id": self.workspace_id, "blocks": as_numbers(dialect, blocks)}
        if share_ids is not None:
            values["share_ids"] = as_ids(dialect, list(share_ids))
        statement = _hours_of(dialect, of_shares=share_ids is not None)
        hours = {at: [(edge - at) // Grain.HOUR.microseconds for edge in self._edges_in(at)] for at in blocks}
        for at, share_id, packed in await driver_rows(self.connection, statement, values):
            share, period = _bytes(share_id), bisect_left(self.edges, at)
            for currency, place, totals in read_hours(packed, wanted, hours[at]):
                sums = columns[share, currency, place]
                # The periods in which the block begins and ends have other parts.
                parts = [totals[0], *map(sub, totals[1:], totals)]
                parts[-1] += sums[period + len(parts) - 1]
                parts[0] += sums[period]
                sums[period : period + len(parts)] = parts


def _bytes(id: UUID | str) -> bytes:
    """The bytes of an id as the driver returns it: SQLite stores texts."""
    return bytes.fromhex(id) if isinstance(id, str) else id.bytes


@cache
def _hours_of(dialect: str, *, of_shares: bool) -> Select[Any]:
    packs, blocks = _share_packs.c, select(numbers_named(dialect, "blocks").c.value)
    conditions = [packs.workspace_id == _WORKSPACE_ID, packs.at.in_(blocks)]
    if of_shares:
        conditions.append(packs.share_id.in_(select(ids_named(dialect, "share_ids").c.value)))
    return select(packs.at, packs.share_id, packs.hours).where(*conditions)
