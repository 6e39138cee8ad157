"""Where metrics are read from: sums and persons of facts, exact between any two edges."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    and_,
    case,
    cast,
    func,
    literal,
    select,
    tuple_,
    union,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.enums import FactKind
from storage.metrics.definitions import COST, COST_SCALE
from storage.rows import table_of
from storage.tables.customers import CustomerRow
from storage.tables.metrics import MetricFactRow, PersonMergeRow

QUARTER = 900 * 1_000_000
MOST_RUNS = 150
# Sums are taken of both halves of a number: SQLite's sum() fails past 2^63.
_HALF = 2**32
# The columns of the log that a column asked for is made of, each with its factor.
_MADE_OF = {COST: (("amount", COST_SCALE), ("parts", 1))}

Person = tuple[UUID, int]

_facts, _merges, _customers = table_of(MetricFactRow), table_of(PersonMergeRow), table_of(CustomerRow)


@dataclass(frozen=True)
class Selection:
    """Which facts: those of all these workspaces, and of the shares and customers where any are named."""

    workspace_ids: Sequence[UUID]
    share_ids: Sequence[UUID] | None = None
    customer_ids: Sequence[UUID] | None = None


class Cell(NamedTuple):
    """The sums of the facts of one kind and currency at an instant or in a time that begins there.

    `at` is in microseconds since 1970; `sums` are in the order of the columns asked for.
    """

    at: int
    kind: FactKind
    currency: str | None
    sums: tuple[int, ...]


class Source(Protocol):
    """What a read of metrics needs. Edges are microseconds since 1970, ascending."""

    async def cells(
        self, kinds: Iterable[FactKind], columns: Sequence[str], edges: Sequence[int]
    ) -> list[Cell]:
        """The facts from the first edge until the last; no cell reaches over an edge."""

    async def total(
        self, kinds: Iterable[FactKind], columns: Sequence[str], begins: int | None, ends: int
    ) -> list[Cell]:
        """The facts from `begins`, or from ever, until `ends`, not divided by time: `at` is 0."""

    async def persons(self, edges: Sequence[int]) -> list[tuple[int, Person]]:
        """The persons with an event, each at least once between two edges, merged ones as one."""


@dataclass(frozen=True)
class FactSource:
    """Reads the log itself, grouped by the period that a fact lies in."""

    connection: AsyncConnection
    selection: Selection

    async def cells(
        self, kinds: Iterable[FactKind], columns: Sequence[str], edges: Sequence[int]
    ) -> list[Cell]:
        rows = self._facts(kinds, columns, edges[0], edges[-1], _at(edges))
        return await self._sum(rows, columns)

    async def total(
        self, kinds: Iterable[FactKind], columns: Sequence[str], begins: int | None, ends: int
    ) -> list[Cell]:
        rows = self._facts(kinds, columns, begins, ends, literal(0, BigInteger))
        return await self._sum(rows, columns)

    async def persons(self, edges: Sequence[int]) -> list[tuple[int, Person]]:
        facts = self._facts([FactKind.EVENT], ["person"], edges[0], edges[-1], _at(edges)).subquery()
        merged = and_(_merges.c.workspace_id == facts.c.workspace_id, _merges.c.absorbed == facts.c.person)
        person = func.coalesce(_merges.c.into, facts.c.person)
        wanted = (
            select(facts.c.at, facts.c.workspace_id, person)
            .select_from(facts.outerjoin(_merges, merged))
            .where(facts.c.person.is_not(None))
            .distinct()
        )
        found = await self.connection.execute(wanted)
        return [(at, (workspace_id, number)) for at, workspace_id, number in found]

    async def _sum(self, rows: Select[Any], columns: Sequence[str]) -> list[Cell]:
        facts = rows.subquery()
        keys = (facts.c.at, facts.c.kind, facts.c.currency)
        half = literal(_HALF, BigInteger)
        sums, factors = [], []
        for place, name in enumerate(columns):
            for part, factor in _made_of(name):
                sums += [facts.c[part] // half, facts.c[part] % half]
                factors += [(place, factor * _HALF), (place, factor)]
        exact = [cast(func.sum(part), BigInteger) for part in sums]
        found = await self.connection.execute(select(*keys, *exact).group_by(*keys))
        cells = []
        for at, kind, currency, *values in found:
            whole = [0] * len(columns)
            for value, (place, factor) in zip(values, factors, strict=True):
                whole[place] += value * factor
            cells.append(Cell(at, FactKind(kind), currency, tuple(whole)))
        return cells

    def _facts(
        self,
        kinds: Iterable[FactKind],
        columns: Sequence[str],
        begins: int | None,
        ends: int,
        at: ColumnElement[int],
    ) -> Select[Any]:
        conditions = [
            _facts.c.workspace_id.in_(self.selection.workspace_ids),
            _facts.c.kind.in_(sorted(kind.value for kind in kinds)),
            _facts.c.moment < ends,
        ]
        if begins is not None:
            conditions.append(_facts.c.moment >= begins)
        if self.selection.share_ids is not None:
            conditions.append(_facts.c.share_id.in_(self.selection.share_ids))
        if self.selection.customer_ids is not None:
            conditions.append(
                tuple_(_facts.c.workspace_id, _facts.c.person).in_(self._persons_of_customers())
            )
        keys = (_facts.c.workspace_id, _facts.c.kind, _facts.c.currency, at.label("at"))
        parts = sorted({part for name in columns for part, _ in _made_of(name)})
        return select(*keys, *(_facts.c[part] for part in parts)).where(*conditions)

    def _persons_of_customers(self) -> Any:
        """The numbers of the persons that the customers are, those that were merged into them included."""
        customers = and_(
            _customers.c.workspace_id.in_(self.selection.workspace_ids),
            _customers.c.id.in_(self.selection.customer_ids or ()),
        )
        merged = and_(
            _merges.c.workspace_id == _customers.c.workspace_id, _merges.c.absorbed == _customers.c.person
        )
        named = (
            select(
                _customers.c.workspace_id, func.coalesce(_merges.c.into, _customers.c.person).label("person")
            )
            .select_from(_customers.outerjoin(_merges, merged))
            .where(customers)
            .cte("named")
        )
        same = and_(_merges.c.workspace_id == named.c.workspace_id, _merges.c.into == named.c.person)
        absorbed = select(_merges.c.workspace_id, _merges.c.absorbed).select_from(_merges.join(named, same))
        return union(select(named.c.workspace_id, named.c.person), absorbed)


def _at(edges: Sequence[int]) -> ColumnElement[int]:
    """The edge that a fact follows, or what `_quarter_at` gives with none or too many runs of edges.

    Days, hours and weeks come in few runs of one length, between which clocks change.
    """
    runs = _runs(edges)
    if not 0 < len(runs) <= MOST_RUNS:
        return _quarter_at(edges)
    branches = []
    for (first, step), (ends, _) in zip(runs, [*runs[1:], (edges[-1], 0)], strict=True):
        place = (_facts.c.moment - literal(first, BigInteger)) // literal(step, BigInteger)
        begins = place * literal(step, BigInteger) + literal(first, BigInteger)
        branches.append((_facts.c.moment < ends, begins))
    return case(*branches)


def _runs(edges: Sequence[int]) -> list[tuple[int, int]]:
    """Where the distance from edge to edge changes: the first edge and the distance of each run."""
    runs: list[tuple[int, int]] = []
    for begins, ends in pairwise(edges):
        if not runs or runs[-1][1] != ends - begins:
            runs.append((begins, ends - begins))
    return runs


def _quarter_at(edges: Sequence[int]) -> ColumnElement[int]:
    """A fact's quarter hour, or its own moment where an edge cuts that quarter."""
    quarter = _facts.c.moment // QUARTER
    cut = sorted({edge // QUARTER for edge in edges if edge % QUARTER})
    begins = quarter * QUARTER
    return case((quarter.in_(cut), _facts.c.moment), else_=begins) if cut else begins


def _made_of(column: str) -> tuple[tuple[str, int], ...]:
    return _MADE_OF.get(column, ((column, 1),))
