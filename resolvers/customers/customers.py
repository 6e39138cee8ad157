"""Operations on customers."""

from typing import Any
from uuid import UUID

from oauth.scopes import Scope
from resolvers.customers.anonymization import anonymize_customer
from resolvers.customers.answers import complete_address, identify
from resolvers.customers.conditions import of_customers
from resolvers.customers.portal_access import end_customer_sessions, follow_address
from resolvers.customers.shapes import CUSTOMER, CUSTOMER_WITHOUT_MEMBERS, MEMBER
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.filters import any_of, changed_in, metadata_pairs
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import check_workspaces, get_for_update, workspace_for
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.rows.searching import searching
from resolvers.operations.shapes.shaped import shaped
from schema.customers.customers import (
    Anonymize,
    Customer,
    CustomerCreate,
    CustomerQuery,
    CustomerSorting,
    CustomerUpdate,
    OwnerInput,
)
from schema.customers.members import ExternalId
from schema.errors import Invalid, problem
from schema.kit.pages import Page
from schema.values.scalars import Id
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.emails import fold_email
from storage.engine.connections import Connection
from storage.enums import CustomerType, EventSource, MemberRole
from storage.persons.persons import claim_external_id, release_external_id
from storage.rows.late_rows import insert_row_at_end
from storage.rows.rows import Values, insert_row, mark_deleted, table_of, update_row
from storage.tables.customers.customers import CustomerRow, MemberRow
from storage.tables.events.events import EventRow

_table = table_of(CustomerRow)


LISTING = Listing(
    CustomerRow,
    CustomerSorting,
    default="-created_at",
    columns={
        "modified_at": _table.c.changed_at,
        "email": _table.c.email_folded,
        "name": _table.c.name_folded,
    },
    query=CustomerQuery,
    filters={
        **changed_in(_table.c.changed_at),
        "id": any_of(_table.c.id),
        "workspace_id": any_of(_table.c.workspace_id),
        "email": any_of(_table.c.email_folded, fold_email),
        "metadata": metadata_pairs(_table.c.metadata),
        "query": searching(
            {
                _table.c.email_folded: [fold_email, str.casefold],
                _table.c.name_folded: [str.casefold],
            },
            start=_table.c.external_id,
        ),
    },
)


@requires(Scope.CUSTOMERS_READ)
async def list_customers(ctx: Context, filters: CustomerQuery) -> Page[Customer]:
    """Lists customers, newest first unless sorted otherwise. REST leaves out their `members`."""
    await check_workspaces(ctx, filters.workspace_id)
    shape = CUSTOMER if ctx.selects_one("data.members", "data.etag") else CUSTOMER_WITHOUT_MEMBERS
    return await read_page(ctx, LISTING, shape, filters)


@requires(Scope.CUSTOMERS_READ)
async def get_customer(ctx: Context, id: Id | None = None, external_id: ExternalId | None = None) -> Customer:
    """Returns a customer with its members, by its id or by its external id."""
    return await read_one(ctx, CustomerRow, CUSTOMER, **await identify(ctx, id, external_id))


@requires(
    Scope.CUSTOMERS_WRITE, gives=get_customer, causes=(ChangeKind.CUSTOMER_CREATED, ChangeKind.MEMBER_CREATED)
)
async def create_customer(ctx: Context, data: CustomerCreate) -> Customer:
    """Creates a customer with its owner as the first member, and records the event `customer.created`."""
    workspace_id = await workspace_for(ctx, data.workspace_id)
    values = data.model_dump(exclude={"owner", "workspace_id"})
    values["type"] = values["type"] or CustomerType.INDIVIDUAL
    values["billing_address"] = complete_address(values["billing_address"])
    row = await insert_row(ctx.connection, CustomerRow, workspace_id=workspace_id, **values)
    if row.external_id is not None:
        await claim_external_id(ctx.connection, ctx.services.database, row)
    owner = insert_row_at_end(ctx.connection, MemberRow, **_owner_of(row, data.owner or OwnerInput()))
    _record_event(
        ctx.connection,
        row,
        "customer.created",
        customer_id=str(row.id),
        customer_email=row.email,
        customer_name=row.name,
        customer_external_id=row.external_id,
    )
    return shaped(ctx.services, CUSTOMER, row, members=[shaped(ctx.services, MEMBER, owner)])


@requires(
    Scope.CUSTOMERS_WRITE, gives=get_customer, causes=(ChangeKind.CUSTOMER_UPDATED, ChangeKind.MEMBER_UPDATED)
)
async def update_customer(
    ctx: Context, id: Id | None = None, external_id: ExternalId | None = None, *, data: CustomerUpdate
) -> Customer:
    """Updates the fields that were sent of a customer, found by its id or by its external id.

    An external id that is set cannot change, and a team cannot become an individual. A new email is
    unverified; it replaces the owner's too if both were the same. Portal codes sent to the old email, and
    portal sessions opened with it, end.
    """
    row = await get_for_update(ctx, CustomerRow, **await identify(ctx, id, external_id))
    changes = data.changes()
    _check_changes(row, changes)
    if "billing_address" in changes:
        changes["billing_address"] = complete_address(changes["billing_address"])
    # Another spelling is the same mailbox, as it is for the unique rule.
    if "email" in changes and fold_email(changes["email"]) != row.email_folded:
        changes["email_verified"] = False
    changed = await update_row(ctx.connection, CustomerRow, row, **changes)
    await follow_address(ctx, row, changed)
    if changed.external_id != row.external_id:
        await claim_external_id(ctx.connection, ctx.services.database, changed)
    return await read_one(ctx, CustomerRow, CUSTOMER, id=changed.id)


@requires(
    Scope.CUSTOMERS_WRITE,
    removes=get_customer,
    audits=True,
    causes=(ChangeKind.CUSTOMER_DELETED, ChangeKind.MEMBER_DELETED),
)
async def delete_customer(ctx: Context, id: UUID, anonymize: Anonymize = False) -> UUID:
    """Deletes a customer and its members and ends its sessions.

    Events still show the customer, with `deleted_at`. `anonymize` overwrites personal data there: names,
    emails, the billing address, the customer's metadata, and values in its events' metadata that repeat
    them. External ids stay.
    """
    row = await get_for_update(ctx, CustomerRow, id=id)
    deleted_at = now()
    await update_row(ctx.connection, CustomerRow, row, deleted_at=deleted_at)
    await release_external_id(ctx.connection, row)
    await mark_deleted(ctx.connection, MemberRow, of_customers([(row.workspace_id, id)]), deleted_at)
    await end_customer_sessions(ctx.connection, row)
    if anonymize:
        await anonymize_customer(ctx.connection, row)
    return id


def _owner_of(customer: CustomerRow, owner: OwnerInput) -> Values:
    return {
        "workspace_id": customer.workspace_id,
        "customer_id": customer.id,
        "email": customer.email if owner.email is None else owner.email,
        "name": customer.name if owner.name is None else owner.name,
        "external_id": owner.external_id,
        "role": MemberRole.OWNER,
    }


def _check_changes(row: CustomerRow, changes: dict[str, Any]) -> None:
    problems = []
    external_id = changes.get("external_id")
    if "external_id" in changes and row.external_id not in (None, external_id):
        message = "The external id is set and cannot change"
        problems.append(problem(("data", "external_id"), message, "fixed", input=external_id))
    if changes.get("type") == CustomerType.INDIVIDUAL and row.type == CustomerType.TEAM:
        message = "A team cannot become an individual"
        problems.append(problem(("data", "type"), message, "downgrade", input=str(changes["type"])))
    if problems:
        raise Invalid(problems)


def _record_event(connection: Connection, customer: CustomerRow, name: str, **metadata: str | None) -> None:
    """Record an event of the service about a customer, in the transaction of the change."""
    insert_row_at_end(
        connection,
        EventRow,
        workspace_id=customer.workspace_id,
        source=EventSource.SYSTEM,
        name=name,
        customer_id=customer.id,
        external_customer_id=customer.external_id,
        metadata=metadata,
    )
