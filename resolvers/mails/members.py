"""The readers of emails about a workspace."""

from uuid import UUID

from sqlalchemy import bindparam, select

from resolvers.mails.mails import Reader
from storage.engine.connections import Connection
from storage.engine.statements.kept import Kept
from storage.enums import WorkspaceRole
from storage.rows.rows import table_of
from storage.tables.accounts.users import UserRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow

_members, _users = table_of(WorkspaceMemberRow), table_of(UserRow)
_mailed = (
    select(_users.c.email, _users.c.language)
    .join_from(_members, _users, _members.c.user_id == _users.c.id)
    .where(_members.c.workspace_id == bindparam("home"), _users.c.email_verified_at.is_not(None))
    .order_by(_members.c.joined_at, _members.c.id)
)
_MAILED, _OWNERS = Kept(_mailed), Kept(_mailed.where(_members.c.role == WorkspaceRole.OWNER.value))


async def mailed_members(
    connection: Connection, workspace_id: UUID, *, owners_only: bool = False
) -> list[Reader]:
    """The workspace's members with a confirmed email, who joined first before the others."""
    rows = await connection.rows(_OWNERS if owners_only else _MAILED, {"home": workspace_id})
    return [Reader(*row) for row in rows]
