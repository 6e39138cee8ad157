"""Operations on members of customers. Every change locks the customer first."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from oauth.scopes import Scope
from resolvers.customers.conditions import of_customers
from resolvers.customers.portal_access import end_customer_sessions, end_entries
from resolvers.customers.shapes import MEMBER
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.filters import any_of, changed_in
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import get_for_update, get_visible, has_as_many
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.shapes.shaped import shaped
from schema.customers.members import MOST_MEMBERS, Member, MemberCreate, MemberQuery, MemberUpdate
from schema.errors import Invalid, NotFound, problem
from schema.kit.pages import Page
from schema.kit.sorting import ResourceSorting
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.emails import fold_email
from storage.enums import CustomerType, MemberRole
from storage.rows.rows import insert_row, table_of, update_row, update_rows
from storage.tables.customers.customers import CustomerRow, MemberRow

_table = table_of(MemberRow)
LISTING = Listing(
    MemberRow,
    ResourceSorting,
    default="created_at",
    columns={"modified_at": _table.c.changed_at},
    query=MemberQuery,
    filters={
        "customer_id": any_of(_table.c.customer_id),
        **changed_in(_table.c.changed_at),
    },
)


@requires(Scope.MEMBERS_READ)
async def list_members(ctx: Context, filters: MemberQuery) -> Page[Member]:
    """Lists members of customers, oldest first unless sorted otherwise."""
    return await read_page(ctx, LISTING, MEMBER, filters)


@requires(Scope.MEMBERS_READ)
async def get_member(ctx: Context, id: UUID) -> Member:
    """Returns a member of a customer."""
    return await read_one(ctx, MemberRow, MEMBER, id=id)


@requires(
    Scope.MEMBERS_WRITE, gives=get_member, causes=(ChangeKind.MEMBER_CREATED, ChangeKind.MEMBER_UPDATED)
)
async def create_member(ctx: Context, data: MemberCreate) -> Member:
    """Adds a member to a team customer, which has at most 1,000. A new owner replaces the previous one."""
    return await add_member(ctx, data)


async def add_member(ctx: Context, data: MemberCreate, *, email_unconfirmed: bool = False) -> Member:
    try:
        customer = await get_for_update(ctx, CustomerRow, id=data.customer_id)
    except NotFound:
        message = "There is no such customer"
        raise _refusal("customer_id", message, "not_found", str(data.customer_id)) from None
    if customer.type != CustomerType.TEAM:
        message = "Only a team customer has more than one member"
        raise _refusal("customer_id", message, "individual", str(data.customer_id))
    own: Any = of_customers([(customer.workspace_id, customer.id)]) & _table.c.deleted_at.is_(None)
    if await has_as_many(ctx, own, _table.c.id, MOST_MEMBERS):
        message = f"A customer has at most {MOST_MEMBERS:,} members: remove one first"
        raise _refusal("customer_id", message, "too_many", str(data.customer_id))
    if data.role == MemberRole.OWNER:
        await _demote_owner(ctx, customer)
    values = data.model_dump() | {"email_unconfirmed": email_unconfirmed}
    row = await insert_row(ctx.connection, MemberRow, workspace_id=customer.workspace_id, **values)
    return shaped(ctx.services, MEMBER, row)


@requires(Scope.MEMBERS_WRITE, gives=get_member, causes=(ChangeKind.MEMBER_UPDATED,))
async def update_member(ctx: Context, id: UUID, data: MemberUpdate) -> Member:
    """Updates the fields that were sent. A new owner replaces the previous one.

    The owner's role changes only when another member becomes the owner. Portal codes sent to an old email,
    and portal sessions opened with it, end; a new email has to be confirmed by a portal code.
    """
    return await change_member(ctx, id, data.changes())


async def change_member(ctx: Context, id: UUID, changes: dict[str, Any]) -> Member:
    customer = await _lock_customer(ctx, id)
    row = await get_for_update(ctx, MemberRow, id=id)
    role = changes.get("role", row.role)
    if row.role == MemberRole.OWNER and role != MemberRole.OWNER:
        message = "A customer has an owner: make another member the owner instead"
        raise _refusal("role", message, "owner", str(role))
    if role == MemberRole.OWNER and row.role != MemberRole.OWNER:
        await _demote_owner(ctx, customer)
    has_new_email = "email" in changes and fold_email(changes["email"]) != row.email_folded
    if has_new_email:
        changes = changes | {"email_unconfirmed": True}
        await end_entries(ctx, row.workspace_id, row.email, member_id=id)
    changed = await update_row(ctx.connection, MemberRow, row, **changes)
    return shaped(ctx.services, MEMBER, changed)


@requires(Scope.MEMBERS_WRITE, removes=get_member, causes=(ChangeKind.MEMBER_DELETED,))
async def delete_member(ctx: Context, id: UUID) -> UUID:
    """Removes a member from its customer and ends its sessions. The owner cannot be removed."""
    customer = await _lock_customer(ctx, id)
    row = await get_for_update(ctx, MemberRow, id=id)
    if row.role == MemberRole.OWNER:
        message = "A customer has an owner: make another member the owner first"
        raise Invalid([problem(("id",), message, "owner", input=str(id))])
    await update_row(ctx.connection, MemberRow, row, deleted_at=now())
    await end_customer_sessions(ctx.connection, customer, id)
    return id


async def _lock_customer(ctx: Context, member_id: UUID) -> CustomerRow:
    """Lock the member's customer, so that its members change one at a time."""
    member = await get_visible(ctx, MemberRow, id=member_id)
    # `If-Match` is about the member, not about its customer.
    unconditional = replace(ctx, precondition=None)
    try:
        return await get_for_update(unconditional, CustomerRow, id=member.customer_id)
    except NotFound:
        raise NotFound("There is no such member.") from None


async def _demote_owner(ctx: Context, customer: CustomerRow) -> None:
    owner: Any = of_customers([(customer.workspace_id, customer.id)])
    owner &= _table.c.deleted_at.is_(None) & (_table.c.role == MemberRole.OWNER)
    await update_rows(ctx.connection, MemberRow, owner, role=MemberRole.BILLING_MANAGER)


def _refusal(field: str, message: str, type: str, input: str) -> Invalid:
    return Invalid([problem(("data", field), message, type, input=input)])
