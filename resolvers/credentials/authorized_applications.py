"""Operations on the applications that a user has authorized."""

from collections.abc import Sequence
from uuid import UUID

from oauth.consents import forget
from oauth.scopes import Scope
from resolvers.credentials.access_tokens import USER_KINDS
from resolvers.operations.access import get_for_update, get_visible
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.lists import Listing, list_page
from schema.authorized_applications import AuthorizedApplication, AuthorizedApplicationQuery
from schema.pages import Page
from schema.sorting import CreatedAtSorting
from storage.connections import Connection
from storage.rows import every, table_of, values_of
from storage.tables.oauth_clients import OAuthClientRow
from storage.tables.oauth_grants import OAuthConsentRow

_clients = table_of(OAuthClientRow)
LISTING = Listing(OAuthConsentRow, CreatedAtSorting, default="created_at")


@requires(Scope.ACCESS_TOKENS_READ, kinds=USER_KINDS)
async def list_authorized_applications(
    ctx: Context, filters: AuthorizedApplicationQuery
) -> Page[AuthorizedApplication]:
    """Lists the applications that the user has authorized, oldest first unless sorted otherwise."""
    return await list_page(ctx, LISTING, filters, [], _assemble)


@requires(Scope.ACCESS_TOKENS_READ, kinds=USER_KINDS)
async def get_authorized_application(ctx: Context, id: UUID) -> AuthorizedApplication:
    """Returns an application that the user has authorized."""
    row = await get_visible(ctx, OAuthConsentRow, id=id)
    async with ctx.read() as connection:
        (application,) = await _assemble(connection, [row])
    return application


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=USER_KINDS)
async def revoke_authorized_application(ctx: Context, id: UUID) -> UUID:
    """Revokes an application's access. Its tokens end at once, and it has to ask for consent again."""
    row = await get_for_update(ctx, OAuthConsentRow, id=id)
    await forget(ctx.connection, row)
    return id


async def _assemble(connection: Connection, rows: Sequence[OAuthConsentRow]) -> list[AuthorizedApplication]:
    of_consents = _clients.c.id.in_([row.oauth_client_id for row in rows])
    clients = {
        client.id: {"client_id": client.client_id, "name": client.name, "client_uri": client.client_uri}
        for client in await every(connection, OAuthClientRow, of_consents)
    }
    return [
        AuthorizedApplication.model_validate(values_of(row) | clients[row.oauth_client_id]) for row in rows
    ]
