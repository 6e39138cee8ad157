"""The customers of workspaces, and the numbers of persons under which their facts are."""

from collections import defaultdict
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import and_, bindparam, func, select

from storage.engine.connections import Connection
from storage.metrics.reading.reader import Selection
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.metrics.metrics import PersonMergeRow

_merges, _customers = table_of(PersonMergeRow), table_of(CustomerRow)
_same = and_(_merges.c.workspace_id == _customers.c.workspace_id, _merges.c.absorbed == _customers.c.person)
_WORKSPACE_ID = bindparam("workspace_id", type_=_customers.c.workspace_id.type)
# Two customers of one person: the facts are those of the one that still exists.
_CUSTOMERS = (
    select(_customers.c.id, func.coalesce(_merges.c.into, _customers.c.person).label("person"))
    .select_from(_customers.outerjoin(_merges, _same))
    .where(_customers.c.workspace_id == _WORKSPACE_ID, _customers.c.person.is_not(None))
    .order_by(_customers.c.deleted_at.is_not(None), _customers.c.id)
)
_SOME_CUSTOMERS = _CUSTOMERS.where(_customers.c.id.in_(bindparam("customer_ids", expanding=True)))
_MERGES = select(_merges.c.absorbed, _merges.c.into).where(_merges.c.workspace_id == _WORKSPACE_ID)
_SOME_MERGES = _MERGES.where(_merges.c.into.in_(bindparam("persons", expanding=True)))


@dataclass
class CustomersOf:
    """The customers of a workspace by person, and each customer's persons."""

    by_person: dict[int, UUID] = field(default_factory=dict)
    persons: defaultdict[UUID, list[int]] = field(default_factory=lambda: defaultdict(list))


async def customers_of(connection: Connection, selection: Selection) -> dict[UUID, CustomersOf]:
    """By workspace; of the selected customers, if there are."""
    found, is_whole = {}, selection.customer_ids is None
    for workspace_id in selection.workspace_ids:
        own = {"workspace_id": workspace_id}
        customers, whole = CustomersOf(), dict[int, UUID]()
        some = {**own, "customer_ids": selection.customer_ids}
        for row in await connection.execute(
            _CUSTOMERS if is_whole else _SOME_CUSTOMERS, own if is_whole else some
        ):
            whole.setdefault(row.person, row.id)
        of_some = {**own, "persons": list(whole)}
        merges = await connection.execute(_MERGES if is_whole else _SOME_MERGES, own if is_whole else of_some)
        absorbed = [(merge.absorbed, merge.into) for merge in merges]
        for person, into in [*((person, person) for person in whole), *absorbed]:
            if into in whole and person not in customers.by_person:
                customers.by_person[person] = whole[into]
                customers.persons[whole[into]].append(person)
        found[workspace_id] = customers
    return found
