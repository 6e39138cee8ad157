"""Operations of the customer portal; `operations/access.py` limits a customer to its own rows."""

from uuid import UUID

from oauth.scopes import Scope
from resolvers.customers.answers import complete_address
from resolvers.customers.shapes import PORTAL_CUSTOMER
from resolvers.file_shares import sessions as file_share_sessions
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lookups import get_for_update, get_visible
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.shapes.shaped import shaped
from resolvers.portal.sessions import CUSTOMERS
from resolvers.portal.shapes import PORTAL_SESSION
from resolvers.shares import shares
from resolvers.shares.shapes import PORTAL_SHARE
from schema.errors import NotPermitted
from schema.kit.pages import Page
from schema.portal.portal import (
    PortalCustomer,
    PortalCustomerUpdate,
    PortalFileShareSession,
    PortalFileShareSessionQuery,
    PortalShare,
    PortalShareQuery,
)
from storage.changes.kinds import ChangeKind
from storage.enums import CustomerType, MemberRole
from storage.rows.rows import table_of, update_row
from storage.tables.customers.customers import CustomerRow, MemberRow
from storage.tables.shares.file_share_sessions import FileShareSessionRow
from storage.tables.shares.shares import ShareRow

# The roles that may change a team's name and billing address.
PROFILE_ROLES = frozenset({MemberRole.OWNER, MemberRole.BILLING_MANAGER})

_shares = table_of(ShareRow)


@requires(Scope.CUSTOMER_PORTAL_READ, kinds=CUSTOMERS)
async def get_portal_customer(ctx: Context) -> PortalCustomer:
    """Returns the customer that the session belongs to."""
    return await read_one(ctx, CustomerRow, PORTAL_CUSTOMER, id=ctx.principal.customer_id)


@requires(
    Scope.CUSTOMER_PORTAL_WRITE,
    kinds=CUSTOMERS,
    gives=get_portal_customer,
    causes=(ChangeKind.CUSTOMER_UPDATED, ChangeKind.MEMBER_UPDATED),
)
async def update_portal_customer(ctx: Context, data: PortalCustomerUpdate) -> PortalCustomer:
    """Updates the customer's own name and billing address. In a team, only owner and billing managers can."""
    row = await get_for_update(ctx, CustomerRow, id=ctx.principal.customer_id)
    await _check_role(ctx, row)
    changes = data.changes()
    if "billing_address" in changes:
        changes["billing_address"] = complete_address(changes["billing_address"])
    changed = await update_row(ctx.connection, CustomerRow, row, **changes)
    return shaped(ctx.services, PORTAL_CUSTOMER, changed)


async def _check_role(ctx: Context, customer: CustomerRow) -> None:
    """Raises `NotPermitted` for the session of a plain member of a team."""
    if customer.type != CustomerType.TEAM or ctx.principal.member_id is None:
        return
    member = await get_visible(ctx, MemberRow, id=ctx.principal.member_id)
    if member.role not in PROFILE_ROLES:
        raise NotPermitted("Only the owner and the billing managers of the team can do this.")


@requires(Scope.CUSTOMER_PORTAL_READ, kinds=CUSTOMERS)
async def list_portal_shares(ctx: Context, filters: PortalShareQuery) -> Page[PortalShare]:
    """Lists the workspace's public shares that are not archived, newest first unless sorted otherwise."""
    return await read_page(ctx, shares.LISTING, PORTAL_SHARE, filters)


@requires(Scope.CUSTOMER_PORTAL_READ, kinds=CUSTOMERS)
async def get_portal_share(ctx: Context, id: UUID) -> PortalShare:
    """Returns a public share of the workspace that is not archived."""
    return await read_one(ctx, ShareRow, PORTAL_SHARE, id=id)


@requires(Scope.CUSTOMER_PORTAL_READ, kinds=CUSTOMERS)
async def list_portal_file_share_sessions(
    ctx: Context, filters: PortalFileShareSessionQuery
) -> Page[PortalFileShareSession]:
    """Lists the customer's own file-share sessions with their downloads and payments, newest first."""
    return await read_page(ctx, file_share_sessions.LISTING, PORTAL_SESSION, filters)


@requires(Scope.CUSTOMER_PORTAL_READ, kinds=CUSTOMERS)
async def get_portal_file_share_session(ctx: Context, id: UUID) -> PortalFileShareSession:
    """Returns one of the customer's own file-share sessions with its downloads and payments."""
    return await read_one(ctx, FileShareSessionRow, PORTAL_SESSION, id=id)
