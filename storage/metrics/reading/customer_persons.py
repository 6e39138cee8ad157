"""The numbers under which customers are measured."""

from collections import defaultdict
from typing import Any
from uuid import UUID

from sqlalchemy import BindParameter, CompoundSelect, and_, bindparam, func, select, union

from storage.engine.connections import Connection
from storage.metrics.reading.fact_statements import PersonsOf
from storage.metrics.reading.reader import Selection
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.metrics.metrics import PersonMergeRow

_merges, _customers = table_of(PersonMergeRow), table_of(CustomerRow)


def _persons() -> CompoundSelect[Any]:
    workspace_ids: BindParameter[UUID] = bindparam("workspace_ids", expanding=True)
    customers = and_(
        _customers.c.workspace_id.in_(workspace_ids),
        _customers.c.id.in_(bindparam("customer_ids", expanding=True)),
    )
    merged = and_(
        _merges.c.workspace_id == _customers.c.workspace_id, _merges.c.absorbed == _customers.c.person
    )
    person = func.coalesce(_merges.c.into, _customers.c.person).label("person")
    named = (
        select(_customers.c.workspace_id, person)
        .select_from(_customers.outerjoin(_merges, merged))
        .where(customers)
        .cte("named")
    )
    same = and_(_merges.c.workspace_id == named.c.workspace_id, _merges.c.into == named.c.person)
    absorbed = (
        select(_merges.c.workspace_id, _merges.c.absorbed)
        .select_from(_merges.join(named, same))
        # A cluster materializes `named`, and would look for what it joins on every node.
        .where(_merges.c.workspace_id.in_(workspace_ids))
    )
    return union(select(named.c.workspace_id, named.c.person), absorbed)


_PERSONS = _persons()


async def persons_of_customers(connection: Connection, selection: Selection) -> PersonsOf:
    """The numbers of the selected customers by workspace, including those merged into them.

    They are read in a statement of their own: a planner that sees numbers uses the index of facts by person.
    """
    values = {"workspace_ids": selection.workspace_ids, "customer_ids": selection.customer_ids}
    by_workspace = defaultdict(list)
    for workspace_id, number in await connection.execute(_PERSONS, values):
        if number is not None:  # a customer without facts has no number
            by_workspace[workspace_id].append(number)
    return by_workspace
