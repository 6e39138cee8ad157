"""The rows of members and invitations: invited, renewed, accepted and withdrawn under one lock."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import or_, select

from resolvers.accounts.users import find_user
from resolvers.operations.rows.room import check_room
from storage.clock import now
from storage.emails import fold_email
from storage.engine.connections import Connection
from storage.enums import WorkspaceRole
from storage.rows.rows import delete_rows, every, every_of, insert_row, table_of, update_row
from storage.tables.accounts.users import UserRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow

INVITATION_LIFETIME = timedelta(days=7)

_members, _workspaces = table_of(WorkspaceMemberRow), table_of(WorkspaceRow)


class AlreadyMember(ValueError):
    """The invited email belongs to a member."""


async def lock_members(connection: Connection, workspace_id: UUID) -> None:
    """Lock the members of a workspace against concurrent changes; other writes of it do not wait."""
    workspace = select(_workspaces.c.id).where(_workspaces.c.id == workspace_id)
    (await connection.execute(workspace.with_for_update(key_share=True))).one()


async def invite(
    connection: Connection, workspace_id: UUID, email: str, role: WorkspaceRole, inviter_id: UUID | None
) -> WorkspaceMemberRow:
    """Create an invitation, or renew the email's open one. The members must be locked.

    Raises `AlreadyMember`, or `NotPermitted` if the workspace has the most members.
    """
    user = await find_user(connection, email)
    has_address = _members.c.email_folded == fold_email(email)
    same = has_address if user is None else or_(has_address, _members.c.user_id == user.id)
    statement = select(_members).where(_members.c.workspace_id == workspace_id, same).with_for_update()
    rows = await every_of(connection, WorkspaceMemberRow, statement)
    if any(row.user_id is not None for row in rows):
        raise AlreadyMember
    values = {"role": role.value, "invited_by_user_id": inviter_id, "expires_at": now() + INVITATION_LIFETIME}
    if rows:
        return await update_row(connection, WorkspaceMemberRow, rows[0], email=email, **values)
    remedy = "remove a member or an invitation first"
    own = _members.c.workspace_id == workspace_id
    await check_room(connection, WorkspaceMemberRow, own, "members and invitations", remedy)
    return await insert_row(connection, WorkspaceMemberRow, workspace_id=workspace_id, email=email, **values)


async def withdraw_invitations(connection: Connection, inviter_id: UUID, workspace_id: UUID) -> None:
    """Delete the user's open invitations to the workspace. The members must be locked."""
    sent = (_members.c.workspace_id == workspace_id) & (_members.c.invited_by_user_id == inviter_id)
    await delete_rows(connection, WorkspaceMemberRow, sent, _members.c.user_id.is_(None))


async def change_members_address(connection: Connection, user: UserRow) -> None:
    """Give the user's memberships the user's address, by which invitations find members.

    Invitations of the address to these workspaces are moot and end. Raises `Duplicate`.
    """
    for member in await every(connection, WorkspaceMemberRow, _members.c.user_id == user.id):
        same = (_members.c.workspace_id == member.workspace_id) & _members.c.user_id.is_(None)
        await delete_rows(connection, WorkspaceMemberRow, same, _members.c.email_folded == user.email_folded)
        await update_row(connection, WorkspaceMemberRow, member, email=user.email)


async def join(connection: Connection, invitation: WorkspaceMemberRow, user: UserRow) -> WorkspaceMemberRow:
    """Make the user a member, as the invitation says; its row must be locked."""
    return await update_row(
        connection,
        WorkspaceMemberRow,
        invitation,
        user_id=user.id,
        email=user.email,
        joined_at=now(),
        expires_at=None,
    )
