"""Operations on a customer's own members: every session reads them, the owner of a team changes them."""

from dataclasses import replace
from uuid import UUID

from oauth.scopes import Scope
from resolvers.customers import members
from resolvers.customers.opening import default_member
from resolvers.customers.shapes import MEMBER
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lookups import get_for_update
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.portal.sessions import CUSTOMERS
from schema.customers.members import Member, MemberCreate
from schema.errors import NotPermitted
from schema.kit.pages import Page
from schema.portal.portal import PortalMemberCreate, PortalMemberQuery, PortalMemberUpdate
from storage.changes.kinds import ChangeKind
from storage.enums import CustomerType
from storage.tables.customers.customers import CustomerRow, MemberRow


@requires(Scope.CUSTOMER_PORTAL_READ, kinds=CUSTOMERS)
async def list_portal_members(ctx: Context, filters: PortalMemberQuery) -> Page[Member]:
    """Lists the customer's own members, oldest first unless sorted otherwise."""
    return await read_page(ctx, members.LISTING, MEMBER, filters)


@requires(Scope.CUSTOMER_PORTAL_READ, kinds=CUSTOMERS)
async def get_portal_member(ctx: Context, id: UUID) -> Member:
    """Returns one of the customer's own members."""
    return await read_one(ctx, MemberRow, MEMBER, id=id)


@requires(
    Scope.CUSTOMER_PORTAL_WRITE,
    kinds=CUSTOMERS,
    gives=get_portal_member,
    causes=(ChangeKind.MEMBER_CREATED, ChangeKind.MEMBER_UPDATED),
)
async def create_portal_member(ctx: Context, data: PortalMemberCreate) -> Member:
    """Adds a member to a team of at most 1,000; only its owner can. A new owner replaces the previous one."""
    customer = await _lock_as_owner(ctx)
    member = MemberCreate(customer_id=customer.id, **data.model_dump())
    return await members.add_member(ctx, member, email_unconfirmed=True)


@requires(
    Scope.CUSTOMER_PORTAL_WRITE, kinds=CUSTOMERS, gives=get_portal_member, causes=(ChangeKind.MEMBER_UPDATED,)
)
async def update_portal_member(ctx: Context, id: UUID, data: PortalMemberUpdate) -> Member:
    """Updates the fields of a member that were sent; only the team's owner can.

    The owner's role changes only when another member becomes the owner.
    """
    await _lock_as_owner(ctx)
    return await members.change_member(ctx, id, data.changes())


@requires(
    Scope.CUSTOMER_PORTAL_WRITE,
    kinds=CUSTOMERS,
    removes=get_portal_member,
    causes=(ChangeKind.MEMBER_DELETED,),
)
async def delete_portal_member(ctx: Context, id: UUID) -> UUID:
    """Removes a member from the team and ends the member's sessions; only the team's owner can."""
    await _lock_as_owner(ctx)
    return await members.delete_member(ctx, id)


async def _lock_as_owner(ctx: Context) -> CustomerRow:
    """Lock the customer, so that its owner does not change. Raises `NotPermitted` for other members."""
    # `If-Match` is about the member, not about its customer.
    unconditional = replace(ctx, precondition=None)
    customer = await get_for_update(unconditional, CustomerRow, id=ctx.principal.customer_id)
    if customer.type != CustomerType.TEAM:
        raise NotPermitted("Only a team has members to add, change or remove.")
    owner = await default_member(ctx.connection, customer)
    # A session without a member is the customer's own.
    if ctx.principal.member_id not in (None, owner):
        raise NotPermitted("Only the owner of the team can do this.")
    return customer
