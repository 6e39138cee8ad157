"""The distinct persons of shares, and of all other facts together, from the index of facts by share.

Each share is one range of the index, in one statement for all shares; nothing is sorted. A fact becomes one
number, of its period and its person, so that one bitmap holds all persons of a share by period.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from pyroaring import BitMap, BitMap64
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Uuid,
    bindparam,
    func,
    literal,
    null,
    select,
    union_all,
)

from storage.dialects.number_lists import (
    as_ids,
    as_numbers,
    gathered,
    ids_named,
    numbers_named,
    read_numbers,
)
from storage.engine.connections import Connection
from storage.enums import FactKind
from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.cells.merges import merges_of
from storage.metrics.cells.period_sql import MOST_RUNS, runs
from storage.metrics.grouping.groups import REST, AnyKey, Key
from storage.metrics.grouping.packed_persons import PackedPersons, fit_days
from storage.metrics.packs.packed_blocks import gaps, packed_blocks
from storage.metrics.reading.fact_source import FACTS
from storage.metrics.reading.fact_statements import PersonsOf
from storage.rows.fast_rows import driver_rows
from storage.rows.rows import table_of
from storage.tables.metrics.metrics import PersonMergeRow

MINUTE = 60_000_000
_LARGEST_32 = 2**32
_merges = table_of(PersonMergeRow)
_WORKSPACE_ID = bindparam("workspace_id", type_=Uuid())
_LARGEST = select(
    select(FACTS.c.person)
    .where(FACTS.c.workspace_id == _WORKSPACE_ID, FACTS.c.person.is_not(None))
    .order_by(FACTS.c.person.desc())
    .limit(1)
    .scalar_subquery(),
    select(func.max(_merges.c.into)).where(_merges.c.workspace_id == _WORKSPACE_ID).scalar_subquery(),
)
_MERGED = select(_merges.c.absorbed, _merges.c.into).where(_merges.c.workspace_id == _WORKSPACE_ID)


@dataclass(frozen=True)
class _Codes:
    """How a period and a person make one number: the period times `stride`, plus the person."""

    edges: tuple[int, ...]
    stride: int

    @property
    def bitmap(self) -> Any:
        return BitMap if len(self.edges) * self.stride < _LARGEST_32 else BitMap64

    def read(self, numbers: list[int], merges: Mapping[int, int]) -> Any:
        """The set of the codes that the database has gathered, after applying merges."""
        stride = self.stride
        if is_by_minute(self.edges):
            minutes = [edge // MINUTE for edge in self.edges]
            numbers = [
                (bisect_right(minutes, code // stride + minutes[0]) - 1) * stride + code % stride
                for code in numbers
            ]
        if merges:
            numbers = [code - code % stride + merges.get(code % stride, code % stride) for code in numbers]
        return self.bitmap(numbers)

    def count(self, codes: Any) -> PersonCounts:
        """The persons in each period, and in all of them together."""
        parts = [self._part(codes, period) for period in range(len(self.edges) - 1)]
        return PersonCounts([len(part) for part in parts], len(self.bitmap.union(self.bitmap(), *parts)))

    def persons(self, codes: Any, period: int) -> BitMap:
        """The persons in a period."""
        part = self._part(codes, period)
        return part if self.bitmap is BitMap else BitMap(list(part))

    def _part(self, codes: Any, period: int) -> Any:
        first = period * self.stride
        return (codes & self.bitmap(range(first, first + self.stride))).shift(-first)


class _Part(NamedTuple):
    """A time whose periods have one length, `step`, and the place of its first period."""

    first: int
    last: int
    step: int
    place: int


@dataclass(frozen=True)
class SharePersons:
    """The persons with an event on shares of some workspaces; only `persons`, if given.

    `has_null`: facts without a share count too.
    """

    connection: Connection
    workspace_ids: Sequence[UUID]
    share_ids: Sequence[UUID]
    has_null: bool
    persons: PersonsOf | None = None

    async def count(
        self, edges: Sequence[int], keys: Collection[Key | None] | None
    ) -> dict[AnyKey, PersonCounts]:
        """The persons of each share, and of facts without one; with `keys`, all others together."""
        counted: dict[AnyKey, PersonCounts] = {}
        for workspace_id in self.workspace_ids:
            if self.persons is None or workspace_id in self.persons:
                for key, counts in (await self._count_in(workspace_id, tuple(edges), keys)).items():
                    counted[key] = _added(counted[key], counts) if key in counted else counts
        return counted

    async def _count_in(
        self, workspace_id: UUID, edges: tuple[int, ...], keys: Collection[Key | None] | None
    ) -> dict[AnyKey, PersonCounts]:
        if self.persons is None and fit_days(edges):
            packed = PackedPersons(edges, await packed_blocks(self.connection, workspace_id), keys)
            if packed.blocks:
                return await self._count_packed(workspace_id, edges, packed)
        read = await self._read(workspace_id, edges)
        chosen = {key: each for key, each in read.sets.items() if keys is None or key in keys}
        counted: dict[AnyKey, PersonCounts] = {key: read.codes.count(each) for key, each in chosen.items()}
        others = [each for key, each in read.sets.items() if key not in chosen]
        if others:
            counted[REST] = read.codes.count(read.codes.bitmap.union(*others))
        return counted

    async def _count_packed(
        self, workspace_id: UUID, edges: tuple[int, ...], packed: PackedPersons
    ) -> dict[AnyKey, PersonCounts]:
        """The persons of packs and of the facts in time that is not packed."""
        only = None if self.has_null else set(self.share_ids)
        await packed.read(self.connection, workspace_id, only)
        for begins, ends in gaps(edges[0], edges[-1], packed.blocks):
            within = (begins, *(edge for edge in edges if begins < edge < ends), ends)
            read = await self._read(workspace_id, within)
            sets: defaultdict[AnyKey, list[Any]] = defaultdict(list)
            for key, each in read.sets.items():
                sets[packed.group_of(key)].append(each)
            first = bisect_right(edges, begins) - 1
            for group, parts in sets.items():
                together = read.codes.bitmap.union(read.codes.bitmap(), *parts)
                for period in range(len(within) - 1):
                    packed.add(group, first + period, read.codes.persons(together, period))
        await packed.read_deltas(self.connection, workspace_id, only)
        merges = await driver_rows(self.connection, _MERGED, {"workspace_id": workspace_id})
        return packed.count(dict(merges))

    async def _read(self, workspace_id: UUID, edges: tuple[int, ...]) -> "_Read":
        """The persons of facts by share, after applying merges."""
        dialect, own = self.connection.dialect.name, {"workspace_id": workspace_id}
        largest, into = (await self.connection.execute(_LARGEST, own)).one()
        codes = _Codes(edges, max(largest or 0, into or 0) + 1)
        values: dict[str, Any] = {**own, "share_ids": as_ids(dialect, self.share_ids), "stride": codes.stride}
        if self.persons is not None:
            values["persons"] = as_numbers(dialect, self.persons[workspace_id])
        statement = _codes_of_shares(edges, dialect, has_persons=self.persons is not None)
        rows = [
            (share_id, read_numbers(gathered_codes))
            for share_id, gathered_codes in await self.connection.execute(statement, values)
            if self.has_null or share_id is not None
        ]
        merges: dict[int, int] = {}
        if into is not None:
            everyone = BitMap([code % codes.stride for _, numbers in rows for code in numbers])
            merges = dict(await merges_of(self.connection, workspace_id, everyone))
        gathered_by_share: defaultdict[UUID | None, list[int]] = defaultdict(list)
        for share_id, numbers in rows:
            if numbers:
                gathered_by_share[share_id] += numbers
        return _Read(
            codes, {share_id: codes.read(numbers, merges) for share_id, numbers in gathered_by_share.items()}
        )


class _Read(NamedTuple):
    """The codes of the persons of each share."""

    codes: _Codes
    sets: Mapping[UUID | None, Any]


def is_by_minute(edges: tuple[int, ...]) -> bool:
    """Whether codes have minutes instead of periods, because there are too many runs of periods."""
    return not 0 < len(runs(edges)) <= MOST_RUNS


@lru_cache(maxsize=32)
def _codes_of_shares(edges: tuple[int, ...], dialect: str, *, has_persons: bool) -> CompoundSelect[Any]:
    """Rows for each of `share_ids`, and for null: the id, and the codes of its facts in a part of the range.

    Further parameters: `workspace_id`, `stride`, and `persons` if there are.
    """
    facts, shares = FACTS.c, ids_named(dialect, "share_ids")
    stride = bindparam("stride", type_=BigInteger)
    conditions = [facts.workspace_id == _WORKSPACE_ID, facts.kind == FactKind.EVENT.value]
    if has_persons:
        conditions.append(facts.person.in_(select(numbers_named(dialect, "persons").c.value)))

    def codes_of(part: _Part, own: ColumnElement[bool]) -> Any:
        first, last, step, place = (literal(number, BigInteger) for number in part)
        code = ((facts.moment - first) // step + place) * stride + facts.person
        # The filter is on the person: one on the code would compute each code twice.
        return (
            select(gathered(dialect, code, facts.person.is_not(None)))
            .where(own, *conditions, facts.moment >= first, facts.moment < last)
            .scalar_subquery()
        )

    return union_all(
        *(
            statement
            for part in _parts(edges)
            for statement in (
                select(shares.c.value, codes_of(part, facts.share_id == shares.c.value)).select_from(shares),
                select(null().cast(Uuid()), codes_of(part, facts.share_id.is_(None))),
            )
        )
    )


def _parts(edges: tuple[int, ...]) -> list[_Part]:
    """The range cut where the length of its periods changes, or as one part whose places are minutes."""
    if is_by_minute(edges):
        return [_Part(edges[0], edges[-1], MINUTE, 0)]
    firsts = [run.first for run in runs(edges)]
    return [
        _Part(run.first, last, run.step, bisect_left(edges, run.first))
        for run, last in zip(runs(edges), [*firsts[1:], edges[-1]], strict=True)
    ]


def _added(one: PersonCounts, other: PersonCounts) -> PersonCounts:
    """The counts of two workspaces, whose persons differ."""
    periods = [first + second for first, second in zip(one.periods, other.periods, strict=True)]
    return PersonCounts(periods, one.total + other.total)
