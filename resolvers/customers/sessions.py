"""Operations on customer sessions."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from sqlalchemy import select

from oauth.scopes import Scope
from resolvers.customers.conditions import of_customers
from resolvers.customers.opening import SESSION_LIFETIME, default_member, open_customer_session
from resolvers.customers.shapes import CUSTOMER_WITHOUT_MEMBERS
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lookups import get_for_update, get_visible, workspace_for
from resolvers.operations.shapes.shaped import as_model, shaped
from schema.customers.sessions import CustomerSession, CustomerSessionCreate
from schema.errors import Invalid, NotFound, problem
from schema.values.app_links import may_return_to
from storage.clock import now
from storage.rows.rows import table_of, values_of
from storage.tables.customers.customers import CustomerRow, MemberRow
from storage.tables.workspaces.workspaces import WorkspaceRow

_MEMBER_FIELDS = ("member_id", "external_member_id")


@requires(Scope.CUSTOMER_SESSIONS_WRITE, seals=True, causes=())
async def create_customer_session(ctx: Context, data: CustomerSessionCreate) -> CustomerSession:
    """Creates a portal session of a customer, for an hour or until the caller's credential ends.

    The token is shown only once.
    """
    customer = await _find_customer(ctx, data)
    workspace = await get_visible(ctx, WorkspaceRow, id=customer.workspace_id)
    _check_return_url(data.return_url, workspace)
    member_id = await _find_member(ctx, data, customer, workspace)
    session, credential = await open_customer_session(
        ctx.connection, customer, member_id, _end(ctx), return_url=data.return_url
    )
    query = urlencode({"customer_session_token": credential.text})
    return CustomerSession.model_validate(
        {
            **values_of(session),
            "token": credential.text,
            "customer_portal_url": f"{ctx.services.auth_url}/{workspace.slug}/portal?{query}",
            "customer": as_model(shaped(ctx.services, CUSTOMER_WITHOUT_MEMBERS, customer)),
        }
    )


def _check_return_url(url: str | None, workspace: WorkspaceRow) -> None:
    """Raises `Invalid` if the URL has the scheme of an app that the workspace does not allow."""
    if url is not None and not may_return_to(url, workspace.return_url_schemes):
        message = "Input should be an http or https URL, or have a scheme that the workspace allows"
        raise Invalid([problem(("data", "return_url"), message, "url_scheme", input=url)])


async def _find_customer(ctx: Context, data: CustomerSessionCreate) -> CustomerRow:
    """Lock the customer: its deletion, which ends its sessions, comes before or after."""
    named: dict[str, Any] = {}
    if data.external_customer_id is not None:
        named["workspace_id"] = await workspace_for(ctx, data.workspace_id)
    elif data.workspace_id is not None:
        named["workspace_id"] = (await get_visible(ctx, WorkspaceRow, id=data.workspace_id)).id
    try:
        if data.external_customer_id is not None:
            return await get_for_update(ctx, CustomerRow, external_id=data.external_customer_id, **named)
        return await get_for_update(ctx, CustomerRow, id=data.customer_id, **named)
    except NotFound:
        field = "customer_id" if data.customer_id else "external_customer_id"
        raise _unknown(data, field, "There is no such customer") from None


async def _find_member(
    ctx: Context, data: CustomerSessionCreate, customer: CustomerRow, workspace: WorkspaceRow
) -> UUID | None:
    """The member of the session; None for an individual if no member is sent."""
    named = [field for field in _MEMBER_FIELDS if getattr(data, field) is not None]
    if named and not workspace.feature_settings.get("member_model_enabled", False):
        message = "The workspace has no `member_model_enabled`: leave the member out"
        raise Invalid([problem(("data", field), message, "member_model_disabled") for field in named])
    if not named:
        return await default_member(ctx.connection, customer)
    (field,) = named
    members = table_of(MemberRow)
    own = of_customers([(customer.workspace_id, customer.id)])
    column = members.c.id if field == "member_id" else members.c.external_id
    current = select(members.c.id).where(own, members.c.deleted_at.is_(None))
    member_id: UUID | None = (
        await ctx.connection.execute(current.where(column == getattr(data, field)))
    ).scalar()
    if member_id is None:
        raise _unknown(data, field, "The customer has no such member")
    return member_id


def _end(ctx: Context) -> datetime:
    """An hour from now, but no later than the caller's own credential ends."""
    stamp = ctx.principal.expires_at_stamp
    end = now() + SESSION_LIFETIME
    return end if stamp is None else min(end, datetime.fromtimestamp(stamp, UTC))


def _unknown(data: CustomerSessionCreate, field: str, message: str) -> Invalid:
    return Invalid([problem(("data", field), message, "not_found", input=str(getattr(data, field)))])
