"""Operations on workspace access tokens."""

from collections.abc import Sequence
from uuid import UUID

from oauth.scopes import Scope
from resolvers.accounts.people import with_creators
from resolvers.credentials.access_tokens import KINDS, LISTING, create_token, revoke_token, update_token
from resolvers.credentials.creation_mails import mail_token
from resolvers.operations.access import check_workspaces, get_visible, workspace_for
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.lists import list_page, one_of
from schema.access_tokens import (
    WorkspaceAccessToken,
    WorkspaceAccessTokenCreate,
    WorkspaceAccessTokenCreated,
    WorkspaceAccessTokenQuery,
    WorkspaceAccessTokenUpdate,
)
from schema.pages import Page
from storage.connections import Connection
from storage.enums import CredentialKind
from storage.rows import table_of
from storage.tables.credentials import CredentialRow

_table = table_of(CredentialRow)
_KIND = CredentialKind.WORKSPACE_TOKEN


@requires(Scope.ACCESS_TOKENS_READ, kinds=KINDS)
async def list_workspace_access_tokens(
    ctx: Context, filters: WorkspaceAccessTokenQuery
) -> Page[WorkspaceAccessToken]:
    """Lists workspace access tokens, oldest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    conditions = [
        _table.c.kind == _KIND.value,
        *one_of(_table.c.workspace_id, filters.workspace_id),
        *one_of(_table.c.maker_user_id, filters.created_by),
    ]
    return await list_page(ctx, LISTING, filters, conditions, _assemble)


@requires(Scope.ACCESS_TOKENS_READ, kinds=KINDS)
async def get_workspace_access_token(ctx: Context, id: UUID) -> WorkspaceAccessToken:
    """Returns a workspace access token."""
    row = await get_visible(ctx, CredentialRow, id=id, kind=_KIND.value)
    async with ctx.read() as connection:
        (token,) = await _assemble(connection, [row])
    return token


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=KINDS, owners_only=True, seals=True, fresh=True)
async def create_workspace_access_token(
    ctx: Context, data: WorkspaceAccessTokenCreate
) -> WorkspaceAccessTokenCreated:
    """Creates a workspace access token, with no more scopes or life than the credential that creates it.

    The workspace's owners are notified by email.
    """
    workspace_id = await workspace_for(ctx, data.workspace_id)
    text, row = await create_token(
        ctx, _KIND, data.comment, data.scopes, data.expires_in, workspace_id=workspace_id
    )
    (token,) = await _assemble(ctx.connection, [row])
    await mail_token(ctx, token)
    return WorkspaceAccessTokenCreated(token=text, workspace_access_token=token)


@requires(
    Scope.ACCESS_TOKENS_WRITE, kinds=KINDS, owners_only=True, gives=get_workspace_access_token, fresh=True
)
async def update_workspace_access_token(
    ctx: Context, id: UUID, data: WorkspaceAccessTokenUpdate
) -> WorkspaceAccessToken:
    """Updates the fields that were sent. A token gains no more than the credential that updates it has.

    If it gains scopes or a longer life, the workspace's owners are notified by email.
    """
    row, is_wider = await update_token(ctx, _KIND, id, data.changes())
    (token,) = await _assemble(ctx.connection, [row])
    if is_wider:
        await mail_token(ctx, token, is_new=False)
    return token


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=KINDS, owners_only=True)
async def delete_workspace_access_token(ctx: Context, id: UUID) -> UUID:
    """Revokes a workspace access token: the next request with it fails."""
    await revoke_token(ctx, _KIND, id)
    return id


async def _assemble(connection: Connection, rows: Sequence[CredentialRow]) -> list[WorkspaceAccessToken]:
    return [WorkspaceAccessToken.model_validate(values) for values in await with_creators(connection, rows)]
