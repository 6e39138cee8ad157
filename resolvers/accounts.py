"""What an operator does from the command line: users, workspaces and tokens; nobody is asked."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.credentials import Credential, mint
from oauth.passwords import hash_password
from oauth.scopes import Scope
from storage.clock import now
from storage.emails import fold_email
from storage.enums import CredentialKind, WorkspaceRole, WorkspaceStatus
from storage.rows import Values, insert_row, table_of, update_row
from storage.tables.credentials import CredentialRow
from storage.tables.users import UserRow
from storage.tables.workspaces import WorkspaceMemberRow, WorkspaceRow

STATUS_MOVES: dict[WorkspaceStatus, frozenset[WorkspaceStatus]] = {
    WorkspaceStatus.CREATED: frozenset({WorkspaceStatus.ONBOARDING_STARTED}),
    WorkspaceStatus.ONBOARDING_STARTED: frozenset({WorkspaceStatus.INITIAL_REVIEW}),
    WorkspaceStatus.INITIAL_REVIEW: frozenset({WorkspaceStatus.ACTIVE, WorkspaceStatus.DENIED}),
    WorkspaceStatus.ACTIVE: frozenset({WorkspaceStatus.ONGOING_REVIEW}),
    WorkspaceStatus.ONGOING_REVIEW: frozenset({WorkspaceStatus.ACTIVE, WorkspaceStatus.DENIED}),
    WorkspaceStatus.DENIED: frozenset({WorkspaceStatus.INITIAL_REVIEW}),
}


class MoveRefused(ValueError):
    """A workspace that does not exist, or a status that does not follow the one it has."""


async def create_user(connection: AsyncConnection, email: str, password: str, name: str | None) -> Values:
    """A new user, whose address the operator vouches for. Raises `Duplicate`."""
    user = await insert_user(connection, email, hash_password(password), name)
    return await verify_address(connection, user)


async def insert_user(
    connection: AsyncConnection, email: str, password_hash: str, name: str | None
) -> Values:
    """A new user, of whom nobody knows yet whether the address is theirs. Raises `Duplicate`."""
    return await insert_row(connection, UserRow, email=email, name=name, password_hash=password_hash)


async def verify_address(connection: AsyncConnection, user: Values) -> Values:
    """Note that the address is the user's, who then sees the invitations to it."""
    return await update_row(
        connection, UserRow, user, email_verified_at=now(), modified_at=user["modified_at"]
    )


async def find_user(connection: AsyncConnection, email: str) -> Values | None:
    """The user with this address, in whatever spelling."""
    users = table_of(UserRow)
    found = await connection.execute(select(users).where(users.c.email_folded == fold_email(email)))
    row = found.mappings().first()
    return dict(row) if row else None


async def lock_user(connection: AsyncConnection, user_id: UUID) -> Values:
    """The user as they are, and stay until the transaction ends."""
    users = table_of(UserRow)
    found = await connection.execute(select(users).where(users.c.id == user_id).with_for_update())
    return dict(found.mappings().one())


async def found_workspace(connection: AsyncConnection, owner: Values, **values: Any) -> Values:
    """A new workspace with `owner` as its first member and owner. Raises `Duplicate`."""
    workspace = await insert_row(connection, WorkspaceRow, **values)
    await insert_row(
        connection,
        WorkspaceMemberRow,
        workspace_id=workspace["id"],
        user_id=owner["id"],
        email=owner["email"],
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
    allowed = STATUS_MOVES[WorkspaceStatus(row["status"])]
    if status not in allowed:
        raise MoveRefused(f"From {row['status']} the status moves to {' or '.join(sorted(allowed))}.")
    return await update_row(
        connection, WorkspaceRow, dict(row), status=WorkspaceStatus(status).value, status_changed_at=now()
    )


async def issue_token(
    connection: AsyncConnection,
    kind: CredentialKind,
    scopes: Iterable[Scope],
    *,
    workspace_id: UUID | None = None,
    user_id: UUID | None = None,
    maker_user_id: UUID | None = None,
    comment: str = "",
    expires_in: timedelta | None = None,
) -> tuple[Credential, Values]:
    """A new token: its text, shown once, and its row."""
    credential = mint(kind)
    row = await insert_row(
        connection,
        CredentialRow,
        hash=credential.hash,
        kind=kind.value,
        scopes=sorted(scope.value for scope in scopes),
        workspace_id=workspace_id,
        user_id=user_id,
        maker_user_id=maker_user_id,
        comment=comment,
        expires_at=now() + expires_in if expires_in else None,
    )
    return credential, row
