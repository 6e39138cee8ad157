"""Operations on workspace access tokens."""

from uuid import UUID

from oauth.scopes import Scope
from resolvers.credentials.access_tokens import KINDS, create_token, revoke_token, update_token
from resolvers.credentials.creation_mails import mail_token
from resolvers.credentials.shapes import WORKSPACE_TOKEN
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.filters import any_of
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import check_workspaces, workspace_for
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.shapes.shaped import as_model
from schema.credentials.access_tokens import (
    WorkspaceAccessToken,
    WorkspaceAccessTokenCreate,
    WorkspaceAccessTokenCreated,
    WorkspaceAccessTokenQuery,
    WorkspaceAccessTokenUpdate,
)
from schema.kit.pages import Page
from schema.kit.sorting import CreatedAtSorting
from storage.changes.kinds import ChangeKind
from storage.enums import CredentialKind
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow

_table = table_of(CredentialRow)
_KIND = CredentialKind.WORKSPACE_TOKEN
LISTING = Listing(
    CredentialRow,
    CreatedAtSorting,
    default="created_at",
    query=WorkspaceAccessTokenQuery,
    filters={
        "workspace_id": any_of(_table.c.workspace_id),
        "created_by": any_of(_table.c.maker_user_id),
    },
    always=(_table.c.kind == _KIND.value,),
)


@requires(Scope.ACCESS_TOKENS_READ, kinds=KINDS)
async def list_workspace_access_tokens(
    ctx: Context, filters: WorkspaceAccessTokenQuery
) -> Page[WorkspaceAccessToken]:
    """Lists workspace access tokens, oldest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    return await read_page(ctx, LISTING, WORKSPACE_TOKEN, filters)


@requires(Scope.ACCESS_TOKENS_READ, kinds=KINDS)
async def get_workspace_access_token(ctx: Context, id: UUID) -> WorkspaceAccessToken:
    """Returns a workspace access token."""
    return await read_one(ctx, CredentialRow, WORKSPACE_TOKEN, id=id, kind=_KIND.value)


@requires(
    Scope.ACCESS_TOKENS_WRITE,
    kinds=KINDS,
    owners_only=True,
    seals=True,
    fresh=True,
    causes=(ChangeKind.WORKSPACE_ACCESS_TOKEN_CREATED,),
)
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
    token = as_model(await get_workspace_access_token(ctx, row.id))
    await mail_token(ctx, token)
    return WorkspaceAccessTokenCreated(token=text, workspace_access_token=token)


@requires(
    Scope.ACCESS_TOKENS_WRITE,
    kinds=KINDS,
    owners_only=True,
    gives=get_workspace_access_token,
    fresh=True,
    causes=(ChangeKind.WORKSPACE_ACCESS_TOKEN_UPDATED,),
)
async def update_workspace_access_token(
    ctx: Context, id: UUID, data: WorkspaceAccessTokenUpdate
) -> WorkspaceAccessToken:
    """Updates the fields that were sent. A token gains no more than the credential that updates it has.

    If it gains scopes or a longer life, the workspace's owners are notified by email.
    """
    _, is_wider = await update_token(ctx, _KIND, id, data.changes())
    token = await get_workspace_access_token(ctx, id)
    if is_wider:
        await mail_token(ctx, token, is_new=False)
    return token


@requires(
    Scope.ACCESS_TOKENS_WRITE,
    kinds=KINDS,
    owners_only=True,
    removes=get_workspace_access_token,
    causes=(ChangeKind.WORKSPACE_ACCESS_TOKEN_REVOKED,),
)
async def delete_workspace_access_token(ctx: Context, id: UUID) -> UUID:
    """Revokes a workspace access token: the next request with it fails."""
    await revoke_token(ctx, _KIND, id)
    return id
