"""The shapes of workspaces, their members and the invitations to them."""

from datetime import datetime

from sqlalchemy import ColumnElement, FromClause, func

from resolvers.accounts.shapes import person_of
from resolvers.operations.shapes.shapes import Computed, Derived, Shape, of_referenced
from schema.workspaces.members import WorkspaceInvitation, WorkspaceMember, WorkspaceMemberStatus
from schema.workspaces.workspaces import Workspace, WorkspaceItem
from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.accounts.users import UserRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow

_workspaces, _members, _users = table_of(WorkspaceRow), table_of(WorkspaceMemberRow), table_of(UserRow)


def _status(user_id: str | None, expires_at: str | None) -> str:
    if user_id is not None:
        return WorkspaceMemberStatus.ACTIVE.value
    has_expired = expires_at is not None and datetime.fromisoformat(expires_at) <= now()
    return (WorkspaceMemberStatus.EXPIRED if has_expired else WorkspaceMemberStatus.INVITED).value


_EMAIL, _NAME = (of_referenced(column, "user_id") for column in (_users.c.email, _users.c.name))


def _email(member: FromClause) -> ColumnElement[str]:
    """The current email of the member's user; the invited one of an invitation."""
    return func.coalesce(_EMAIL.value(member), member.c.email)


WORKSPACE = Shape(Workspace, _workspaces)
WORKSPACE_ITEM = Shape(WorkspaceItem, _workspaces)
WORKSPACE_MEMBER = Shape(
    WorkspaceMember,
    _members,
    {
        "email": Computed(_email),
        "name": _NAME,
        "status": Derived(_status, (_members.c.user_id, _members.c.expires_at)),
        "invited_by": person_of("invited_by_user_id"),
    },
)
INVITATION = Shape(
    WorkspaceInvitation,
    _members,
    {
        "workspace_name": of_referenced(_workspaces.c.name, "workspace_id"),
        "workspace_slug": of_referenced(_workspaces.c.slug, "workspace_id"),
        "invited_by": person_of("invited_by_user_id"),
    },
)
