"""The statements that read facts, from the log or the deltas; built once and cached."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Select,
    String,
    Subquery,
    Table,
    Uuid,
    and_,
    bindparam,
    cast,
    exists,
    false,
    func,
    literal,
    select,
    union_all,
)

from storage.dialects.number_lists import as_numbers, gathered, numbers_in, numbers_named, pairs_in
from storage.enums import FactKind
from storage.metrics.cells.period_sql import cell_of, period_of
from storage.metrics.cells.tiling import FIRST_EVER, Grain
from storage.metrics.reading.reader import GroupedBy, Selection
from storage.metrics.sums import SUMMED, FactSum, halves, kinds_of, summed_columns
from storage.rows.rows import table_of
from storage.tables.metrics.metrics import PersonMergeRow

_merges = table_of(PersonMergeRow)
_WORKSPACE_IDS = bindparam("workspace_ids", expanding=True, type_=Uuid())
_SHARE_IDS: BindParameter[UUID] = bindparam("share_ids", expanding=True)
_HAS_MERGES = exists(select(_merges.c.absorbed).where(_merges.c.workspace_id.in_(_WORKSPACE_IDS))).label(
    "has_merges"
)

# Up to this number, periods are looked up one by one; when there are more, each holds few facts.
MOST_LOOKS = 400

_KEYS = {GroupedBy.SHARE: "share_id", GroupedBy.PERSON: "person", GroupedBy.CURRENCY: "currency"}

PersonsOf = Mapping[UUID, Sequence[int]]


@dataclass(frozen=True)
class InRange:
    """All facts of the range."""


@dataclass(frozen=True)
class InCells:
    """Only facts in the cells of `grain` that begin at `begins`."""

    grain: Grain
    begins: tuple[int, ...]


@dataclass(frozen=True)
class OutsideCells:
    """Only facts outside the cells of `grain` that begin at `begins`."""

    grain: Grain
    begins: tuple[int, ...]


@dataclass(frozen=True)
class OfPersons:
    """Only facts of certain persons; each of `workspaces` workspaces has a list of them."""

    workspaces: int


@dataclass(frozen=True)
class FactQuery:
    """The facts of `table` that a statement reads; `edges` bound its periods.

    Facts of the kinds in `since_ever` are also read before the first edge. `by_share` limits the facts to
    those of selected shares, `restriction` to certain cells or persons.
    """

    dialect: str
    table: Table
    edges: tuple[int, ...]
    restriction: InRange | InCells | OutsideCells | OfPersons = InRange()
    by_share: bool = False
    since_ever: frozenset[FactKind] = frozenset()
    grouped_by: GroupedBy | None = None

    def values(self, selection: Selection, persons: PersonsOf | None) -> dict[str, Any]:
        """The parameters of its statements."""
        values: dict[str, Any] = {"workspace_ids": selection.workspace_ids}
        if self.by_share:
            values["share_ids"] = selection.share_ids
        for number, (workspace_id, numbers) in enumerate((persons or {}).items()):
            values |= {f"home_{number}": workspace_id, f"persons_{number}": as_numbers(self.dialect, numbers)}
        return values


@lru_cache(maxsize=128)
def sums_of_facts(query: FactQuery, fact_sums: tuple[FactSum, ...]) -> Select[Any]:
    """One row per period, kind and currency, with the sums of the columns in `fact_sums`.

    The columns are a moment (in the period, or before the first edge), the kind, the currency, and the sums,
    two for each column that `halves` splits. Grouping by kind takes half as long as one sum per `FactSum`.
    An outer join may give one all-null row; callers skip it. `grouped_by` puts a key before each row.
    """
    facts = _selected(query, kinds_of(fact_sums))
    sums = [_sum(half) for column in summed_columns(fact_sums) for half in halves(facts.c[column])]
    keys = [*_keys(query, facts), facts.c.at, facts.c.kind, facts.c.currency]
    return select(*keys, *sums).group_by(*keys)


@lru_cache(maxsize=64)
def persons_with_events(query: FactQuery) -> Select[Any]:
    """One row per period of one workspace: a moment in it, its persons, and whether the workspace has merges.

    Merged persons are still apart. The persons are `gathered` with duplicates, because building sets of them
    is faster than sorting in the database. An outer join may give one all-null row; callers skip it.
    """
    if query.by_share and query.restriction == InRange() and len(query.edges) <= MOST_LOOKS:
        return _persons_period_by_period(query)
    facts = _selected(query, frozenset({FactKind.EVENT}))
    persons = gathered(query.dialect, facts.c.person)
    return select(facts.c.at, persons, _HAS_MERGES).group_by(facts.c.at)


def _persons_period_by_period(query: FactQuery) -> Select[Any]:
    """One index look-up per period, which gives its persons together: nothing is sorted.

    Facts without a person are not excluded: PostgreSQL would then search the facts of all persons.
    """
    facts = query.table.c
    periods = pairs_in(query.dialect, list(pairwise(query.edges)))
    persons = (
        select(gathered(query.dialect, facts.person))
        .where(
            facts.workspace_id.in_(_WORKSPACE_IDS),
            facts.share_id.in_(_SHARE_IDS),
            facts.kind == FactKind.EVENT.value,
            facts.moment >= periods.first,
            facts.moment < periods.second,
        )
        .scalar_subquery()
    )
    return select(periods.first, persons, _HAS_MERGES).select_from(periods.table)


def _keys(query: FactQuery, facts: Subquery) -> list[ColumnElement[Any]]:
    return [] if query.grouped_by is None else [facts.c.key]


def _selected(query: FactQuery, kinds: frozenset[FactKind]) -> Subquery:
    """The facts of these kinds, with the beginning of their period, or `FIRST_EVER`, as `at`."""
    moment, first, last = query.table.c.moment, query.edges[0], query.edges[-1]
    period = period_of(moment, query.edges)
    inside = _restricted(query, kinds, period, [moment >= first, moment < last])
    if not query.since_ever:
        return inside.subquery()
    # A statement of its own, so that an index serves both.
    before = _restricted(query, query.since_ever, literal(FIRST_EVER, BigInteger), [moment < first])
    return union_all(inside, before).subquery()


def _restricted(
    query: FactQuery,
    kinds: frozenset[FactKind],
    at: ColumnElement[int],
    bounds: Sequence[ColumnElement[bool]],
) -> Select[Any]:
    facts = query.table.c
    columns: list[ColumnElement[Any]] = [facts[name] for name in ("person", "kind", "currency", *SUMMED)]
    if query.grouped_by is not None:
        columns.append(facts[_KEYS[query.grouped_by]].label("key"))
    rows = select(*columns, at.label("at"))
    conditions = [facts.workspace_id.in_(_WORKSPACE_IDS), facts.kind.in_(sorted(kinds)), *bounds]
    if query.by_share:
        conditions.append(facts.share_id.in_(_SHARE_IDS))
    match query.restriction:
        case InRange():
            return rows.where(*conditions)
        case InCells(grain, begins):
            return _in_cells(query, rows, conditions, grain, begins)
        case OutsideCells(grain, begins):
            return _outside_cells(query, rows, conditions, grain, begins)
        case OfPersons(workspaces):
            return _of_persons(query, rows, conditions, workspaces, kinds)


def _in_cells(
    query: FactQuery,
    rows: Select[Any],
    conditions: Sequence[ColumnElement[bool]],
    grain: Grain,
    begins: tuple[int, ...],
) -> Select[Any]:
    """One index look-up for each cell.

    An outer join keeps SQLite to this order. It gives an all-null row for an empty cell, which stays: with a
    condition that removes it, SQLite would treat the join as an inner one.
    """
    moment, cells = query.table.c.moment, numbers_in(query.dialect, begins)
    ends = cells.c.value + literal(grain.microseconds, BigInteger)
    in_cell = and_(moment >= cells.c.value, moment < ends, *conditions)
    return rows.select_from(cells.outerjoin(query.table, in_cell))


def _outside_cells(
    query: FactQuery,
    rows: Select[Any],
    conditions: Sequence[ColumnElement[bool]],
    grain: Grain,
    begins: tuple[int, ...],
) -> Select[Any]:
    if not begins:
        return rows.where(*conditions)
    cells = numbers_in(query.dialect, begins)
    return rows.where(*conditions, cell_of(query.table.c.moment, grain).not_in(select(cells.c.value)))


def _of_persons(
    query: FactQuery,
    rows: Select[Any],
    conditions: Sequence[ColumnElement[bool]],
    workspaces: int,
    kinds: frozenset[FactKind],
) -> Select[Any]:
    """One index look-up for each person and kind, by an outer join as for cells.

    Without the kinds, SQLite would search by moment, among the facts of all persons.
    """
    if workspaces == 0:
        return rows.where(*conditions, false())
    facts, persons = query.table.c, _persons(query.dialect, workspaces, kinds)
    own = and_(
        facts.workspace_id == persons.c.home,
        facts.person == persons.c.person,
        facts.kind == persons.c.kind,
        *conditions,
    )
    return rows.select_from(persons.outerjoin(query.table, own))


def _persons(dialect: str, workspaces: int, kinds: frozenset[FactKind]) -> Subquery:
    """One row for each workspace, number of a person in it, and kind."""
    lists: list[Select[Any]] = [
        select(
            bindparam(f"home_{number}", type_=Uuid()).label("home"),
            numbers_named(dialect, f"persons_{number}").c.value.label("person"),
            literal(kind.value, String()).label("kind"),
        )
        for number in range(workspaces)
        for kind in sorted(kinds)
    ]
    return union_all(*lists).subquery()


def _sum(values: ColumnElement[Any]) -> ColumnElement[int]:
    return cast(func.sum(values), BigInteger)
