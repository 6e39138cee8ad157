"""Workspaces and roles, written without permission checks: for commands, and resolvers that have checked."""

from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from resolvers.workspaces.memberships import hold_members
from storage.clock import now
from storage.enums import WorkspaceRole, WorkspaceStatus
from storage.rows import Values, insert_row, table_of, update_row
from storage.tables.users import UserRow
from storage.tables.workspaces import WorkspaceMemberRow, WorkspaceRow

LARGEST_LIMIT = 2**31 - 1

STATUS_MOVES: dict[WorkspaceStatus, frozenset[WorkspaceStatus]] = {
    WorkspaceStatus.CREATED: frozenset({WorkspaceStatus.ONBOARDING_STARTED}),
    WorkspaceStatus.ONBOARDING_STARTED: frozenset({WorkspaceStatus.INITIAL_REVIEW}),
    WorkspaceStatus.INITIAL_REVIEW: frozenset({WorkspaceStatus.ACTIVE, WorkspaceStatus.DENIED}),
    WorkspaceStatus.ACTIVE: frozenset({WorkspaceStatus.ONGOING_REVIEW}),
    WorkspaceStatus.ONGOING_REVIEW: frozenset({WorkspaceStatus.ACTIVE, WorkspaceStatus.DENIED}),
    WorkspaceStatus.DENIED: frozenset({WorkspaceStatus.INITIAL_REVIEW}),
}

_users, _members = table_of(UserRow), table_of(WorkspaceMemberRow)


class MoveRefused(ValueError):
    """A workspace that does not exist, or a status that does not follow the one it has."""


class RoleRefused(ValueError):
    """A role that a user of the workspace cannot be given."""


async def found_workspace(connection: AsyncConnection, owner: Values, **values: Any) -> Values:
    """A new workspace with `owner` as its first member and owner. Raises `Duplicate`."""
    workspace = await insert_row(connection, WorkspaceRow, **values)
    await insert_row(
        connection,
        WorkspaceMemberRow,
        workspace_id=workspace.id,
        user_id=owner.id,
        email=owner.email,
        role=WorkspaceRole.OWNER.value,
        joined_at=now(),
    )
    return workspace


async def find_workspace(connection: AsyncConnection, slug: str) -> Values | None:
    workspaces = table_of(WorkspaceRow)
    found = await connection.execute(select(workspaces).where(workspaces.c.slug == slug))
    row = found.mappings().first()
    return dict(row) if row else None


async def move_workspace(connection: AsyncConnection, slug: str, status: WorkspaceStatus) -> Values:
    """Give a workspace its next status. Raises `MoveRefused`, which names the moves that are allowed."""
    workspaces = table_of(WorkspaceRow)
    found = await connection.execute(select(workspaces).where(workspaces.c.slug == slug).with_for_update())
    row = found.mappings().first()
    if row is None:
        raise MoveRefused(f"There is no workspace {slug!r}.")
    allowed = STATUS_MOVES[WorkspaceStatus(row.status)]
    if status not in allowed:
        raise MoveRefused(f"From {row['status']} the status moves to {' or '.join(sorted(allowed))}.")
    return await update_row(
        connection, WorkspaceRow, dict(row), status=WorkspaceStatus(status).value, status_changed_at=now()
    )


async def set_limit(connection: AsyncConnection, workspace: Values, requests_per_minute: int) -> Values:
    """Give a workspace its own limit, 0 for none; it counts from the next request on."""
    return await update_row(
        connection,
        WorkspaceRow,
        workspace,
        requests_per_minute=requests_per_minute,
        modified_at=workspace.modified_at,
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
        modified_at=workspace.modified_at,
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
    members = [row for row in await list_members(connection, workspace_id) if row.user_id is not None]
    found = next((row for row in members if row.user_id == user_id), None)
    if found is None:
        raise RoleRefused("This user is no member of the workspace.")
    owners = {row.user_id for row in members if row.role == WorkspaceRole.OWNER}
    if owners == {user_id} and role is not WorkspaceRole.OWNER:
        raise RoleRefused("This is the last owner of the workspace: make another member an owner first.")
    row = {name: value for name, value in found.items() if name != "address"}
    return await update_row(connection, WorkspaceMemberRow, row, role=role.value)
