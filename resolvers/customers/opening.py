"""Customer sessions, opened by a workspace or by a portal code."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import select

from oauth.credentials import Credential, mint
from oauth.scopes import CUSTOMER_SCOPES
from resolvers.customers.conditions import of_customers
from storage.engine.connections import Connection
from storage.enums import CredentialKind, CustomerType, MemberRole
from storage.rows.rows import insert_row, table_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.customers.customers import CustomerRow, CustomerSessionRow, MemberRow

SESSION_LIFETIME = timedelta(hours=1)

_members = table_of(MemberRow)


async def open_customer_session(
    connection: Connection,
    customer: CustomerRow,
    member_id: UUID | None,
    expires_at: datetime,
    *,
    return_url: str | None = None,
    recipient: str | None = None,
) -> tuple[CustomerSessionRow, Credential]:
    """Create a session of the customer, which must be locked, and its token.

    `recipient` is the digest of the email that received the portal code; None if the workspace opened it.
    """
    credential = mint(CredentialKind.CUSTOMER_SESSION)
    owner = {
        "workspace_id": customer.workspace_id,
        "customer_id": customer.id,
        "member_id": member_id,
        "expires_at": expires_at,
    }
    session = await insert_row(
        connection, CustomerSessionRow, **owner, return_url=return_url, recipient=recipient
    )
    await insert_row(
        connection,
        CredentialRow,
        **owner,
        hash=credential.hash,
        id=session.id,
        kind=CredentialKind.CUSTOMER_SESSION,
        scopes=sorted(scope.value for scope in CUSTOMER_SCOPES),
    )
    return session, credential


async def default_member(connection: Connection, customer: CustomerRow) -> UUID | None:
    """The member of a session for which none was chosen: a team's owner; None for an individual."""
    if customer.type != CustomerType.TEAM:
        return None
    own = of_customers([(customer.workspace_id, customer.id)])
    owner = own & _members.c.deleted_at.is_(None) & (_members.c.role == MemberRole.OWNER)
    id: UUID = (await connection.execute(select(_members.c.id).where(owner))).scalar_one()
    return id
