"""What an operator does to what is there already: a workspace's limit, and tokens of every owner."""

from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.authentication import is_live
from resolvers.memberships import hold_members
from storage.clock import now
from storage.enums import CredentialKind, WorkspaceRole
from storage.rows import Values, table_of, update_row
from storage.tables.credentials import CredentialRow
from storage.tables.users import UserRow
from storage.tables.workspaces import WorkspaceMemberRow, WorkspaceRow

LARGEST_LIMIT = 2**31 - 1
TOKEN_KINDS = (CredentialKind.WORKSPACE_TOKEN, CredentialKind.PERSONAL_TOKEN)

_credentials, _workspaces, _users = table_of(CredentialRow), table_of(WorkspaceRow), table_of(UserRow)
_members = table_of(WorkspaceMemberRow)


class RoleRefused(ValueError):
    """A role that a user of the workspace cannot be given."""


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


async def first_owner_id(connection: AsyncConnection, workspace_id: UUID) -> UUID | None:
    """The owner who joined first, and so answers for what the tokens made by operators make."""
    wanted = (
        select(_members.c.user_id)
        .where(
            _members.c.workspace_id == workspace_id,
            _members.c.user_id.is_not(None),
            _members.c.role == WorkspaceRole.OWNER.value,
        )
        .order_by(_members.c.joined_at, _members.c.id)
        .limit(1)
    )
    found: UUID | None = (await connection.execute(wanted)).scalar()
    return found


async def list_members(connection: AsyncConnection, workspace_id: UUID) -> list[Values]:
    """Members, then invitations, the oldest first, each with its user's `address` where it has one."""
    wanted = (
        select(_members, func.coalesce(_users.c.email, _members.c.email).label("address"))
        .join_from(_members, _users, _members.c.user_id == _users.c.id, isouter=True)
        .where(_members.c.workspace_id == workspace_id)
        .order_by(_members.c.user_id.is_(None), _members.c.created_at, _members.c.id)
    )
    return [dict(row) for row in (await connection.execute(wanted)).mappings()]


async def set_role(
    connection: AsyncConnection, workspace_id: UUID, user_id: UUID, role: WorkspaceRole
) -> Values:
    """Give a member a role. Raises `RoleRefused`."""
    await hold_members(connection, workspace_id)
    members = [row for row in await list_members(connection, workspace_id) if row["user_id"] is not None]
    found = next((row for row in members if row["user_id"] == user_id), None)
    if found is None:
        raise RoleRefused("This user is no member of the workspace.")
    owners = {row["user_id"] for row in members if row["role"] == WorkspaceRole.OWNER}
    if owners == {user_id} and role is not WorkspaceRole.OWNER:
        raise RoleRefused("This is the last owner of the workspace: make another member an owner first.")
    row = {name: value for name, value in found.items() if name != "address"}
    return await update_row(connection, WorkspaceMemberRow, row, role=role.value)


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
