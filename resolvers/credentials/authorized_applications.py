"""Operations on the applications that a user has authorized."""

from uuid import UUID

from oauth.provider.consents import forget
from oauth.scopes import Scope
from resolvers.credentials.access_tokens import USER_KINDS
from resolvers.credentials.shapes import APPLICATION
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import get_for_update
from resolvers.operations.rows.reading import read_one, read_page
from schema.credentials.authorized_applications import AuthorizedApplication, AuthorizedApplicationQuery
from schema.kit.pages import Page
from schema.kit.sorting import CreatedAtSorting
from storage.tables.credentials.oauth_grants import OAuthConsentRow

LISTING = Listing(OAuthConsentRow, CreatedAtSorting, default="created_at", query=AuthorizedApplicationQuery)


@requires(Scope.ACCESS_TOKENS_READ, kinds=USER_KINDS)
async def list_authorized_applications(
    ctx: Context, filters: AuthorizedApplicationQuery
) -> Page[AuthorizedApplication]:
    """Lists the applications that the user has authorized, oldest first unless sorted otherwise."""
    return await read_page(ctx, LISTING, APPLICATION, filters)


@requires(Scope.ACCESS_TOKENS_READ, kinds=USER_KINDS)
async def get_authorized_application(ctx: Context, id: UUID) -> AuthorizedApplication:
    """Returns an application that the user has authorized."""
    return await read_one(ctx, OAuthConsentRow, APPLICATION, id=id)


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=USER_KINDS, removes=get_authorized_application, causes=())
async def revoke_authorized_application(ctx: Context, id: UUID) -> UUID:
    """Revokes an application's access. Its tokens end at once, and it has to ask for consent again."""
    row = await get_for_update(ctx, OAuthConsentRow, id=id)
    await forget(ctx.connection, row)
    return id
