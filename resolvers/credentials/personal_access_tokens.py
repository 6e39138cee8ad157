"""Operations on personal access tokens."""

from uuid import UUID

from oauth.scopes import Scope
from resolvers.credentials.access_tokens import LISTING, USER_KINDS, create_token, revoke_token, update_token
from resolvers.operations.access import get_visible
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.lists import each, list_page
from schema.access_tokens import (
    PersonalAccessToken,
    PersonalAccessTokenCreate,
    PersonalAccessTokenCreated,
    PersonalAccessTokenQuery,
    PersonalAccessTokenUpdate,
)
from schema.pages import Page
from storage.enums import CredentialKind
from storage.rows import table_of, values_of
from storage.tables.credentials import CredentialRow

_table = table_of(CredentialRow)
_KIND = CredentialKind.PERSONAL_TOKEN


@requires(Scope.ACCESS_TOKENS_READ, kinds=USER_KINDS)
async def list_personal_access_tokens(
    ctx: Context, filters: PersonalAccessTokenQuery
) -> Page[PersonalAccessToken]:
    """Lists the user's own access tokens, oldest first unless sorted otherwise."""
    conditions = [_table.c.kind == _KIND.value]
    return await list_page(ctx, LISTING, filters, conditions, each(PersonalAccessToken.model_validate))


@requires(Scope.ACCESS_TOKENS_READ, kinds=USER_KINDS)
async def get_personal_access_token(ctx: Context, id: UUID) -> PersonalAccessToken:
    """Returns a personal access token."""
    token = await get_visible(ctx, CredentialRow, id=id, kind=_KIND.value)
    return PersonalAccessToken.model_validate(values_of(token))


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=USER_KINDS, seals=True, fresh=True)
async def create_personal_access_token(
    ctx: Context, data: PersonalAccessTokenCreate
) -> PersonalAccessTokenCreated:
    """Creates a personal access token, with no more scopes or life than the credential that creates it."""
    text, row = await create_token(
        ctx, _KIND, data.comment, data.scopes, data.expires_in, user_id=ctx.principal.user_id
    )
    return PersonalAccessTokenCreated(
        token=text, personal_access_token=PersonalAccessToken.model_validate(values_of(row))
    )


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=USER_KINDS, gives=get_personal_access_token, fresh=True)
async def update_personal_access_token(
    ctx: Context, id: UUID, data: PersonalAccessTokenUpdate
) -> PersonalAccessToken:
    """Updates the fields that were sent. A token gains no more than the credential that updates it has."""
    row, _ = await update_token(ctx, _KIND, id, data.changes())
    return PersonalAccessToken.model_validate(values_of(row))


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=USER_KINDS)
async def delete_personal_access_token(ctx: Context, id: UUID) -> UUID:
    """Revokes a personal access token: the next request with it fails."""
    await revoke_token(ctx, _KIND, id)
    return id
