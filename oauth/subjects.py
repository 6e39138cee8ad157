"""For whom a client acts: a user, perhaps in one workspace only; and what it learns of them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.scopes import Scope
from storage.rows import first, first_of, table_of
from storage.tables.users import UserRow
from storage.tables.workspaces import WorkspaceMemberRow, WorkspaceRow

_users, _workspaces, _members = table_of(UserRow), table_of(WorkspaceRow), table_of(WorkspaceMemberRow)


@dataclass(frozen=True)
class Subject:
    """`authenticated_at` is when the user proved who they are, where that is known."""

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
        """What OpenID Connect tells a client that was granted these scopes."""
        told: dict[str, Any] = {"sub": str(self.user_id)}
        if Scope.EMAIL in scopes:
            told["email"] = self.user.email
            told["email_verified"] = self.user.email_verified_at is not None
        if Scope.PROFILE in scopes and self.user.name is not None:
            told["name"] = self.user.name
        if self.workspace is not None:
            told["workspace"] = {
                "id": str(self.workspace.id),
                "slug": self.workspace.slug,
                "name": self.workspace.name,
            }
        return told


async def find_subject(
    connection: AsyncConnection,
    user_id: UUID,
    workspace_id: UUID | None,
    *,
    authenticated_at: datetime | None = None,
    hold: bool = False,
) -> Subject | None:
    """The user, in the workspace where one is given; None where they are no member of it.

    `hold` keeps the membership until the transaction ends.
    """
    user = await first(connection, UserRow, _users.c.id == user_id)
    if user is None:
        return None
    if workspace_id is None:
        return Subject(user, None, authenticated_at)
    wanted = (
        select(_workspaces)
        .join(_members, _members.c.workspace_id == _workspaces.c.id)
        .where(_members.c.user_id == user_id, _workspaces.c.id == workspace_id)
    )
    if hold:
        wanted = wanted.with_for_update(of=_members)
    workspace = await first_of(connection, WorkspaceRow, wanted)
    return Subject(user, workspace, authenticated_at) if workspace else None
