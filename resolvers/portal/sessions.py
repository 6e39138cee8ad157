"""What can be done with the session of a customer in its portal: come in by a mailed code, look, leave."""

from uuid import UUID

from sqlalchemy import ColumnElement

from oauth.principals import PrincipalKind
from oauth.scopes import Scope
from resolvers.customers.opening import SESSION_LIFETIME, open_customer_session
from resolvers.customers.portal_access import Entrant, note_entry, recipient_of
from resolvers.operations.access import get_visible
from resolvers.operations.context import Context
from resolvers.operations.declaration import public, requires
from resolvers.portal.codes import mail_code, use_code
from schema.errors import InvalidCode, NotFound
from schema.members import Member
from schema.portal import (
    PortalAddress,
    PortalAuthentication,
    PortalChoice,
    PortalCodeRequest,
    PortalSession,
    PortalToken,
    PortalWorkspace,
)
from storage.clock import now
from storage.rows import first, table_of, update_rows, values_of
from storage.tables.credentials import CredentialRow
from storage.tables.customers import CustomerSessionRow, MemberRow
from storage.tables.workspaces import WorkspaceRow

CUSTOMERS = frozenset({PrincipalKind.CUSTOMER_SESSION})

_workspaces, _credentials = table_of(WorkspaceRow), table_of(CredentialRow)


@public("who asks has no other way in yet", restricted=True)
async def request_portal_code(ctx: Context, data: PortalCodeRequest) -> bool:
    """Mail a customer, or a member of one, a code of 6 characters for the portal of its workspace.

    The code works once, within 30 minutes, and ends when another one is mailed, two minutes later at the
    earliest. The answer is the same, and takes the same time, whether or not anybody has the address.
    """
    workspace = await _workspace_of(ctx, data)

    async def send() -> None:
        async with ctx.change() as change:
            await mail_code(change, workspace, data.email)
        ctx.services.wake_delivery()

    ctx.caller.after_response.append(send)
    return True


@public("the code is the credential", restricted=True)
async def authenticate_portal_code(ctx: Context, data: PortalAuthentication) -> PortalToken:
    """Open a session of an hour with a mailed code.

    Where the address belongs to several customers, or was entered for a member and never confirmed, the
    answer lists them as `choices` and has no token: send the same again with the `customer_id` of one. The
    code is used only then. `email_verified` is set where the address is the customer's own. A wrong, used or
    expired code fails with `invalid_code`, and so does one for another address or workspace, and the right
    one after five wrong tries from the same network address.
    """
    workspace = await _workspace_of(ctx, data)
    token: PortalToken | None = None
    # A wrong try counts although it is refused, so the refusal comes after the commit.
    async with ctx.change() as change:
        entry = await use_code(change, workspace, data.email, data.code, data.customer_id)
        if (entrant := entry.entrant) is not None:
            await note_entry(change.connection, entrant)
            recipient = recipient_of(change, workspace.id, entrant.address)
            session, credential = await open_customer_session(
                change.connection,
                entrant.customer,
                entrant.member_id,
                now() + SESSION_LIFETIME,
                recipient=recipient,
            )
            token = PortalToken(token=credential.text, expires_at=session.expires_at, choices=[])
    if token is None and entry.choices:
        return PortalToken(choices=[_choice_of(each) for each in entry.choices])
    if token is None:
        raise InvalidCode
    return token


def _choice_of(entrant: Entrant) -> PortalChoice:
    customer = entrant.customer
    return PortalChoice(
        customer_id=customer.id,
        customer_name=customer.name,
        customer_email=customer.email,
        member_id=entrant.member_id,
    )


@requires(Scope.CUSTOMER_PORTAL_READ, kinds=CUSTOMERS)
async def get_portal_session(ctx: Context) -> PortalSession:
    """The session that the token is of: whose it is, when it ends, and in whose portal it is."""
    principal = ctx.principal
    session = await get_visible(ctx, CustomerSessionRow, id=principal.credential_id)
    workspace = await get_visible(ctx, WorkspaceRow, id=principal.workspace_id)
    member = None
    if principal.member_id is not None:
        row = await get_visible(ctx, MemberRow, id=principal.member_id)
        member = Member.model_validate(values_of(row))
    return PortalSession.model_validate(
        {
            **values_of(session),
            "member": member,
            "workspace": PortalWorkspace.model_validate(values_of(workspace)),
        }
    )


@requires(Scope.CUSTOMER_PORTAL_WRITE, kinds=CUSTOMERS)
async def end_portal_session(ctx: Context) -> UUID:
    """End the session that the token is of: the next request with it fails."""
    id = ctx.principal.credential_id
    mine = (_credentials.c.id == id) & _credentials.c.revoked_at.is_(None)
    await update_rows(ctx.connection, CredentialRow, mine, revoked_at=now())
    return id


async def find_portal_workspace(ctx: Context, slug: str) -> PortalWorkspace:
    """What anyone may know of the workspace in whose portal they are to come in. Raises `NotFound`."""
    workspace = await _find_workspace(ctx, _workspaces.c.slug == slug)
    return PortalWorkspace.model_validate(values_of(workspace))


async def _workspace_of(ctx: Context, data: PortalAddress) -> WorkspaceRow:
    if data.slug is not None:
        return await _find_workspace(ctx, _workspaces.c.slug == data.slug.lower())
    return await _find_workspace(ctx, _workspaces.c.id == data.workspace_id)


async def _find_workspace(ctx: Context, named: ColumnElement[bool]) -> WorkspaceRow:
    """The workspace, which has a public page: that it exists is no secret. Raises `NotFound`."""
    async with ctx.read() as connection:
        workspace = await first(connection, WorkspaceRow, named)
    if workspace is None:
        raise NotFound("There is no such workspace.")
    return workspace
