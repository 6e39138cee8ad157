"""The statements that read facts, of the log or of the deltas, kept when they are built."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
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
from storage.metrics.reading.reader import Selection
from storage.metrics.sums import SUMMED, Term, columns_of, halves, kinds_of
from storage.rows import table_of
from storage.tables.metrics import PersonMergeRow

_merges = table_of(PersonMergeRow)
_WORKSPACE_IDS = bindparam("workspace_ids", expanding=True, type_=Uuid())
_HAS_MERGES = exists(select(_merges.c.absorbed).where(_merges.c.workspace_id.in_(_WORKSPACE_IDS))).label(
    "has_merges"
)

# So many periods are looked up one by one; more of them hold few facts each.
MOST_LOOKS = 400

# A grain, and where cells of it begin.
CellsOf = tuple[Grain, tuple[int, ...]]
PersonsOf = Mapping[UUID, Sequence[int]]


@dataclass(frozen=True)
class Shape:
    """Which facts of `table` a statement reads, whoever they are about; `edges` bound its periods.

    Those of the kinds `since_ever` are read from before the first edge on. `only`: those in these cells;
    `but`: those in no such cell. `by_share` takes those of shares, `homes` those of persons in so many
    workspaces.
    """

    dialect: str
    table: Table
    edges: tuple[int, ...]
    only: CellsOf | None = None
    but: CellsOf | None = None
    by_share: bool = False
    homes: int | None = None
    since_ever: frozenset[FactKind] = frozenset()

    def values(self, selection: Selection, persons: PersonsOf | None) -> dict[str, Any]:
        """The parameters of its statements."""
        values: dict[str, Any] = {"workspace_ids": selection.workspace_ids}
        if self.by_share:
            values["share_ids"] = selection.share_ids
        for number, (home, some) in enumerate((persons or {}).items()):
            values |= {f"home_{number}": home, f"persons_{number}": as_numbers(self.dialect, some)}
        return values


@lru_cache(maxsize=128)
def sums_of_facts(shape: Shape, terms: tuple[Term, ...]) -> Select[Any]:
    """Rows of a moment before the edges or in the period, of a kind, of a currency, and of the sums of the
    columns that the terms name, in two halves where `halves` makes two.

    A statement that adds up kind by kind takes half as long as one with a sum for each term. A row may be of
    no kind, and of nothing.
    """
    facts = _selected(shape, kinds_of(terms))
    sums = [_sum(half) for column in columns_of(terms) for half in halves(facts.c[column])]
    keys = facts.c.at, facts.c.kind, facts.c.currency
    return select(*keys, *sums).group_by(*keys)


@lru_cache(maxsize=64)
def persons_with_events(shape: Shape) -> Select[Any]:
    """Rows of a moment in the period, of the persons of its events, and of whether any persons were merged,
    which these still are apart. Of one workspace, as persons are numbered in theirs.

    They are `gathered`, some more than once: sets are made of them faster than a database sorts them. A row
    may be of no moment, and of nobody.
    """
    are_whole = shape.homes is None and shape.only is None and shape.but is None
    if shape.by_share and are_whole and len(shape.edges) <= MOST_LOOKS:
        return _persons_period_by_period(shape)
    facts = _selected(shape, frozenset({FactKind.EVENT}))
    persons = gathered(shape.dialect, facts.c.person)
    return select(facts.c.at, persons, _HAS_MERGES).group_by(facts.c.at)


def _persons_period_by_period(shape: Shape) -> Select[Any]:
    """One look into the index for each period, whose persons it has together: nothing is sorted.

    Without asking that there is a person: that PostgreSQL would look up among everybody's facts.
    """
    facts = shape.table.c
    periods = pairs_in(shape.dialect, list(pairwise(shape.edges)))
    persons = (
        select(gathered(shape.dialect, facts.person))
        .where(
            facts.workspace_id.in_(_WORKSPACE_IDS),
            facts.share_id.in_(bindparam("share_ids", expanding=True)),
            facts.kind == FactKind.EVENT.value,
            facts.moment >= periods.first,
            facts.moment < periods.second,
        )
        .scalar_subquery()
    )
    return select(periods.first, persons, _HAS_MERGES).select_from(periods.table)


def _selected(shape: Shape, kinds: frozenset[FactKind]) -> Subquery:
    """The facts of these kinds with `at`, the beginning of their period, or `FIRST_EVER`."""
    moment, first, last = shape.table.c.moment, shape.edges[0], shape.edges[-1]
    inside = _of_kinds(shape, kinds, period_of(moment, shape.edges), [moment >= first, moment < last])
    if not shape.since_ever:
        return inside.subquery()
    # Apart from the others, so that an index can find both.
    before = _of_kinds(shape, shape.since_ever, literal(FIRST_EVER, BigInteger), [moment < first])
    return union_all(inside, before).subquery()


def _of_kinds(
    shape: Shape, kinds: frozenset[FactKind], at: ColumnElement[int], when: Sequence[ColumnElement[bool]]
) -> Select[Any]:
    facts = shape.table.c
    source: FromClause = shape.table
    conditions = [
        facts.workspace_id.in_(_WORKSPACE_IDS),
        facts.kind.in_(sorted(kinds)),
        *when,
    ]
    if shape.by_share:
        conditions.append(facts.share_id.in_(bindparam("share_ids", expanding=True)))
    if shape.but is not None and shape.but[1]:
        cells = numbers_in(shape.dialect, shape.but[1])
        conditions.append(cell_of(facts.moment, shape.but[0]).not_in(select(cells.c.value)))
    if shape.only is not None:
        grain, begins = shape.only
        cells = numbers_in(shape.dialect, begins)
        until = cells.c.value + literal(grain.microseconds, BigInteger)
        in_cell = and_(facts.moment >= cells.c.value, facts.moment < until, *conditions)
        # An outer join keeps its order on SQLite: one look into the index for each of the cells. It gives a
        # row of nulls where there is nothing, which stays: SQLite sees through a condition that there is.
        source, conditions = cells.outerjoin(shape.table, in_cell), []
    if shape.homes == 0:
        conditions.append(false())
    elif shape.homes is not None:
        people = _people(shape, kinds)
        theirs = and_(
            facts.workspace_id == people.c.home,
            facts.person == people.c.person,
            facts.kind == people.c.kind,
            *conditions,
        )
        # For the same reason, and kind by kind: else it found them by their moments, among everybody's.
        source, conditions = people.outerjoin(shape.table, theirs), []
    columns = [facts[name] for name in ("person", "kind", "currency", *SUMMED)]
    return select(*columns, at.label("at")).select_from(source).where(*conditions)


def _people(shape: Shape, kinds: frozenset[FactKind]) -> Subquery:
    """Rows of a workspace, of the number of a person in it, and of each of the kinds."""
    each: list[Select[Any]] = [
        select(
            bindparam(f"home_{number}", type_=Uuid()).label("home"),
            numbers_named(shape.dialect, f"persons_{number}").c.value.label("person"),
            literal(kind.value, String()).label("kind"),
        )
        for number in range(shape.homes or 0)
        for kind in sorted(kinds)
    ]
    return union_all(*each).subquery()


def _sum(values: ColumnElement[Any]) -> ColumnElement[int]:
    return cast(func.sum(values), BigInteger)
