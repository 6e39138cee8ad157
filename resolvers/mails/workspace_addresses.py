"""The recipients of emails about a workspace."""

from uuid import UUID

from sqlalchemy import select

from storage.engine.connections import Connection
from storage.enums import WorkspaceRole
from storage.rows.rows import table_of
from storage.tables.accounts.users import UserRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow

_members, _users = table_of(WorkspaceMemberRow), table_of(UserRow)


async def addresses_of_members(connection: Connection, workspace_id: UUID) -> list[str]:
    """The confirmed emails of the workspace's members, without open invitations."""
    statement = (
        select(_users.c.email)
        .join_from(_members, _users, _members.c.user_id == _users.c.id)
        .where(_members.c.workspace_id == workspace_id, _users.c.email_verified_at.is_not(None))
        .order_by(_members.c.created_at, _members.c.id)
    )
    return list((await connection.execute(statement)).scalars())


async def addresses_of_owners(connection: Connection, workspace_id: UUID) -> list[str]:
    """The confirmed emails of the workspace's owners."""
    statement = (
        select(_users.c.email)
        .join_from(_members, _users, _members.c.user_id == _users.c.id)
        .where(_members.c.workspace_id == workspace_id, _members.c.role == WorkspaceRole.OWNER.value)
        .where(_users.c.email_verified_at.is_not(None))
        .order_by(_members.c.joined_at, _members.c.id)
    )
    return list((await connection.execute(statement)).scalars())
