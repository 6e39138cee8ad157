"""Subjects that a client acts for: a user, perhaps in one workspace only; and their claims."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select

from oauth.scopes import Scope
from storage.engine.connections import Connection
from storage.rows.rows import first, first_of, table_of
from storage.tables.accounts.users import UserRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow

_users, _workspaces, _members = table_of(UserRow), table_of(WorkspaceRow), table_of(WorkspaceMemberRow)


@dataclass(frozen=True)
class Subject:
    """A user, perhaps limited to a workspace. `authenticated_at` is when they authenticated, if known."""

    user: UserRow
    workspace: WorkspaceRow | None
    authenticated_at: datetime | None = None

    @property
    def user_id(self) -> UUID:
        return self.user.id

    @property
    def workspace_id(self) -> UUID | None:
        return self.workspace.id if self.workspace else None

    def claims(self, scopes: Collection[str]) -> dict[str, Any]:
        """The claims of OpenID Connect for a client with these scopes."""
        claims: dict[str, Any] = {"sub": str(self.user_id)}
        if Scope.EMAIL in scopes:
            claims["email"] = self.user.email
            claims["email_verified"] = self.user.email_verified_at is not None
        if Scope.PROFILE in scopes and self.user.name is not None:
            claims["name"] = self.user.name
        if self.workspace is not None:
            claims["workspace"] = {
                "id": str(self.workspace.id),
                "slug": self.workspace.slug,
                "name": self.workspace.name,
            }
        return claims


async def find_subject(
    connection: Connection,
    user_id: UUID,
    workspace_id: UUID | None,
    *,
    authenticated_at: datetime | None = None,
    hold: bool = False,
) -> Subject | None:
    """The user, limited to the workspace if there is one; None if they are not a member of it.

    `hold` locks the membership until the transaction ends.
    """
    user = await first(connection, UserRow, _users.c.id == user_id)
    if user is None:
        return None
    if workspace_id is None:
        return Subject(user, None, authenticated_at)
    statement = (
        select(_workspaces)
        .join(_members, _members.c.workspace_id == _workspaces.c.id)
        .where(_members.c.user_id == user_id, _workspaces.c.id == workspace_id)
    )
    if hold:
        statement = statement.with_for_update(of=_members)
    workspace = await first_of(connection, WorkspaceRow, statement)
    return Subject(user, workspace, authenticated_at) if workspace else None
