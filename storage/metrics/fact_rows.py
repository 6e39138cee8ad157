"""Statements over rows of facts: those of the log, and those of the deltas, which have the same columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Select,
    Table,
    and_,
    case,
    cast,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.enums import FactKind
from storage.metrics.cover import Grain
from storage.metrics.grouping import cell_of, period_of
from storage.metrics.source import Selection
from storage.metrics.terms import Term, parts_of
from storage.numbers import numbers
from storage.rows import table_of
from storage.tables.metrics import PersonMergeRow

_merges = table_of(PersonMergeRow)


@dataclass(frozen=True)
class FactRows:
    """The selected facts of `table` between the edges.

    `only`: those in the cells of a grain that begin at these moments; `but`: those in no such cell.
    `of`: those of these persons by workspace.
    """

    connection: AsyncConnection
    table: Table
    selection: Selection
    edges: Sequence[int]
    only: tuple[Grain, Sequence[int]] | None = None
    but: tuple[Grain, Sequence[int]] | None = None
    of: Mapping[UUID, Sequence[int]] | None = None

    async def sums(self, terms: Sequence[Term], currency: str) -> Sequence[Any]:
        """Rows of a moment in the period and of the sums of the terms' parts."""
        facts = self._selected({term.kind for term in terms}).subquery()
        own = facts.c.currency == currency
        sums = [
            _sum(case((own, part.of_column(facts)), else_=0) if term.in_currency else part.of_column(facts))
            for term in terms
            for part in term.parts
        ]
        return (await self.connection.execute(select(facts.c.at, *sums).group_by(facts.c.at))).all()

    async def money(self, terms: Sequence[Term]) -> Sequence[Any]:
        """Rows of a currency, of a moment in the period, and of the sums of the terms' parts."""
        facts = self._selected({term.kind for term in terms}).subquery()
        sums = [_sum(part.of_column(facts)) for part in parts_of(terms)]
        keys = facts.c.currency, facts.c.at
        wanted = select(*keys, *sums).where(facts.c.currency.is_not(None)).group_by(*keys)
        return (await self.connection.execute(wanted)).all()

    async def persons(self) -> Sequence[Any]:
        """Rows of a moment in the period, of a workspace and of a person in it, merged ones as one."""
        facts = self._selected({FactKind.EVENT}).subquery()
        merged = and_(_merges.c.workspace_id == facts.c.workspace_id, _merges.c.absorbed == facts.c.person)
        person = func.coalesce(_merges.c.into, facts.c.person)
        wanted = (
            select(facts.c.at, facts.c.workspace_id, person)
            .select_from(facts.outerjoin(_merges, merged))
            .where(facts.c.person.is_not(None))
            .distinct()
        )
        return (await self.connection.execute(wanted)).all()

    def _selected(self, kinds: set[FactKind]) -> Select[Any]:
        facts = self.table.c
        source: FromClause = self.table
        conditions = [
            facts.workspace_id.in_(self.selection.workspace_ids),
            facts.kind.in_(sorted(kind.value for kind in kinds)),
            facts.moment >= self.edges[0],
            facts.moment < self.edges[-1],
        ]
        if self.selection.share_ids is not None:
            conditions.append(facts.share_id.in_(self.selection.share_ids))
        if self.of is not None:
            conditions += self._of_persons(self.of)
        if self.but is not None and self.but[1]:
            cells = numbers(self.connection, self.but[1])
            conditions.append(cell_of(facts.moment, self.but[0]).not_in(select(cells.c.value)))
        if self.only is not None:
            grain, begins = self.only
            cells = numbers(self.connection, begins)
            until = cells.c.value + literal(grain.microseconds, BigInteger)
            inside = and_(facts.moment >= cells.c.value, facts.moment < until, *conditions)
            # An outer join keeps its order on SQLite: one look into the index for each of the cells.
            source, conditions = cells.outerjoin(self.table, inside), [facts.id.is_not(None)]
        at = period_of(facts.moment, self.edges).label("at")
        return select(self.table, at).select_from(source).where(*conditions)

    def _of_persons(self, persons: Mapping[UUID, Sequence[int]]) -> list[ColumnElement[bool]]:
        """What an index can look up first; persons are numbered in their workspace."""
        facts = self.table.c
        everybody = sorted({number for some in persons.values() for number in some})
        found = [facts.workspace_id.in_(persons), self._is_one_of(everybody)]
        if len(persons) > 1:
            theirs = [
                and_(facts.workspace_id == home, self._is_one_of(some)) for home, some in persons.items()
            ]
            found.append(or_(*theirs))
        return found

    def _is_one_of(self, persons: Sequence[int]) -> ColumnElement[bool]:
        return self.table.c.person.in_(select(numbers(self.connection, persons).c.value))


def _sum(values: ColumnElement[Any]) -> ColumnElement[int]:
    return cast(func.sum(values), BigInteger)
