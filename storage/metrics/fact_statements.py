"""The statements that read facts, of the log or of the deltas, kept when they are built."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Select,
    Subquery,
    Table,
    Uuid,
    and_,
    bindparam,
    case,
    cast,
    false,
    func,
    literal,
    or_,
    select,
    union_all,
)

from storage.enums import FactKind
from storage.metrics.cover import FIRST_EVER, Grain
from storage.metrics.grouping import cell_of, period_of
from storage.metrics.source import Selection
from storage.metrics.terms import Term, parts_of
from storage.numbers import as_numbers, gathered, numbers_in, numbers_named
from storage.rows import table_of
from storage.tables.metrics import PersonMergeRow

_merges = table_of(PersonMergeRow)

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
        """The parameters of its statements, but for `currency`."""
        values: dict[str, Any] = {"workspace_ids": selection.workspace_ids}
        if self.by_share:
            values["share_ids"] = selection.share_ids
        for number, (home, some) in enumerate((persons or {}).items()):
            values |= {f"home_{number}": home, f"persons_{number}": as_numbers(self.dialect, some)}
        return values


@lru_cache(maxsize=128)
def sums_of_facts(shape: Shape, terms: tuple[Term, ...]) -> Select[Any]:
    """Rows of a moment before the edges or in the period, and of the sums of the terms' parts.

    Takes a `currency`.
    """
    facts = _selected(shape, {term.kind for term in terms})
    own = facts.c.currency == bindparam("currency")
    sums = [
        _sum(case((own, part.of_column(facts)), else_=0) if term.in_currency else part.of_column(facts))
        for term in terms
        for part in term.parts
    ]
    return select(facts.c.at, *sums).group_by(facts.c.at)


@lru_cache(maxsize=64)
def money_of_facts(shape: Shape, terms: tuple[Term, ...]) -> Select[Any]:
    """Rows of a currency, of a moment in the period, and of the sums of the terms' parts."""
    facts = _selected(shape, {term.kind for term in terms})
    sums = [_sum(part.of_column(facts)) for part in parts_of(terms)]
    keys = facts.c.currency, facts.c.at
    return select(*keys, *sums).where(facts.c.currency.is_not(None)).group_by(*keys)


@lru_cache(maxsize=64)
def persons_with_events(shape: Shape) -> Select[Any]:
    """Rows of a moment in the period, of a workspace, and of the persons of its events, merged ones as one.

    They are `gathered`, some more than once: sets are made of them faster than a database sorts them.
    """
    facts = _selected(shape, {FactKind.EVENT})
    merged = and_(_merges.c.workspace_id == facts.c.workspace_id, _merges.c.absorbed == facts.c.person)
    persons = gathered(shape.dialect, func.coalesce(_merges.c.into, facts.c.person))
    keys = facts.c.at, facts.c.workspace_id
    return (
        select(*keys, persons)
        .select_from(facts.outerjoin(_merges, merged))
        .where(facts.c.person.is_not(None))
        .group_by(*keys)
    )


def _selected(shape: Shape, kinds: set[FactKind]) -> Subquery:
    facts = shape.table.c
    source: FromClause = shape.table
    begun = facts.moment >= shape.edges[0]
    conditions = [
        facts.workspace_id.in_(bindparam("workspace_ids", expanding=True)),
        facts.kind.in_(sorted(kinds)),
        or_(begun, facts.kind.in_(sorted(shape.since_ever))) if shape.since_ever else begun,
        facts.moment < shape.edges[-1],
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
        inside = and_(facts.moment >= cells.c.value, facts.moment < until, *conditions)
        # An outer join keeps its order on SQLite: one look into the index for each of the cells.
        source, conditions = cells.outerjoin(shape.table, inside), [facts.id.is_not(None)]
    if shape.homes == 0:
        conditions.append(false())
    elif shape.homes is not None:
        people = _people(shape)
        theirs = and_(facts.workspace_id == people.c.home, facts.person == people.c.person, *conditions)
        # For the same reason: with a plain join it found them by their moments, among everybody's.
        source, conditions = people.outerjoin(shape.table, theirs), [facts.id.is_not(None)]
    at = period_of(facts.moment, shape.edges)
    if shape.since_ever:
        at = case((facts.moment < shape.edges[0], literal(FIRST_EVER, BigInteger)), else_=at)
    return select(shape.table, at.label("at")).select_from(source).where(*conditions).subquery()


def _people(shape: Shape) -> Subquery:
    """Rows of a workspace and the number of a person in it."""
    homes: list[Select[Any]] = [
        select(
            bindparam(f"home_{number}", type_=Uuid()).label("home"),
            numbers_named(shape.dialect, f"persons_{number}").c.value.label("person"),
        )
        for number in range(shape.homes or 0)
    ]
    return union_all(*homes).subquery()


def _sum(values: ColumnElement[Any]) -> ColumnElement[int]:
    return cast(func.sum(values), BigInteger)
