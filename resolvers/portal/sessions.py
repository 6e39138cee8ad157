"""Portal sessions: opened by an emailed code, read and ended."""

from uuid import UUID

from sqlalchemy import ColumnElement, select

from oauth.principals import PrincipalKind
from oauth.scopes import Scope
from resolvers.customers.opening import SESSION_LIFETIME, open_customer_session
from resolvers.customers.portal_access import Entrant, note_entry, recipient_of
from resolvers.operations.context import Context
from resolvers.operations.declaration import public, requires
from resolvers.operations.rows.lookups import get_visible
from resolvers.operations.security_events import note_refusal
from resolvers.portal.codes import mail_code, use_code
from schema.customers.members import Member
from schema.errors import InvalidCode, NotFound
from schema.portal.portal import (
    PortalAddress,
    PortalAuthentication,
    PortalChoice,
    PortalCodeRequest,
    PortalSession,
    PortalToken,
    PortalWorkspace,
)
from schema.values.app_links import may_return_to
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.enums import Language
from storage.rows.rows import first, table_of, update_rows, values_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.customers.customers import CustomerRow, CustomerSessionRow, MemberRow
from storage.tables.workspaces.workspaces import WorkspaceRow

CUSTOMERS = frozenset({PrincipalKind.CUSTOMER_SESSION})

_workspaces, _credentials = table_of(WorkspaceRow), table_of(CredentialRow)
_customers = table_of(CustomerRow)


@public("the caller cannot sign in yet", restricted=True)
async def request_portal_code(ctx: Context, data: PortalCodeRequest) -> bool:
    """Emails a customer or a member a code of 6 characters for the portal of the workspace.

    The code works once, within 30 minutes, and ends when another one is sent, which takes at least two
    minutes. The answer and its timing are the same whether or not the email is known.
    """
    workspace = await _workspace_of(ctx, data)

    async def send() -> None:
        async with ctx.change() as change:
            await mail_code(change, workspace, data.email)
        ctx.services.wake_delivery()

    ctx.caller.after_response.append(send)
    return True


@public(
    "the code is the credential",
    restricted=True,
    causes=(ChangeKind.CUSTOMER_UPDATED, ChangeKind.MEMBER_UPDATED),
)
async def authenticate_portal_code(ctx: Context, data: PortalAuthentication) -> PortalToken:
    """Opens a session of an hour with an emailed code.

    If the email belongs to several customers, or was entered for a member and never confirmed, the answer
    has no token and lists the customers as `choices`: send the same request again with the `customer_id` of
    one. Only then is the code used. `email_verified` is set if the email is the customer's own. A wrong, used
    or expired code fails with `invalid_code`; so does a code for another email or workspace, and a right
    code after five wrong tries from the same network address.
    """
    workspace = await _workspace_of(ctx, data)
    token: PortalToken | None = None
    # A refused try counts too, so the refusal is raised after the commit.
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
        note_refusal("portal code", workspace_id=workspace.id)
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
    """Returns the token's session: its customer, member and workspace, and when it ends."""
    principal = ctx.principal
    session = await get_visible(ctx, CustomerSessionRow, id=principal.credential_id)
    workspace = await get_visible(ctx, WorkspaceRow, id=principal.workspace_id)
    member = None
    if principal.member_id is not None:
        row = await get_visible(ctx, MemberRow, id=principal.member_id)
        member = Member.model_validate(values_of(row))
    url = session.return_url
    allowed = url is not None and may_return_to(url, workspace.return_url_schemes)
    return PortalSession.model_validate(
        {
            **values_of(session),
            "return_url": url if allowed else None,
            "member": member,
            "workspace": PortalWorkspace.model_validate(values_of(workspace)),
        }
    )


@requires(Scope.CUSTOMER_PORTAL_WRITE, kinds=CUSTOMERS, causes=())
async def end_portal_session(ctx: Context) -> UUID:
    """Ends the token's session: the next request with the token fails."""
    id = ctx.principal.credential_id
    own = (_credentials.c.id == id) & _credentials.c.revoked_at.is_(None)
    await update_rows(ctx.connection, CredentialRow, own, revoked_at=now())
    return id


async def find_portal_workspace(ctx: Context, slug: str) -> PortalWorkspace:
    """The public profile of a workspace, for the entrance to its portal. Raises `NotFound`."""
    workspace = await _find_workspace(ctx, _workspaces.c.slug == slug)
    return PortalWorkspace.model_validate(values_of(workspace))


async def find_language(ctx: Context, customer_id: UUID) -> Language | None:
    """The language that the customer of the session chose, for its pages."""
    own = (_customers.c.workspace_id == ctx.principal.workspace_id) & (_customers.c.id == customer_id)
    async with ctx.read() as connection:
        language = (await connection.execute(select(_customers.c.language).where(own))).scalar()
    return None if language is None else Language(language)


async def _workspace_of(ctx: Context, data: PortalAddress) -> WorkspaceRow:
    if data.slug is not None:
        return await _find_workspace(ctx, _workspaces.c.slug == data.slug.lower())
    return await _find_workspace(ctx, _workspaces.c.id == data.workspace_id)


async def _find_workspace(ctx: Context, condition: ColumnElement[bool]) -> WorkspaceRow:
    """The workspace; its public page shows that it exists. Raises `NotFound`."""
    async with ctx.read() as connection:
        workspace = await first(connection, WorkspaceRow, condition, _workspaces.c.deleted_at.is_(None))
    if workspace is None:
        raise NotFound("There is no such workspace.")
    return workspace
