"""Persons: the numbers under which a workspace's activity is measured, and the ids they belong to.

A number belongs to a customer, to an external id, or to both. A customer with an external id shares the
number of that id, for which `external_persons` always has a row. Assigning an id to a customer and reporting
activity under it therefore lock the same row, and the later transaction sees what the earlier one did.

Locks are taken in one order, customers by id and then external ids, so that transactions never deadlock. What
reports take are shared locks and rows of their own, in the order of the ids.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import and_, bindparam, delete, insert, select, update

from storage.dialects.matching import among
from storage.dialects.upsert import upsert
from storage.engine.before_commit import note_deltas, note_measured
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from storage.persons.claims import claim_rows
from storage.persons.named_customers import lock_customers
from storage.persons.numbers import new_persons
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.metrics.metric_cells import PersonMergeDeltaRow
from storage.tables.metrics.metrics import ExternalPersonRow, PersonMergeRow

_customers, _merges = table_of(CustomerRow), table_of(PersonMergeRow)
_externals, _merge_deltas = table_of(ExternalPersonRow), table_of(PersonMergeDeltaRow)
_KEY = (_externals.c.workspace_id, _externals.c.external_id)
_HOME = bindparam("home", type_=_externals.c.workspace_id.type)


class _Holder(NamedTuple):
    """The person of an external id, and the customer who has it."""

    person: int
    customer_id: UUID | None


_HOLDER = (_externals.c.external_id, _externals.c.person, _externals.c.customer_id)
_HELD = Kept(
    select(*_HOLDER)
    .where(_externals.c.workspace_id == _HOME, among(_externals.c.external_id, "external_ids"))
    .order_by(_externals.c.external_id)
    .with_for_update(read=True)
)


class PersonReference(NamedTuple):
    """How a caller refers to a person: by one of the ids, by both, or not at all."""

    customer_id: UUID | None = None
    external_customer_id: str | None = None


_NOBODY = PersonReference()


@dataclass(frozen=True)
class ResolvedPerson:
    """The person of a reference, with both ids as far as they are known.

    `conflict`: the two ids belong to different persons. `unknown_customer`: the workspace has no such
    customer, or it is deleted. In both cases, and for an empty reference, `person` is None.
    """

    person: int | None
    customer_id: UUID | None
    external_customer_id: str | None
    conflict: bool = False
    unknown_customer: bool = False

    @property
    def is_refused(self) -> bool:
        return self.conflict or self.unknown_customer


NO_PERSON = ResolvedPerson(None, None, None)


async def persons_of(
    connection: Connection,
    database: Database,
    workspace_id: UUID,
    references: Sequence[PersonReference],
) -> list[ResolvedPerson]:
    """The persons of these references, in their order; customers and ids without a number get a new one.

    `connection` is in a `write` of `database`; other transactions cannot change the referenced customers
    until it ends. A customer and an external id are one person only if the customer has this id: an id
    without a customer is a person of its own. The number of statements does not depend on the number of
    references.
    """
    not_empty = [reference for reference in references if reference != _NOBODY]
    if not not_empty:
        return [NO_PERSON] * len(references)
    ids, external_ids = (set(each) - {None} for each in zip(*not_empty, strict=True))
    customers = await lock_customers(connection, workspace_id, ids, external_ids)
    by_id = {row.id: row for row in customers}
    by_external_id = {row.external_id: row for row in customers if row.external_id is not None}
    resolved = [_resolve(reference, by_id, by_external_id) for reference in references]

    accepted = [person for person in resolved if not person.is_refused]
    numbers = {
        person.customer_id: by_id[person.customer_id].person for person in accepted if person.customer_id
    }
    of_customers = {id: number for id, number in numbers.items() if number is not None}
    without = [id for id, number in numbers.items() if number is None]
    of_customers |= await _number_customers(connection, database, workspace_id, without)
    external_ids = {
        person.external_customer_id
        for person in accepted
        if not person.customer_id and person.external_customer_id
    }
    of_external_ids = await _external_persons(connection, database, workspace_id, external_ids)
    return [
        person if person.is_refused else _with_number(person, of_customers, of_external_ids)
        for person in resolved
    ]


async def claim_external_id(connection: Connection, database: Database, customer: CustomerRow) -> None:
    """Make a customer and its new external id one person, and what was reported under the id the customer's.

    `customer` is the locked row, in which the id is already written. A customer without a number adopts that
    of the id; otherwise the id's person, if there is one, is merged into the customer's.
    """
    workspace_id, own = customer.workspace_id, customer.person
    offered = own
    if offered is None:
        (offered,) = await new_persons(connection, database, workspace_id, 1)
    held = await _claim(connection, customer, offered)
    if held != offered and not await claim_rows(connection, customer, held):
        await connection.execute(update(_externals).where(_is_external(customer)).values(unclaimed=held))
    if own is None:
        same = and_(_customers.c.workspace_id == workspace_id, _customers.c.id == customer.id)
        await connection.execute(update(_customers).where(same).values(person=held))
    elif held != own:
        await _merge(connection, customer, absorbed=held, into=own)


async def release_external_id(connection: Connection, customer: CustomerRow) -> None:
    """Separate a deleted customer from its external id, which becomes a new person when it is used again."""
    if customer.external_id is None:
        return
    await connection.execute(delete(_externals).where(_is_external(customer)))


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


def _with_number(
    person: ResolvedPerson, of_customers: Mapping[UUID, int], of_external_ids: Mapping[str, _Holder]
) -> ResolvedPerson:
    if person.customer_id is not None:
        return replace(person, person=of_customers[person.customer_id])
    if person.external_customer_id is not None:
        holder = of_external_ids[person.external_customer_id]
        return replace(person, person=holder.person, customer_id=holder.customer_id)
    return person


async def _number_customers(
    connection: Connection, database: Database, workspace_id: UUID, ids: Iterable[UUID]
) -> dict[UUID, int]:
    """The numbers of these customers, which had none when they were read."""
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
    same = and_(_customers.c.workspace_id == workspace_id, _customers.c.id == bindparam("customer_id"))
    change = update(_customers).where(same).values(person=bindparam("number"))
    await connection.execute(change, [{"customer_id": id, "number": new[id]} for id in without])
    return persons | new


async def _external_persons(
    connection: Connection, database: Database, workspace_id: UUID, external_ids: Iterable[str]
) -> dict[str, _Holder]:
    """The persons of external ids that belonged to no customer when customers were read.

    No customer can take one of them until the transaction ends; one that has taken it meanwhile is found.
    """
    ordered = sorted(external_ids)
    holders = await _holders(connection, workspace_id, ordered)
    while without := [external_id for external_id in ordered if external_id not in holders]:
        numbers = await new_persons(connection, database, workspace_id, len(without))
        holders |= await _number(connection, workspace_id, dict(zip(without, numbers, strict=True)))
        # Others have got theirs from transactions that have ended meanwhile.
        rest = [external_id for external_id in without if external_id not in holders]
        holders |= await _holders(connection, workspace_id, rest)
    return holders


async def _holders(
    connection: Connection, workspace_id: UUID, external_ids: Sequence[str]
) -> dict[str, _Holder]:
    """The holders of these external ids that have one; no customer can take their ids from them."""
    if not external_ids:
        return {}
    rows = await connection.rows(_HELD, {"home": workspace_id, "external_ids": external_ids})
    return {id: _Holder(*holder) for id, *holder in rows}


async def _number(
    connection: Connection, workspace_id: UUID, offered: Mapping[str, int]
) -> dict[str, _Holder]:
    """Give the offered numbers to those external ids, in their order, that have none.

    Returns those that took one. What another transaction has numbered is not locked: it may hold a lock on
    it that this one would wait for, and wait for a row of this one.
    """
    rows = [
        {"workspace_id": workspace_id, "external_id": external_id, "person": person}
        for external_id, person in offered.items()
    ]
    statement = upsert(connection.dialect.name, _externals).on_conflict_do_nothing(index_elements=_KEY)
    return {
        id: _Holder(*holder) for id, *holder in await connection.execute(statement.returning(*_HOLDER), rows)
    }


async def _claim(connection: Connection, customer: CustomerRow, offered: int) -> int:
    """Write the customer beside its external id, with the offered number if the id has none."""
    row = {"workspace_id": customer.workspace_id, "external_id": customer.external_id, "person": offered}
    statement = (
        upsert(connection.dialect.name, _externals)
        .values({**row, "customer_id": customer.id})
        .on_conflict_do_update(index_elements=_KEY, set_={"customer_id": customer.id})
        .returning(_externals.c.person)
    )
    return int((await connection.execute(statement)).scalar_one())


async def _merge(connection: Connection, customer: CustomerRow, *, absorbed: int, into: int) -> None:
    """Record that two numbers are one person; merges into `absorbed` now lead to `into` in one step."""
    workspace_id = customer.workspace_id
    earlier = and_(_merges.c.workspace_id == workspace_id, _merges.c.into == absorbed)
    await connection.execute(update(_merges).where(earlier).values(into=into))
    await connection.execute(insert(_merges).values(workspace_id=workspace_id, absorbed=absorbed, into=into))
    await connection.execute(insert(_merge_deltas).values(workspace_id=workspace_id, absorbed=absorbed))
    # Since when the two were counted apart is not known here.
    note_measured(connection, workspace_id, 0)
    note_deltas(connection, (workspace_id,))
    await connection.execute(update(_externals).where(_is_external(customer)).values(person=into))


def _is_external(customer: CustomerRow) -> Any:
    return and_(
        _externals.c.workspace_id == customer.workspace_id,
        _externals.c.external_id == customer.external_id,
    )
