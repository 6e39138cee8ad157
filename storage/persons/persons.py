"""Persons: the numbers under which a workspace's activity is measured, and who they are.

A number is pointed to by a customer, by an external id, or by both. A customer who has an external id
shares its number, and `external_persons` always has that id's row: taking an id and reporting under
it meet on the row, and whoever comes second follows.

Locks are taken in one order, so that units never wait in a circle: customers by id, then external ids.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import and_, delete, insert, or_, select, update
from sqlalchemy import bindparam as parameter
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.database import Database
from storage.dialects.upsert import upsert
from storage.persons.numbers import new_persons
from storage.rows import every_of, table_of
from storage.tables.customers import CustomerRow
from storage.tables.metric_cells import PersonMergeDeltaRow
from storage.tables.metrics import ExternalPersonRow, PersonMergeRow

_customers, _merges = table_of(CustomerRow), table_of(PersonMergeRow)
_externals, _merge_deltas = table_of(ExternalPersonRow), table_of(PersonMergeDeltaRow)


@dataclass(frozen=True)
class PersonReference:
    """How a caller names a person: by one of the ids, by both, or not at all."""

    customer_id: UUID | None = None
    external_customer_id: str | None = None


@dataclass(frozen=True)
class ResolvedPerson:
    """Who a reference names, with both ids as far as they are known.

    `conflict`: the two ids name two people. `unknown_customer`: the workspace has no such customer, or
    it is deleted. In both cases, and where nobody is named, `person` is None.
    """

    person: int | None
    customer_id: UUID | None
    external_customer_id: str | None
    conflict: bool = False
    unknown_customer: bool = False

    @property
    def is_refused(self) -> bool:
        return self.conflict or self.unknown_customer


async def persons_of(
    connection: AsyncConnection,
    database: Database,
    workspace_id: UUID,
    references: Sequence[PersonReference],
) -> list[ResolvedPerson]:
    """The persons of these references, in their order; a new one for whoever has none yet.

    `connection` is a writing unit of `database`; the customers that are named cannot be changed by
    others until it ends. A customer and an external id are one person only if the customer has that id:
    an id that nobody has yet is somebody of its own. The number of statements does not depend on the
    number of references.
    """
    named = [reference for reference in references if reference != PersonReference()]
    customers = await _named_customers(connection, workspace_id, named)
    by_id = {row.id: row for row in customers}
    by_external_id = {row.external_id: row for row in customers if row.external_id is not None}
    resolved = [_resolve(reference, by_id, by_external_id) for reference in references]

    accepted = [one for one in resolved if not one.is_refused]
    numbers = {one.customer_id: by_id[one.customer_id].person for one in accepted if one.customer_id}
    of_customers = {id: person for id, person in numbers.items() if person is not None}
    without = [id for id, person in numbers.items() if person is None]
    of_customers |= await _number_customers(connection, database, workspace_id, without)
    free = {one.external_customer_id for one in accepted if not one.customer_id and one.external_customer_id}
    of_others = await _external_persons(connection, database, workspace_id, free)
    return [one if one.is_refused else _with_person(one, of_customers, of_others) for one in resolved]


async def claim_external_id(connection: AsyncConnection, database: Database, customer: CustomerRow) -> None:
    """Make a customer and the external id that it has just taken one person.

    `customer` is its row, locked and with the id written. It takes over the id's person if it has none
    of its own; else the id's person, if it has one, is merged into the customer's.
    """
    workspace_id, own, external_id = customer.workspace_id, customer.person, customer.external_id
    if external_id is None:
        return
    offered = own
    if offered is None:
        (offered,) = await new_persons(connection, database, workspace_id, 1)
    held = (await _point(connection, workspace_id, {external_id: offered}))[external_id]
    if own is None:
        same = and_(_customers.c.workspace_id == workspace_id, _customers.c.id == customer.id)
        await connection.execute(update(_customers).where(same).values(person=held))
    elif held != own:
        await _merge(connection, customer, absorbed=held, into=own)


async def release_external_id(connection: AsyncConnection, customer: CustomerRow) -> None:
    """Let the external id of a customer that is being deleted start a new person when it is used again."""
    if customer.external_id is None:
        return
    await connection.execute(delete(_externals).where(_is_external(customer)))


async def _named_customers(
    connection: AsyncConnection, workspace_id: UUID, references: Sequence[PersonReference]
) -> list[CustomerRow]:
    """The customers that the references name, kept from being changed or deleted until the unit ends."""
    if not references:
        return []
    ids = {one.customer_id for one in references} - {None}
    external_ids = {one.external_customer_id for one in references} - {None}
    named = (
        select(_customers)
        .where(
            _customers.c.workspace_id == workspace_id,
            _customers.c.deleted_at.is_(None),
            or_(_customers.c.id.in_(ids), _customers.c.external_id.in_(external_ids)),
        )
        .order_by(_customers.c.id)
        .with_for_update(read=True, key_share=True)
    )
    return await every_of(connection, CustomerRow, named)


def _resolve(
    reference: PersonReference, by_id: Mapping[UUID, CustomerRow], by_external_id: Mapping[str, CustomerRow]
) -> ResolvedPerson:
    id, external_id = reference.customer_id, reference.external_customer_id
    if id is None:
        holder = None if external_id is None else by_external_id.get(external_id)
        return ResolvedPerson(None, holder.id if holder else None, external_id)
    customer = by_id.get(id)
    if customer is None:
        return ResolvedPerson(None, id, external_id, unknown_customer=True)
    if external_id not in (None, customer.external_id):
        return ResolvedPerson(None, id, external_id, conflict=True)
    return ResolvedPerson(None, id, customer.external_id)


def _with_person(
    one: ResolvedPerson, of_customers: Mapping[UUID, int], of_others: Mapping[str, int]
) -> ResolvedPerson:
    if one.customer_id is not None:
        return replace(one, person=of_customers[one.customer_id])
    if one.external_customer_id is not None:
        return replace(one, person=of_others[one.external_customer_id])
    return one


async def _number_customers(
    connection: AsyncConnection, database: Database, workspace_id: UUID, ids: Iterable[UUID]
) -> dict[UUID, int]:
    """The persons of these customers, who had none when they were last looked at."""
    ordered = sorted(ids)
    if not ordered:
        return {}
    locked = (
        select(_customers.c.id, _customers.c.person)
        .where(_customers.c.workspace_id == workspace_id, _customers.c.id.in_(ordered))
        .order_by(_customers.c.id)
        .with_for_update(key_share=True)
    )
    persons: dict[UUID, int] = {row.id: row.person for row in await connection.execute(locked)}
    without = [id for id in ordered if persons[id] is None]
    if not without:
        return persons
    numbers = await new_persons(connection, database, workspace_id, len(without))
    new = dict(zip(without, numbers, strict=True))
    same = and_(_customers.c.workspace_id == workspace_id, _customers.c.id == parameter("customer_id"))
    change = update(_customers).where(same).values(person=parameter("number"))
    await connection.execute(change, [{"customer_id": id, "number": new[id]} for id in without])
    return persons | new


async def _external_persons(
    connection: AsyncConnection, database: Database, workspace_id: UUID, external_ids: Iterable[str]
) -> dict[str, int]:
    """The persons of external ids that no customer has."""
    ordered = sorted(external_ids)
    if not ordered:
        return {}
    known = select(_externals.c.external_id, _externals.c.person).where(
        _externals.c.workspace_id == workspace_id, _externals.c.external_id.in_(ordered)
    )
    persons: dict[str, int] = {row.external_id: row.person for row in await connection.execute(known)}
    unknown = [external_id for external_id in ordered if external_id not in persons]
    if not unknown:
        return persons
    numbers = await new_persons(connection, database, workspace_id, len(unknown))
    return persons | await _point(connection, workspace_id, dict(zip(unknown, numbers, strict=True)))


async def _point(
    connection: AsyncConnection, workspace_id: UUID, offered: Mapping[str, int]
) -> dict[str, int]:
    """Whom the external ids point to: to the offered persons where nobody was faster.

    The rows are locked, in the order of `offered`.
    """
    statement = upsert(connection.dialect.name, _externals)
    # Changes nothing: it waits for the row's other writers, and gives what they have left.
    settled = statement.on_conflict_do_update(
        index_elements=[_externals.c.workspace_id, _externals.c.external_id],
        set_={"person": _externals.c.person},
    ).returning(_externals.c.external_id, _externals.c.person)
    rows = [
        {"workspace_id": workspace_id, "external_id": external_id, "person": person}
        for external_id, person in offered.items()
    ]
    return {row.external_id: row.person for row in await connection.execute(settled, rows)}


async def _merge(connection: AsyncConnection, customer: CustomerRow, *, absorbed: int, into: int) -> None:
    """Say that two numbers are one person; whatever led to the absorbed one leads on in one step."""
    workspace_id = customer.workspace_id
    earlier = and_(_merges.c.workspace_id == workspace_id, _merges.c.into == absorbed)
    await connection.execute(update(_merges).where(earlier).values(into=into))
    await connection.execute(insert(_merges).values(workspace_id=workspace_id, absorbed=absorbed, into=into))
    await connection.execute(insert(_merge_deltas).values(workspace_id=workspace_id, absorbed=absorbed))
    await connection.execute(update(_externals).where(_is_external(customer)).values(person=into))


def _is_external(customer: CustomerRow) -> Any:
    return and_(
        _externals.c.workspace_id == customer.workspace_id,
        _externals.c.external_id == customer.external_id,
    )
