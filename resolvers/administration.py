"""What an operator does to what is there already: a workspace's limit, and tokens of every owner."""

from uuid import UUID

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.authentication import is_live
from storage.clock import now
from storage.enums import CredentialKind
from storage.rows import Values, table_of, update_row
from storage.tables.credentials import CredentialRow
from storage.tables.users import UserRow
from storage.tables.workspaces import WorkspaceMemberRow, WorkspaceRow

LARGEST_LIMIT = 2**31 - 1
TOKEN_KINDS = (CredentialKind.WORKSPACE_TOKEN, CredentialKind.PERSONAL_TOKEN)

_credentials, _workspaces, _users = table_of(CredentialRow), table_of(WorkspaceRow), table_of(UserRow)
_members = table_of(WorkspaceMemberRow)


async def set_limit(connection: AsyncConnection, workspace: Values, requests_per_minute: int) -> Values:
    """Give a workspace its own limit, 0 for none; it counts from the next request on."""
    return await update_row(
        connection,
        WorkspaceRow,
        workspace,
        requests_per_minute=requests_per_minute,
        modified_at=workspace["modified_at"],
    )


async def set_review_threshold(
    connection: AsyncConnection, workspace: Values, threshold: int | None
) -> Values:
    """Set the revenue, in minor units, at which the workspace is reviewed next; None for none."""
    return await update_row(
        connection,
        WorkspaceRow,
        workspace,
        next_review_threshold=threshold,
        modified_at=workspace["modified_at"],
    )


async def first_member_id(connection: AsyncConnection, workspace_id: UUID) -> UUID | None:
    """The user who has been a member for longest, and so answers for what the workspace's tokens make."""
    wanted = (
        select(_members.c.user_id)
        .where(_members.c.workspace_id == workspace_id, _members.c.user_id.is_not(None))
        .order_by(_members.c.created_at, _members.c.id)
        .limit(1)
    )
    found: UUID | None = (await connection.execute(wanted)).scalar()
    return found


async def list_tokens(
    connection: AsyncConnection, workspace_id: UUID | None = None, user_id: UUID | None = None
) -> list[Values]:
    """Access tokens that count now, oldest first, each with its owner's `slug` or `email`."""
    conditions: list[ColumnElement[bool]] = [_credentials.c.kind.in_(TOKEN_KINDS), is_live(now())]
    if workspace_id is not None:
        conditions.append(_credentials.c.workspace_id == workspace_id)
    if user_id is not None:
        conditions.append(_credentials.c.user_id == user_id)
    wanted = (
        select(_credentials, _workspaces.c.slug, _users.c.email)
        .join_from(_credentials, _workspaces, _credentials.c.workspace_id == _workspaces.c.id, isouter=True)
        .join(_users, _credentials.c.user_id == _users.c.id, isouter=True)
        .where(*conditions)
        .order_by(_credentials.c.created_at, _credentials.c.id)
    )
    return [dict(row) for row in (await connection.execute(wanted)).mappings()]
