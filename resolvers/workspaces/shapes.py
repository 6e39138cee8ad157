"""The shapes of workspaces, their members and the invitations to them."""

from datetime import datetime

from sqlalchemy import Column, ColumnElement, FromClause, func, select

from resolvers.accounts.shapes import person_of
from resolvers.operations.shapes import Computed, Derived, Shape
from schema.workspace_members import WorkspaceInvitation, WorkspaceMember, WorkspaceMemberStatus
from schema.workspaces import Workspace, WorkspaceItem
from storage.clock import now
from storage.rows import table_of
from storage.tables.users import UserRow
from storage.tables.workspaces import WorkspaceMemberRow, WorkspaceRow

_workspaces, _members, _users = table_of(WorkspaceRow), table_of(WorkspaceMemberRow), table_of(UserRow)


def _status(user_id: str | None, expires_at: str | None) -> str:
    if user_id is not None:
        return WorkspaceMemberStatus.ACTIVE.value
    has_expired = expires_at is not None and datetime.fromisoformat(expires_at) <= now()
    return (WorkspaceMemberStatus.EXPIRED if has_expired else WorkspaceMemberStatus.INVITED).value


def _of_user(column: Column[str], member: FromClause) -> ColumnElement[str]:
    """A column of the member's user; null for an invitation."""
    return select(column).where(_users.c.id == member.c.user_id).correlate(member).scalar_subquery()


def _email(member: FromClause) -> ColumnElement[str]:
    """The current email of the member's user; the invited one of an invitation."""
    return func.coalesce(_of_user(_users.c.email, member), member.c.email)


def _of_workspace(name: str) -> Computed:
    """A column of the workspace that an invitation is for."""

    def value(invitation: FromClause) -> ColumnElement[str]:
        same = _workspaces.c.id == invitation.c.workspace_id
        return select(_workspaces.c[name]).where(same).correlate(invitation).scalar_subquery()

    return Computed(value)


WORKSPACE = Shape(Workspace, _workspaces)
WORKSPACE_ITEM = Shape(WorkspaceItem, _workspaces)
WORKSPACE_MEMBER = Shape(
    WorkspaceMember,
    _members,
    {
        "email": Computed(_email),
        "name": Computed(lambda member: _of_user(_users.c.name, member)),
        "status": Derived(_status, (_members.c.user_id, _members.c.expires_at)),
        "invited_by": person_of("invited_by_user_id"),
    },
)
INVITATION = Shape(
    WorkspaceInvitation,
    _members,
    {
        "workspace_name": _of_workspace("name"),
        "workspace_slug": _of_workspace("slug"),
        "invited_by": person_of("invited_by_user_id"),
    },
)
