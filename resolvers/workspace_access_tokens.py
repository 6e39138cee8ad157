"""What can be done with the access tokens of a workspace."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.scopes import Scope
from resolvers.access import Row, check_workspaces, get_visible, workspace_for
from resolvers.access_tokens import KINDS, LISTING, change_token, make_token, revoke_token
from resolvers.context import Context
from resolvers.lists import any_of, list_page
from resolvers.operations import requires
from schema.access_tokens import (
    WorkspaceAccessToken,
    WorkspaceAccessTokenCreate,
    WorkspaceAccessTokenCreated,
    WorkspaceAccessTokenQuery,
    WorkspaceAccessTokenUpdate,
)
from schema.pages import Page
from storage.enums import CredentialKind
from storage.rows import table_of
from storage.tables.credentials import CredentialRow

_table = table_of(CredentialRow)
_KIND = CredentialKind.WORKSPACE_TOKEN


@requires(Scope.ACCESS_TOKENS_READ, kinds=KINDS)
async def list_workspace_access_tokens(
    ctx: Context, filters: WorkspaceAccessTokenQuery
) -> Page[WorkspaceAccessToken]:
    """Access tokens of workspaces, page by page, oldest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    conditions = [_table.c.kind == _KIND.value, *any_of(_table.c.workspace_id, filters.workspace_id)]

    async def assemble(_: AsyncConnection, rows: Sequence[Row]) -> list[WorkspaceAccessToken]:
        return [WorkspaceAccessToken.model_validate(row) for row in rows]

    return await list_page(ctx, LISTING, filters, conditions, assemble)


@requires(Scope.ACCESS_TOKENS_READ, kinds=KINDS)
async def get_workspace_access_token(ctx: Context, id: UUID) -> WorkspaceAccessToken:
    """One access token of a workspace."""
    return WorkspaceAccessToken.model_validate(await get_visible(ctx, CredentialRow, id=id, kind=_KIND.value))


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=KINDS, seals=True, fresh=True)
async def create_workspace_access_token(
    ctx: Context, data: WorkspaceAccessTokenCreate
) -> WorkspaceAccessTokenCreated:
    """Make an access token of a workspace, no wider than the credential that makes it."""
    workspace_id = await workspace_for(ctx, data.workspace_id)
    text, row = await make_token(
        ctx, _KIND, data.comment, data.scopes, data.expires_in, workspace_id=workspace_id
    )
    return WorkspaceAccessTokenCreated(
        token=text, workspace_access_token=WorkspaceAccessToken.model_validate(row)
    )


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=KINDS, gives=get_workspace_access_token, fresh=True)
async def update_workspace_access_token(
    ctx: Context, id: UUID, data: WorkspaceAccessTokenUpdate
) -> WorkspaceAccessToken:
    """Change the fields that were sent; to widen a token takes a credential as wide as it then is."""
    return WorkspaceAccessToken.model_validate(await change_token(ctx, _KIND, id, data.changes()))


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=KINDS)
async def delete_workspace_access_token(ctx: Context, id: UUID) -> UUID:
    """Revoke an access token of a workspace: the next request with it fails."""
    await revoke_token(ctx, _KIND, id)
    return id
