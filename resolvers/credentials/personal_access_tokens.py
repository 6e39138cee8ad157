"""Operations on personal access tokens."""

from uuid import UUID

from oauth.scopes import Scope
from resolvers.credentials.access_tokens import USER_KINDS, create_token, revoke_token, update_token
from resolvers.credentials.shapes import PERSONAL_TOKEN
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.shapes.shaped import as_model, shaped
from schema.credentials.access_tokens import (
    PersonalAccessToken,
    PersonalAccessTokenCreate,
    PersonalAccessTokenCreated,
    PersonalAccessTokenQuery,
    PersonalAccessTokenUpdate,
)
from schema.kit.pages import Page
from schema.kit.sorting import CreatedAtSorting
from storage.enums import CredentialKind
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow

_KIND = CredentialKind.PERSONAL_TOKEN
LISTING = Listing(
    CredentialRow,
    CreatedAtSorting,
    default="created_at",
    query=PersonalAccessTokenQuery,
    always=(table_of(CredentialRow).c.kind == _KIND.value,),
)


@requires(Scope.ACCESS_TOKENS_READ, kinds=USER_KINDS)
async def list_personal_access_tokens(
    ctx: Context, filters: PersonalAccessTokenQuery
) -> Page[PersonalAccessToken]:
    """Lists the user's own access tokens, oldest first unless sorted otherwise."""
    return await read_page(ctx, LISTING, PERSONAL_TOKEN, filters)


@requires(Scope.ACCESS_TOKENS_READ, kinds=USER_KINDS)
async def get_personal_access_token(ctx: Context, id: UUID) -> PersonalAccessToken:
    """Returns a personal access token."""
    return await read_one(ctx, CredentialRow, PERSONAL_TOKEN, id=id, kind=_KIND.value)


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=USER_KINDS, seals=True, fresh=True, causes=())
async def create_personal_access_token(
    ctx: Context, data: PersonalAccessTokenCreate
) -> PersonalAccessTokenCreated:
    """Creates a personal access token, with no more scopes or life than the credential that creates it."""
    text, row = await create_token(
        ctx, _KIND, data.comment, data.scopes, data.expires_in, user_id=ctx.principal.user_id
    )
    token = as_model(shaped(ctx.services, PERSONAL_TOKEN, row))
    return PersonalAccessTokenCreated(token=text, personal_access_token=token)


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=USER_KINDS, gives=get_personal_access_token, fresh=True, causes=())
async def update_personal_access_token(
    ctx: Context, id: UUID, data: PersonalAccessTokenUpdate
) -> PersonalAccessToken:
    """Updates the fields that were sent. A token gains no more than the credential that updates it has."""
    row, _ = await update_token(ctx, _KIND, id, data.changes())
    return shaped(ctx.services, PERSONAL_TOKEN, row)


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=USER_KINDS, removes=get_personal_access_token, causes=())
async def delete_personal_access_token(ctx: Context, id: UUID) -> UUID:
    """Revokes a personal access token: the next request with it fails."""
    await revoke_token(ctx, _KIND, id)
    return id
