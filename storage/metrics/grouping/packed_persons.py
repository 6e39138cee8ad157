"""The distinct persons of shares from packs, by period, with the persons of facts that packs do not hold."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import Uuid, bindparam, select

from storage.dialects.number_lists import as_numbers
from storage.engine.connections import Connection
from storage.enums import FactKind
from storage.metrics.cells.bitmaps import PersonCounts, replace_absorbed
from storage.metrics.cells.blocks import BLOCK, DAYS
from storage.metrics.cells.tiling import Grain
from storage.metrics.grouping.groups import REST, AnyKey, Key
from storage.metrics.packs.packed_blocks import columns_of_packs
from storage.metrics.packs.person_days import (
    BusyPersons,
    Cut,
    Persons,
    days_of,
    days_of_busy,
    days_together,
    keep_slots,
    many_in,
    persons_of,
    read_busy,
    read_persons,
    replace_absorbed_in,
)
from storage.rows.fast_rows import driver_rows
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import NO_SHARE, MetricDeltaRow

_DAY, _HOUR = Grain.DAY.microseconds, Grain.HOUR.microseconds
_deltas = table_of(MetricDeltaRow)
_WORKSPACE_ID = bindparam("workspace_id", type_=Uuid())


_Share = TypeVar("_Share", Persons, BusyPersons)


def fit_days(edges: Sequence[int]) -> bool:
    """Whether no edge cuts an hour, and none is on the same UTC day as another."""
    days = {edge // _DAY for edge in edges}
    return len(days) == len(edges) and not any(edge % _HOUR for edge in edges)


class _Days(NamedTuple):
    """Days of a block, from slot to slot."""

    at: int
    first: int
    last: int


@dataclass
class _Slots:
    """The days of each period, a single one or several; `whole` has the days of each block in any period.

    `single` has periods and slots by block.
    """

    periods: int
    single: defaultdict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    several: dict[int, list[_Days]] = field(default_factory=dict)
    whole: dict[int, _Days] = field(default_factory=dict)

    def single_of(self, period: int) -> list[_Days]:
        return [
            _Days(at, slot, slot) for at, own in self.single.items() for each, slot in own if each == period
        ]


@dataclass
class _Group:
    """The persons of a group: those of packs by block, and others by period."""

    blocks: dict[int, BitMap] = field(default_factory=dict)
    others: defaultdict[int, list[BitMap]] = field(default_factory=lambda: defaultdict(list))

    def add(self, at: int, days: BitMap) -> None:
        self.blocks[at] = self.blocks[at] | days if at in self.blocks else days


class PackedPersons:
    """The persons of the groups of one workspace: add those of packs and others, then count.

    With `keys`, what belongs to none of them is the rest.
    """

    def __init__(
        self, edges: Sequence[int], blocks: Sequence[int], keys: Collection[Key | None] | None
    ) -> None:
        self._edges = edges
        self.blocks = [at for at in blocks if at < edges[-1] and at + BLOCK > edges[0]]
        # The hour of the edge on a UTC day. A day without one is in one period, and begins at midnight.
        self._hours = {edge // _DAY: edge % _DAY // _HOUR for edge in edges}
        self._keys = keys
        self._groups: defaultdict[AnyKey, _Group] = defaultdict(_Group)

    async def read(
        self, connection: Connection, workspace_id: UUID, share_ids: Collection[UUID] | None
    ) -> None:
        """Add the persons of packs: of these shares only, or of all and of facts without a share."""
        dialect = connection.dialect.name
        own = {"workspace_id": workspace_id}
        only = None if share_ids is None else {share_id.bytes for share_id in share_ids}
        values = own | {"blocks": as_numbers(dialect, self.blocks)}
        apart = []
        packs = columns_of_packs(dialect, "busiest", "together")
        for at, busiest, together in await driver_rows(connection, packs, values):
            busy = [each for each in read_busy(busiest) if only is None or each.share in only]
            self._add_shares(at, busy, days_of_busy)
            known = {each.share for each in busy}
            if only is not None or self._keys is None or not known.issuperset(map(_bytes, self._keys)):
                apart.append(at)
            else:
                self._groups[REST].add(at, days_together(together, self._cuts(at)))
        if apart:
            values = own | {"blocks": as_numbers(dialect, apart)}
            packs = columns_of_packs(dialect, "others")
            for at, others in await driver_rows(connection, packs, values):
                shares = [each for each in read_persons(others) if only is None or each.share in only]
                self._add_shares(at, shares, days_of)

    async def read_deltas(
        self, connection: Connection, workspace_id: UUID, share_ids: Collection[UUID] | None
    ) -> None:
        """Add the persons of facts that the fold has not come to."""
        edges = self._edges
        values = {"workspace_id": workspace_id, "begins": edges[0], "ends": edges[-1]}
        for share_id, moment, person in await connection.execute(_DELTAS, values):
            if share_ids is None or share_id in share_ids:
                key = self.group_of(share_id)
                self.add(key, bisect_right(edges, moment) - 1, BitMap([person]))

    def add(self, group: AnyKey, period: int, persons: BitMap) -> None:
        """Add persons in a period, counted from 0."""
        if persons:
            self._groups[group].others[period].append(persons)

    def group_of(self, key: Key | None) -> AnyKey:
        """The group of facts with this key."""
        return key if self._keys is None or key in self._keys else REST

    def count(self, merges: Mapping[int, int]) -> dict[AnyKey, PersonCounts]:
        """By group; merges are applied."""
        for group in self._groups.values():
            if merges:
                for days in group.blocks.values():
                    replace_absorbed_in(days, merges)
                for persons in (each for parts in group.others.values() for each in parts):
                    replace_absorbed(persons, merges.items())
        slots = self._slots()
        return {key: _count(group, slots) for key, group in self._groups.items()}

    def _add_shares(
        self, at: int, shares: Iterable[_Share], days: Callable[[Sequence[_Share], Sequence[Cut]], BitMap]
    ) -> None:
        cuts, by_group = self._cuts(at), defaultdict[AnyKey, list[_Share]](list)
        for each in shares:
            key = None if each.share == NO_SHARE.bytes else UUID(bytes=each.share)
            by_group[self.group_of(key)].append(each)
        for group, own in by_group.items():
            self._groups[group].add(at, days(own, cuts))

    def _cuts(self, at: int) -> list[Cut]:
        """The hours at which the days of a block begin."""
        cuts: list[Cut] = []
        for slot in range(1, DAYS + 1):
            hour = self._hours.get(at // _DAY + slot - 1, 0)
            if cuts and cuts[-1].hour == hour:
                cuts[-1] = Cut(hour, cuts[-1].first, slot)
            else:
                cuts.append(Cut(hour, slot, slot))
        return cuts

    def _slots(self) -> "_Slots":
        """The days of the blocks by period."""
        periods: list[list[_Days]] = [[] for _ in self._edges[1:]]
        for at in self.blocks:
            for slot in range(DAYS + 1):
                day = at // _DAY + slot - 1
                begins = day * _DAY + self._hours.get(day, 0) * _HOUR
                period = bisect_right(self._edges, begins) - 1
                if 0 <= period < len(periods):
                    own = periods[period]
                    if own and own[-1].at == at:
                        own[-1] = _Days(at, own[-1].first, slot)
                    else:
                        own.append(_Days(at, slot, slot))
        slots = _Slots(len(periods))
        for period, own in enumerate(periods):
            if len(own) == 1 and own[0].first == own[0].last:
                slots.single[own[0].at].append((period, own[0].first))
            elif own:
                slots.several[period] = own
            for at, first, last in own:
                slots.whole[at] = _Days(at, slots.whole[at].first if at in slots.whole else first, last)
        return slots


def _count(group: _Group, slots: _Slots) -> PersonCounts:
    counts = [0] * slots.periods
    for at, numbers in group.blocks.items():
        for period, slot in slots.single[at]:
            counts[period] = many_in(numbers, slot)
    for period in {**slots.several, **group.others}:
        days = slots.several.get(period) or slots.single_of(period)
        persons = [
            persons_of(group.blocks[at], first, last) for at, first, last in days if at in group.blocks
        ]
        counts[period] = len(BitMap.union(BitMap(), *persons, *group.others.get(period, ())))
    kept = []
    for at, first, last in slots.whole.values():
        if at in group.blocks:
            numbers = group.blocks[at]
            if first > 0 or last < DAYS:
                numbers = numbers.copy()
                keep_slots(numbers, first, last)
            kept.append(numbers)
    everyone = persons_of(BitMap.union(BitMap(), *kept), 0, DAYS)
    others = [persons for parts in group.others.values() for persons in parts]
    return PersonCounts(counts, len(BitMap.union(everyone, *others)))


def _bytes(key: Key | None) -> bytes:
    return key.bytes if isinstance(key, UUID) else NO_SHARE.bytes


_DELTAS = select(_deltas.c.share_id, _deltas.c.moment, _deltas.c.person).where(
    _deltas.c.workspace_id == _WORKSPACE_ID,
    _deltas.c.kind == FactKind.EVENT.value,
    _deltas.c.person.is_not(None),
    _deltas.c.moment >= bindparam("begins"),
    _deltas.c.moment < bindparam("ends"),
)
