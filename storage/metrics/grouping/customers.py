"""Groups by customer, from the facts of the persons that customers are."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from storage.engine.connections import Connection
from storage.enums import FactKind
from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.grouping.customer_list import CustomersOf, customers_of
from storage.metrics.grouping.groups import REST, AnyKey, Groups, Key
from storage.metrics.reading.fact_source import FactSource
from storage.metrics.reading.period_sums import PeriodSums
from storage.metrics.reading.reader import GroupedBy, Question, Selection, Sums
from storage.metrics.sums import FactSum

_EVENTS = FactSum(FactKind.EVENT, "count")


@dataclass
class CustomerGroups(Groups):
    """A group for each customer; facts of nobody who is a customer have no key. In a snapshot."""

    connection: Connection
    selection: Selection
    _customers: dict[UUID, CustomersOf] | None = field(default=None, init=False, repr=False)

    async def sums(self, question: Question, keys: Collection[Key] | None = None) -> Mapping[Key, Sums]:
        sums = PeriodSums(question)
        by_person = replace(question, grouped_by=GroupedBy.PERSON)
        async for customers, facts in self._facts(keys):
            for person, own in (await facts.sums(by_person)).items():
                sums.add_sums({customers.by_person[person]: own})
        return sums.by_key

    async def persons(
        self, edges: Sequence[int], total: PersonCounts, keys: Collection[Key | None] | None = None
    ) -> Mapping[AnyKey, PersonCounts]:
        """A customer is one person: the persons of the rest are those that are left."""
        has_null = keys is None or None in keys
        active = await self._active(edges, None if has_null else keys)
        counted: dict[AnyKey, PersonCounts] = {
            key: PersonCounts([int(period in own) for period in range(len(edges) - 1)], 1)
            for key, own in active.items()
        }
        if has_null:
            counted[None] = _without(total, list(counted.values()))
        if keys is None:
            return counted
        chosen = {key: counts for key, counts in counted.items() if key in keys}
        return chosen | {REST: _without(total, chosen.values())}

    async def _active(self, edges: Sequence[int], keys: Collection[Key | None] | None) -> dict[Key, set[int]]:
        """The periods, from 0, in which each customer has an event."""
        active: defaultdict[Key, set[int]] = defaultdict(set)
        async for customers, facts in self._facts(keys):
            rows = await facts.rows(Question([_EVENTS], edges, grouped_by=GroupedBy.PERSON))
            for person, found in await rows.sums([_EVENTS]):
                active[customers.by_person[person]].add(bisect_right(edges, found.moment) - 1)
        return active

    async def _facts(
        self, keys: Collection[Key | None] | None
    ) -> AsyncIterator[tuple[CustomersOf, FactSource]]:
        """The facts of the customers, or of these, in each workspace that has any."""
        if self._customers is None:
            self._customers = await customers_of(self.connection, self.selection)
        for workspace_id, customers in self._customers.items():
            ids = customers.persons if keys is None else (id for id in customers.persons if id in keys)
            persons = [person for id in ids for person in customers.persons[id]]
            if persons:
                selection = replace(self.selection, workspace_ids=[workspace_id])
                yield customers, FactSource(self.connection, selection, {workspace_id: persons})


def _without(total: PersonCounts, parts: Collection[PersonCounts]) -> PersonCounts:
    periods = list(total.periods)
    for part in parts:
        periods = [whole - own for whole, own in zip(periods, part.periods, strict=True)]
    return PersonCounts(periods, total.total - sum(part.total for part in parts))
