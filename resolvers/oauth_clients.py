"""What can be done with OAuth clients, by those who look after them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.clients import CONFIDENTIAL, PUBLIC, issue_client_credential
from oauth.credentials import mint_client_id
from oauth.grants import end_client
from oauth.scopes import Scope
from resolvers.access import Row, check_workspaces, get_for_update, get_visible, workspace_for
from resolvers.access_tokens import KINDS
from resolvers.context import Context
from resolvers.lists import Listing, any_of, list_page
from resolvers.operations import requires
from schema.errors import Invalid, problem
from schema.oauth_clients import (
    OAuthClient,
    OAuthClientCreate,
    OAuthClientCreated,
    OAuthClientQuery,
    OAuthClientUpdate,
)
from schema.pages import Page
from storage.clock import now
from storage.enums import CredentialKind
from storage.rows import Values, insert_row, table_of, update_row
from storage.tables.oauth_clients import OAuthClientRow

_table = table_of(OAuthClientRow)
LISTING = Listing(OAuthClientRow, {"created_at": _table.c.created_at}, default=("created_at",))


@requires(Scope.OAUTH_CLIENTS_READ, kinds=KINDS)
async def list_oauth_clients(ctx: Context, filters: OAuthClientQuery) -> Page[OAuthClient]:
    """OAuth clients that the caller looks after, page by page, oldest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)

    async def assemble(_: AsyncConnection, rows: Sequence[Row]) -> list[OAuthClient]:
        return [as_client(row) for row in rows]

    return await list_page(
        ctx, LISTING, filters, any_of(_table.c.workspace_id, filters.workspace_id), assemble
    )


@requires(Scope.OAUTH_CLIENTS_READ, kinds=KINDS)
async def get_oauth_client(ctx: Context, id: UUID) -> OAuthClient:
    """One OAuth client."""
    return as_client(await get_visible(ctx, OAuthClientRow, id=id))


@requires(Scope.OAUTH_CLIENTS_WRITE, kinds=KINDS, seals=True, fresh=True)
async def create_oauth_client(ctx: Context, data: OAuthClientCreate) -> OAuthClientCreated:
    """Make an OAuth client; a confidential one gets a secret, shown this once."""
    principal = ctx.principal
    owner: dict[str, Any] = {"user_id": principal.user_id}
    if data.workspace_id is not None or principal.workspace_id is not None:
        owner = {"workspace_id": await workspace_for(ctx, data.workspace_id)}
    secret, row = await make_client(ctx.unit, data, **owner)
    return OAuthClientCreated(client_secret=secret, oauth_client=as_client(row))


@requires(Scope.OAUTH_CLIENTS_WRITE, kinds=KINDS, gives=get_oauth_client, fresh=True)
async def update_oauth_client(ctx: Context, id: UUID, data: OAuthClientUpdate) -> OAuthClient:
    """Change the fields that were sent."""
    row = await get_for_update(ctx, OAuthClientRow, id=id)
    changes = data.changes()
    if "scopes" in changes:
        changes["scopes"] = sorted(set(changes["scopes"]))
    return as_client(await update_row(ctx.unit, OAuthClientRow, row, **changes))


@requires(Scope.OAUTH_CLIENTS_WRITE, kinds=KINDS)
async def delete_oauth_client(ctx: Context, id: UUID) -> UUID:
    """Delete an OAuth client. Its secret and all tokens that people granted it end at once."""
    row = await get_for_update(ctx, OAuthClientRow, id=id)
    await remove_client(ctx.unit, row)
    return id


@requires(Scope.OAUTH_CLIENTS_WRITE, kinds=KINDS, seals=True, fresh=True)
async def rotate_oauth_client_secret(ctx: Context, id: UUID) -> OAuthClientCreated:
    """Give a confidential client a new secret, shown this once; the old one ends at once."""
    row = await get_for_update(ctx, OAuthClientRow, id=id)
    if row["token_endpoint_auth_method"] == PUBLIC:
        message = "A public client has no secret"
        raise Invalid([problem(("id",), message, "public_client", input=str(id))])
    secret = await issue_client_credential(ctx.unit, CredentialKind.CLIENT_SECRET, id)
    return OAuthClientCreated(client_secret=secret.text, oauth_client=as_client(row))


async def make_client(
    connection: AsyncConnection,
    data: OAuthClientCreate,
    *,
    token_endpoint_auth_method: str | None = None,
    workspace_id: UUID | None = None,
    user_id: UUID | None = None,
) -> tuple[str | None, Values]:
    """A new client's secret, which a public one has not, and its row."""
    row = await insert_row(
        connection,
        OAuthClientRow,
        **data.model_dump(exclude={"is_public", "scopes", "workspace_id"}),
        client_id=mint_client_id(),
        scopes=sorted(set(data.scopes)),
        token_endpoint_auth_method=PUBLIC
        if data.is_public
        else token_endpoint_auth_method or CONFIDENTIAL[0],
        workspace_id=workspace_id,
        user_id=user_id,
    )
    if data.is_public:
        return None, row
    secret = await issue_client_credential(connection, CredentialKind.CLIENT_SECRET, row["id"])
    return secret.text, row


async def remove_client(connection: AsyncConnection, row: Row) -> None:
    """Delete the client and end what it was given."""
    await update_row(connection, OAuthClientRow, row, deleted_at=now())
    await end_client(connection, row["id"])


def as_client(row: Row) -> OAuthClient:
    return OAuthClient.model_validate({**row, "is_public": row["token_endpoint_auth_method"] == PUBLIC})
