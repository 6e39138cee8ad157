"""The customers whose portal an email opens, and the end of codes and sessions when it changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import and_, delete, select

from resolvers.customers.conditions import of_customers
from resolvers.customers.opening import default_member
from resolvers.operations.context import Context
from storage.clock import now
from storage.emails import fold_email
from storage.engine.connections import Connection
from storage.enums import MemberRole
from storage.rows.rows import every, read, table_of, update_row, update_rows
from storage.sealing import Purpose, sign
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.customers.customers import CustomerRow, CustomerSessionRow, MemberRow
from storage.tables.customers.portal_codes import PortalCodeRow
from storage.tables.workspaces.workspaces import WorkspaceRow

_customers, _members = table_of(CustomerRow), table_of(MemberRow)
_codes, _sessions, _credentials = (
    table_of(PortalCodeRow),
    table_of(CustomerSessionRow),
    table_of(CredentialRow),
)


@dataclass(frozen=True)
class Entrant:
    """A customer whose portal an email opens, and the member that the session will belong to.

    `address` is the stored email: codes are sent there, never to the text that a visitor typed.
    `is_unconfirmed` means that another user entered it for a member, and that it has opened no portal since.
    """

    customer: CustomerRow
    member_id: UUID | None
    address: str
    is_customers_own: bool
    is_unconfirmed: bool = False


async def find_entrants(connection: Connection, workspace: WorkspaceRow, email: str) -> list[Entrant]:
    """The customers whose portal the email opens, each once: by their own email first, then by a member's.

    A member's email counts only if the workspace has `member_model_enabled`.
    """
    present = and_(_customers.c.workspace_id == workspace.id, _customers.c.deleted_at.is_(None))
    own = _customers.c.email_folded == fold_email(email)
    entrants = []
    for customer in await every(connection, CustomerRow, present, own):
        member_id = await default_member(connection, customer)
        entrants.append(Entrant(customer, member_id, customer.email, is_customers_own=True))
    if not workspace.feature_settings.get("member_model_enabled", False):
        return entrants
    same = and_(
        _customers.c.workspace_id == _members.c.workspace_id, _customers.c.id == _members.c.customer_id
    )
    of_members = (
        select(
            _customers,
            _members.c.id.label("member"),
            _members.c.email.label("member_email"),
            _members.c.email_unconfirmed,
        )
        .join_from(_members, _customers, same)
        .where(present, _members.c.workspace_id == workspace.id, _members.c.deleted_at.is_(None))
        .where(_members.c.email_folded == fold_email(email))
        .order_by(_members.c.created_at, _members.c.id)
    )
    own_ids = {entrant.customer.id for entrant in entrants}
    for row in await connection.execute(of_members):
        if row.id not in own_ids:
            address, unconfirmed = row.member_email, row.email_unconfirmed
            entrants.append(Entrant(read(CustomerRow, row), row.member, address, False, unconfirmed))
    return entrants


async def lock_customers(
    connection: Connection, workspace: WorkspaceRow, entrants: Sequence[Entrant]
) -> None:
    """Lock these customers: changes and deletions, which end their codes, come before or after."""
    # An email that opens nothing takes the same steps.
    ids = [entrant.customer.id for entrant in entrants] or [workspace.id]
    listed = and_(_customers.c.workspace_id == workspace.id, _customers.c.id.in_(ids))
    await connection.execute(
        select(_customers.c.id).where(listed).order_by(_customers.c.id).with_for_update()
    )


async def note_entry(connection: Connection, entrant: Entrant) -> None:
    """Mark the email as verified or confirmed: its code has opened the portal."""
    customer = entrant.customer
    if entrant.is_customers_own and not customer.email_verified:
        await update_row(connection, CustomerRow, customer, email_verified=True)
    if entrant.is_unconfirmed:
        member = and_(_members.c.workspace_id == customer.workspace_id, _members.c.id == entrant.member_id)
        await update_rows(connection, MemberRow, member, email_unconfirmed=False)


async def follow_address(change: Context, before: CustomerRow, after: CustomerRow) -> None:
    """Give the owner the customer's new email if both were the same, and end access by the old email.

    The customer must be locked. Raises `Duplicate` if another of its members has the new email.
    """
    if before.email == after.email:
        return
    own = of_customers([(before.workspace_id, before.id)]) & _members.c.deleted_at.is_(None)
    own &= (_members.c.role == MemberRole.OWNER) & (_members.c.email_folded == before.email_folded)
    for owner in await every(change.connection, MemberRow, own):
        await update_row(change.connection, MemberRow, owner, email=after.email, email_unconfirmed=False)
    if before.email_folded != after.email_folded:
        await end_entries(change, before.workspace_id, before.email, customer_id=before.id)


async def end_entries(change: Context, workspace_id: UUID, email: str, **owner: Any) -> None:
    """Delete the codes sent to the email, and revoke the sessions of `owner` that it opened."""
    recipient = recipient_of(change, workspace_id, email)
    sent_codes = and_(_codes.c.workspace_id == workspace_id, _codes.c.recipient == recipient)
    await change.connection.execute(delete(_codes).where(sent_codes))
    opened = [_sessions.c.workspace_id == workspace_id, _sessions.c.recipient == recipient]
    opened += [_sessions.c[name] == value for name, value in owner.items()]
    live = _credentials.c.id.in_(select(_sessions.c.id).where(*opened)) & _credentials.c.revoked_at.is_(None)
    await update_rows(change.connection, CredentialRow, live, revoked_at=now())


async def end_customer_sessions(
    connection: Connection, customer: CustomerRow, member_id: UUID | None = None
) -> None:
    """Revoke the tokens and delete the emailed codes of a customer, or of one member only."""
    live = and_(
        _credentials.c.workspace_id == customer.workspace_id,
        _credentials.c.customer_id == customer.id,
        _credentials.c.revoked_at.is_(None),
    )
    if member_id is not None:
        live = and_(live, _credentials.c.member_id == member_id)
    await update_rows(connection, CredentialRow, live, revoked_at=now())
    codes = and_(_codes.c.workspace_id == customer.workspace_id, _codes.c.customer_id == customer.id)
    if member_id is not None:
        codes = and_(codes, _codes.c.member_id == member_id)
    await connection.execute(delete(_codes).where(codes))


def recipient_of(ctx: Context, workspace_id: UUID, email: str) -> str:
    """The email as codes and sessions keep it: a digest keyed with the service's secret."""
    return sign(ctx.services.secret_key, Purpose.PORTAL_RECIPIENT, str(workspace_id), fold_email(email))
