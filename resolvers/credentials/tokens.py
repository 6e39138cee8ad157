"""Tokens, issued and listed without permission checks: for commands, and for resolvers that have checked."""

from collections.abc import Iterable
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, select

from oauth.authentication import is_live
from oauth.credentials import Credential, digest, mint, mint_for_test
from oauth.scopes import Scope
from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import CredentialKind
from storage.rows.rows import insert_row, read, table_of
from storage.tables.accounts.users import UserRow
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.workspaces.workspaces import WorkspaceRow

TOKEN_KINDS = (CredentialKind.WORKSPACE_TOKEN, CredentialKind.PERSONAL_TOKEN)

_credentials, _workspaces, _users = table_of(CredentialRow), table_of(WorkspaceRow), table_of(UserRow)


class ListedToken(NamedTuple):
    """A token with its owner: the slug of a workspace, or the email of a user."""

    row: CredentialRow
    slug: str | None
    email: str | None


async def issue_token(
    connection: Connection,
    kind: CredentialKind,
    scopes: Iterable[Scope],
    *,
    workspace_id: UUID | None = None,
    user_id: UUID | None = None,
    maker_user_id: UUID | None = None,
    comment: str = "",
    expires_in: timedelta | None = None,
    credential: Credential | None = None,
) -> tuple[Credential, CredentialRow]:
    """Create a token, a new `credential` if left out; returns its text, to be shown once, and its row.

    The text of a test workspace's token begins with `dg_test_`.
    """
    credential = credential or await _mint(connection, kind, workspace_id)
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


async def _mint(connection: Connection, kind: CredentialKind, workspace_id: UUID | None) -> Credential:
    if kind is not CredentialKind.WORKSPACE_TOKEN:
        return mint(kind)
    is_test = select(_workspaces.c.is_test).where(_workspaces.c.id == workspace_id)
    return mint_for_test() if (await connection.execute(is_test)).scalar() else mint(kind)


async def list_tokens(
    connection: Connection,
    workspace_id: UUID | None = None,
    user_id: UUID | None = None,
    identifier: UUID | str | None = None,
) -> list[ListedToken]:
    """Live access tokens, oldest first; with `identifier`, only that of this id or text."""
    conditions: list[ColumnElement[bool]] = [_credentials.c.kind.in_(TOKEN_KINDS), is_live(now())]
    # Null also for a token without a workspace.
    conditions.append(_workspaces.c.deleted_at.is_(None))
    if workspace_id is not None:
        conditions.append(_credentials.c.workspace_id == workspace_id)
    if user_id is not None:
        conditions.append(_credentials.c.user_id == user_id)
    if isinstance(identifier, UUID):
        conditions.append(_credentials.c.id == identifier)
    if isinstance(identifier, str):
        conditions.append(_credentials.c.hash == digest(identifier))
    statement = (
        select(_credentials, _workspaces.c.slug, _users.c.email)
        .join_from(_credentials, _workspaces, _credentials.c.workspace_id == _workspaces.c.id, isouter=True)
        .join(_users, _credentials.c.user_id == _users.c.id, isouter=True)
        .where(*conditions)
        .order_by(_credentials.c.created_at, _credentials.c.id)
    )
    rows = await connection.execute(statement)
    return [ListedToken(read(CredentialRow, row), row.slug, row.email) for row in rows]
