"""Groups by the name of events: costs and active persons, from the events, because facts have no names."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import BigInteger, BindParameter, Select, Uuid, bindparam, case, cast, func, null, select

from storage.dialects.microseconds import microseconds_of
from storage.dialects.number_lists import as_numbers, gathered, numbers_named, read_numbers
from storage.engine.connections import Connection
from storage.enums import EventSource, FactKind
from storage.metrics.cells.bitmaps import DistinctPersons, PersonCounts, PersonsInPeriod, replace_absorbed
from storage.metrics.cells.merges import merges_of
from storage.metrics.cells.period_sql import period_of
from storage.metrics.facts import moment_of
from storage.metrics.grouping.groups import REST, AnyKey, Groups, Key
from storage.metrics.reading.customer_persons import persons_of_customers
from storage.metrics.reading.fact_statements import PersonsOf
from storage.metrics.reading.period_sums import PeriodSums, SumOfFacts
from storage.metrics.reading.reader import Question, Selection, Sums
from storage.metrics.sums import halves, whole_sums
from storage.rows.rows import table_of
from storage.tables.events.events import EventRow

_events = table_of(EventRow)
_COST = ("amount", "parts")
_NAMES: BindParameter[str] = bindparam("names", expanding=True)


@dataclass(frozen=True)
class _Query:
    """The events that a statement reads."""

    dialect: str
    edges: tuple[int, ...]
    of_names: bool
    of_shares: bool
    of_persons: bool


@dataclass
class EventNameGroups(Groups):
    """A group for each name; everything but events has no name. `connection` is in a snapshot."""

    connection: Connection
    selection: Selection
    _persons: PersonsOf | None = field(default=None, init=False, repr=False)

    async def sums(self, question: Question, keys: Collection[Key] | None = None) -> Mapping[Key, Sums]:
        sums, currency = PeriodSums(question), question.currency
        if any(fact_sum.kind is FactKind.COST for fact_sum in question.fact_sums):
            for workspace_id in self.selection.workspace_ids:
                rows = await self._rows(_costs, workspace_id, question.edges, keys, currency=currency)
                costs = (
                    (name, SumOfFacts(at, FactKind.COST, currency, whole_sums(_COST, parts)))
                    for name, at, *parts in rows
                )
                sums.add_facts(costs, currency)
        return {name: own for name, own in sums.by_key.items() if name is not None}

    async def persons(
        self, edges: Sequence[int], total: PersonCounts, keys: Collection[Key | None] | None = None
    ) -> Mapping[AnyKey, PersonCounts]:
        named = None if keys is None else [key for key in keys if key is not None]
        distinct: defaultdict[AnyKey, DistinctPersons] = defaultdict(lambda: DistinctPersons(edges))
        for workspace_id in self.selection.workspace_ids:
            rows = [
                (name, PersonsInPeriod(at, workspace_id, BitMap(read_numbers(numbers))))
                for name, at, numbers in await self._rows(_persons, workspace_id, edges, named)
            ]
            everyone = BitMap.union(BitMap(), *(persons for _, (*_, persons) in rows))
            merges = await merges_of(self.connection, workspace_id, everyone) if everyone else {}
            for name, found in rows:
                replace_absorbed(found.persons, merges.items())
                distinct[REST if name is None else name].add([found])
        return {name: persons.count() for name, persons in distinct.items()}

    async def _rows(
        self,
        statement_of: Any,
        workspace_id: UUID,
        edges: Sequence[int],
        names: Collection[Key] | None,
        **values: Any,
    ) -> Sequence[Any]:
        if self._persons is None and self.selection.customer_ids is not None:
            self._persons = await persons_of_customers(self.connection, self.selection)
        dialect, selection = self.connection.dialect.name, self.selection
        query = _Query(
            dialect,
            tuple(edges),
            names is not None,
            selection.share_ids is not None,
            self._persons is not None,
        )
        values |= {"workspace_id": workspace_id, "since": moment_of(edges[0]), "until": moment_of(edges[-1])}
        if names is not None:
            values["names"] = list(names)
        if selection.share_ids is not None:
            values["share_ids"] = list(selection.share_ids)
        if self._persons is not None:
            values["persons"] = as_numbers(dialect, self._persons.get(workspace_id, []))
        return (await self.connection.execute(statement_of(query), values)).all()


@lru_cache(maxsize=32)
def _costs(query: _Query) -> Select[Any]:
    """Rows of a name, a moment in a period, and the sums of the halves of costs in `currency`."""
    events = _events.c
    name, at = _keys(query)
    columns = (events.cost_amount.label("amount"), events.cost_parts.label("parts"))
    rows = _selected(query, [name.label("name"), at.label("at"), *columns]).where(
        events.cost_currency == bindparam("currency")
    )
    if query.of_names:
        rows = rows.where(events.name.in_(_NAMES))
    costs = rows.subquery().c
    sums = [cast(func.sum(half), BigInteger) for column in _COST for half in halves(costs[column])]
    return select(costs.name, costs.at, *sums).group_by(costs.name, costs.at)


@lru_cache(maxsize=32)
def _persons(query: _Query) -> Select[Any]:
    """Rows of a name, or null for those not among `names`, a moment in a period, and persons, gathered."""
    name, at = _keys(query)
    rows = _selected(query, [name.label("name"), at.label("at"), _events.c.person])
    found = rows.where(_events.c.person.is_not(None)).subquery().c
    return select(found.name, found.at, gathered(query.dialect, found.person)).group_by(found.name, found.at)


def _keys(query: _Query) -> tuple[Any, Any]:
    name: Any = _events.c.name
    if query.of_names:
        name = case((name.in_(_NAMES), name), else_=null())
    return name, period_of(microseconds_of(_events.c.timestamp), query.edges)


def _selected(query: _Query, columns: Sequence[Any]) -> Select[Any]:
    events = _events.c
    rows = select(*columns).where(
        events.workspace_id == bindparam("workspace_id", type_=Uuid()),
        events.source == EventSource.USER.value,
        events.timestamp >= bindparam("since"),
        events.timestamp < bindparam("until"),
    )
    if query.of_shares:
        rows = rows.where(events.share_id.in_(bindparam("share_ids", expanding=True)))
    if query.of_persons:
        numbers = numbers_named(query.dialect, "persons")
        rows = rows.where(events.person.in_(select(numbers.c.value)))
    return rows
