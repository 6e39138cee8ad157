"""Workspaces and roles, written without permission checks: for commands, and resolvers that have checked."""

from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import func, select

from resolvers.workspaces.memberships import lock_members
from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import WorkspaceRole, WorkspaceStatus
from storage.operator_errors import OperatorError
from storage.rows.rows import every, every_of, first, insert_row, read, table_of, update_row
from storage.tables.accounts.users import UserRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow

NEXT_STATUSES: dict[WorkspaceStatus, frozenset[WorkspaceStatus]] = {
    WorkspaceStatus.CREATED: frozenset({WorkspaceStatus.ONBOARDING_STARTED}),
    WorkspaceStatus.ONBOARDING_STARTED: frozenset({WorkspaceStatus.INITIAL_REVIEW}),
    WorkspaceStatus.INITIAL_REVIEW: frozenset({WorkspaceStatus.ACTIVE, WorkspaceStatus.DENIED}),
    WorkspaceStatus.ACTIVE: frozenset({WorkspaceStatus.ONGOING_REVIEW}),
    WorkspaceStatus.ONGOING_REVIEW: frozenset({WorkspaceStatus.ACTIVE, WorkspaceStatus.DENIED}),
    WorkspaceStatus.DENIED: frozenset({WorkspaceStatus.INITIAL_REVIEW}),
}

_users, _members, _workspaces = table_of(UserRow), table_of(WorkspaceMemberRow), table_of(WorkspaceRow)
_PRESENT = _workspaces.c.deleted_at.is_(None)


class StatusRefused(OperatorError):
    """A status change of a missing workspace, or to a status that does not follow the current one."""


class RoleRefused(OperatorError):
    """A role that a user of the workspace cannot be given."""


class ListedMember(NamedTuple):
    """A member or an invitation with its email; of a member, the user's current one."""

    row: WorkspaceMemberRow
    address: str


async def insert_workspace(connection: Connection, owner: UserRow, **values: Any) -> WorkspaceRow:
    """Create a workspace with `owner` as its first member and owner. Raises `Duplicate`."""
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


async def find_workspace(connection: Connection, slug: str) -> WorkspaceRow | None:
    return await first(connection, WorkspaceRow, _workspaces.c.slug == slug, _PRESENT)


async def change_status(connection: Connection, slug: str, status: WorkspaceStatus) -> WorkspaceRow:
    """Give a workspace its next status. Raises `StatusRefused`, which names the allowed ones."""
    workspace = await first(connection, WorkspaceRow, _workspaces.c.slug == slug, _PRESENT, lock=True)
    if workspace is None:
        raise StatusRefused(f"There is no workspace {slug!r}.")
    allowed = NEXT_STATUSES[WorkspaceStatus(workspace.status)]
    if status not in allowed:
        raise StatusRefused(
            f"The status can change from {workspace.status} only to {' or '.join(sorted(allowed))}."
        )
    return await update_row(
        connection, WorkspaceRow, workspace, status=WorkspaceStatus(status).value, status_changed_at=now()
    )


async def set_limit(
    connection: Connection, workspace: WorkspaceRow, requests_per_minute: int
) -> WorkspaceRow:
    """Set a workspace's own request limit, 0 for none. It applies from the next request on."""
    return await update_row(
        connection,
        WorkspaceRow,
        workspace,
        requests_per_minute=requests_per_minute,
        modified_at=workspace.modified_at,
    )


async def set_review_threshold(
    connection: Connection, workspace: WorkspaceRow, threshold: int | None
) -> WorkspaceRow:
    """Set the revenue, in minor units, at which the workspace is reviewed next; None for no review."""
    return await update_row(
        connection,
        WorkspaceRow,
        workspace,
        next_review_threshold=threshold,
        modified_at=workspace.modified_at,
    )


async def first_owner_id(connection: Connection, workspace_id: UUID) -> UUID | None:
    """The owner who joined first, recorded as the creator of tokens that operators create."""
    statement = (
        select(_members.c.user_id)
        .where(
            _members.c.workspace_id == workspace_id,
            _members.c.user_id.is_not(None),
            _members.c.role == WorkspaceRole.OWNER.value,
        )
        .order_by(_members.c.joined_at, _members.c.id)
        .limit(1)
    )
    owner_id: UUID | None = (await connection.execute(statement)).scalar()
    return owner_id


async def list_members(connection: Connection, workspace_id: UUID) -> list[ListedMember]:
    """Members, then invitations, each oldest first."""
    statement = (
        select(_members, func.coalesce(_users.c.email, _members.c.email).label("address"))
        .join_from(_members, _users, _members.c.user_id == _users.c.id, isouter=True)
        .where(_members.c.workspace_id == workspace_id)
        .order_by(_members.c.user_id.is_(None), _members.c.created_at, _members.c.id)
    )
    rows = await connection.execute(statement)
    return [ListedMember(read(WorkspaceMemberRow, row), row.address) for row in rows]


async def list_memberships(connection: Connection, user_id: UUID) -> list[tuple[WorkspaceMemberRow, str]]:
    """What the user belongs to, each with the slug of its workspace, in their order."""
    statement = (
        select(_members, _workspaces.c.slug)
        .join_from(_members, _workspaces, _members.c.workspace_id == _workspaces.c.id)
        .where(_members.c.user_id == user_id)
        .order_by(_workspaces.c.slug)
    )
    rows = await connection.execute(statement)
    return [(read(WorkspaceMemberRow, row), row.slug) for row in rows]


async def list_all_workspaces(connection: Connection, limit: int) -> list[WorkspaceRow]:
    """The workspaces that were created first."""
    oldest = select(_workspaces).where(_PRESENT).order_by(_workspaces.c.created_at, _workspaces.c.id)
    return await every_of(connection, WorkspaceRow, oldest.limit(limit))


async def set_role(
    connection: Connection, workspace_id: UUID, user_id: UUID, role: WorkspaceRole
) -> WorkspaceMemberRow:
    """Give a member a role. Raises `RoleRefused`."""
    await lock_members(connection, workspace_id)
    of_users = (_members.c.workspace_id == workspace_id) & _members.c.user_id.is_not(None)
    members = await every(connection, WorkspaceMemberRow, of_users)
    member = next((row for row in members if row.user_id == user_id), None)
    if member is None:
        raise RoleRefused("This user is not a member of the workspace.")
    owners = {row.user_id for row in members if row.role == WorkspaceRole.OWNER}
    if owners == {user_id} and role is not WorkspaceRole.OWNER:
        raise RoleRefused("This is the last owner of the workspace: make another member an owner first.")
    return await update_row(connection, WorkspaceMemberRow, member, role=role.value)
