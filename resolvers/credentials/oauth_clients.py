"""Operations on OAuth clients, for the users and workspaces that own them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from oauth.credentials import mint_client_id
from oauth.principals import Principal
from oauth.provider.clients import AuthMethod, issue_client_credential
from oauth.revocation.grants import end_client
from oauth.scopes import WORKSPACE_SCOPES, Scope
from resolvers.accounts.creators import creator_of
from resolvers.credentials.access_tokens import KINDS
from resolvers.credentials.creation_mails import mail_new_client
from resolvers.credentials.shapes import OAUTH_CLIENT
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.reach import check_reach
from resolvers.operations.rows.filters import any_of
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import check_workspaces, get_for_update, workspace_for
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.rows.room import check_room
from resolvers.operations.shapes.shaped import as_model
from schema.credentials.oauth_clients import (
    OAuthClient,
    OAuthClientCreate,
    OAuthClientCreated,
    OAuthClientQuery,
    OAuthClientUpdate,
)
from schema.errors import Invalid, problem
from schema.kit.pages import Page
from schema.kit.sorting import CreatedAtSorting
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import CredentialKind
from storage.rows.rows import delete_rows, insert_row, read, table_of, update_row
from storage.tables.accounts.users import UserRow
from storage.tables.credentials.oauth_client_documents import OAuthClientDocumentRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.workspaces.workspaces import WorkspaceRow

_table, _documents = table_of(OAuthClientRow), table_of(OAuthClientDocumentRow)
_users, _workspaces = table_of(UserRow), table_of(WorkspaceRow)
LISTING = Listing(
    OAuthClientRow,
    CreatedAtSorting,
    default="created_at",
    query=OAuthClientQuery,
    filters={
        "workspace_id": any_of(_table.c.workspace_id),
        "created_by": any_of(_table.c.maker_user_id),
    },
)


@requires(Scope.OAUTH_CLIENTS_READ, kinds=KINDS)
async def list_oauth_clients(ctx: Context, filters: OAuthClientQuery) -> Page[OAuthClient]:
    """Lists the OAuth clients that the caller can manage, oldest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    return await read_page(ctx, LISTING, OAUTH_CLIENT, filters)


@requires(Scope.OAUTH_CLIENTS_READ, kinds=KINDS)
async def get_oauth_client(ctx: Context, id: UUID) -> OAuthClient:
    """Returns an OAuth client."""
    return await read_one(ctx, OAuthClientRow, OAUTH_CLIENT, id=id)


@requires(
    Scope.OAUTH_CLIENTS_WRITE,
    kinds=KINDS,
    owners_only=True,
    seals=True,
    fresh=True,
    causes=(ChangeKind.OAUTH_CLIENT_CREATED,),
)
async def create_oauth_client(ctx: Context, data: OAuthClientCreate) -> OAuthClientCreated:
    """Creates an OAuth client. The secret of a confidential client is shown only once.

    A token cannot create a client with more scopes than its own. The owners of the client's workspace are
    notified by email.
    """
    principal = ctx.principal
    check_scopes(principal, data.scopes, ("data", "scopes"))
    owner: dict[str, Any] = {"user_id": principal.user_id}
    if data.workspace_id is not None or principal.workspace_id is not None:
        owner = {"workspace_id": await workspace_for(ctx, data.workspace_id)}
    ((column, id),) = owner.items()
    remedy = "deleted ones count too"
    await check_room(ctx.connection, OAuthClientRow, _table.c[column] == id, "OAuth clients", remedy)
    secret, row = await create_client(ctx.connection, data, maker_user_id=creator_of(principal), **owner)
    client = as_model(await get_oauth_client(ctx, row.id))
    await mail_new_client(ctx, client)
    return OAuthClientCreated(client_secret=secret, oauth_client=client)


@requires(
    Scope.OAUTH_CLIENTS_WRITE,
    kinds=KINDS,
    owners_only=True,
    gives=get_oauth_client,
    fresh=True,
    causes=(ChangeKind.OAUTH_CLIENT_UPDATED,),
)
async def update_oauth_client(ctx: Context, id: UUID, data: OAuthClientUpdate) -> OAuthClient:
    """Updates the fields that were sent. A token cannot update a client with more scopes than its own."""
    row = await get_for_update(ctx, OAuthClientRow, id=id)
    changes = data.changes()
    if "scopes" in changes:
        check_scopes(ctx.principal, changes["scopes"], ("data", "scopes"))
        changes["scopes"] = sorted(set(changes["scopes"]))
    check_scopes(ctx.principal, row.scopes, ("id",))
    await update_row(ctx.connection, OAuthClientRow, row, **changes)
    return await get_oauth_client(ctx, id)


@requires(
    Scope.OAUTH_CLIENTS_WRITE,
    kinds=KINDS,
    owners_only=True,
    removes=get_oauth_client,
    causes=(ChangeKind.OAUTH_CLIENT_DELETED,),
)
async def delete_oauth_client(ctx: Context, id: UUID) -> UUID:
    """Deletes an OAuth client. Its secret and all tokens that users granted it end at once."""
    row = await get_for_update(ctx, OAuthClientRow, id=id)
    await delete_client(ctx.connection, row)
    return id


@requires(Scope.OAUTH_CLIENTS_WRITE, kinds=KINDS, owners_only=True, seals=True, fresh=True, causes=())
async def rotate_oauth_client_secret(ctx: Context, id: UUID) -> OAuthClientCreated:
    """Replaces the secret of a confidential client. The new one is shown only once; the old one ends."""
    row = await get_for_update(ctx, OAuthClientRow, id=id)
    if row.token_endpoint_auth_method == AuthMethod.NONE:
        message = "A public client has no secret"
        raise Invalid([problem(("id",), message, "public_client", input=str(id))])
    check_scopes(ctx.principal, row.scopes, ("id",))
    kind, maker_id = CredentialKind.CLIENT_SECRET, creator_of(ctx.principal)
    secret = await issue_client_credential(ctx.connection, kind, id, maker_id)
    client = as_model(await get_oauth_client(ctx, id))
    return OAuthClientCreated(client_secret=secret.text, oauth_client=client)


async def create_client(
    connection: Connection,
    data: OAuthClientCreate,
    *,
    token_endpoint_auth_method: str | None = None,
    workspace_id: UUID | None = None,
    user_id: UUID | None = None,
    maker_user_id: UUID | None = None,
) -> tuple[str | None, OAuthClientRow]:
    """Create a client; returns its secret, None for a public client, and its row."""
    row = await insert_row(
        connection,
        OAuthClientRow,
        **data.model_dump(exclude={"is_public", "scopes", "workspace_id"}),
        client_id=mint_client_id(),
        scopes=sorted(set(data.scopes)),
        token_endpoint_auth_method=AuthMethod.NONE
        if data.is_public
        else token_endpoint_auth_method or AuthMethod.CLIENT_SECRET_BASIC,
        workspace_id=workspace_id,
        user_id=user_id,
        maker_user_id=maker_user_id,
    )
    if data.is_public:
        return None, row
    kind = CredentialKind.CLIENT_SECRET
    secret = await issue_client_credential(connection, kind, row.id, maker_user_id)
    return secret.text, row


async def list_clients(
    connection: Connection, limit: int | None = None, **where: Any
) -> list[tuple[OAuthClientRow, str | None]]:
    """Clients whose columns have these values, oldest first, each with the slug or email of its owner."""
    owner = func.coalesce(_workspaces.c.slug, _users.c.email).label("owner")
    statement = (
        select(_table, owner)
        .join_from(_table, _workspaces, _table.c.workspace_id == _workspaces.c.id, isouter=True)
        .join(_users, _table.c.user_id == _users.c.id, isouter=True)
        .where(_table.c.deleted_at.is_(None), *(_table.c[name] == value for name, value in where.items()))
        .order_by(_table.c.created_at, _table.c.id)
        .limit(limit)
    )
    rows = await connection.execute(statement)
    return [(read(OAuthClientRow, row), row.owner) for row in rows]


async def delete_client(connection: Connection, row: OAuthClientRow) -> None:
    """Delete the client and its documents, and end its credentials and grants."""
    await update_row(connection, OAuthClientRow, row, deleted_at=now())
    await delete_rows(connection, OAuthClientDocumentRow, _documents.c.oauth_client_id == row.id)
    await end_client(connection, row.id)


def check_scopes(principal: Principal, scopes: Sequence[str], loc: tuple[str, ...]) -> None:
    """Raises `Invalid` if the client would have workspace scopes that the caller's credential lacks.

    A browser session has every scope. Scopes about the user's identity, like `openid`, reach no data.
    """
    of_workspace = [scope for scope in scopes if Scope(scope) in WORKSPACE_SCOPES]
    check_reach(principal, of_workspace, "so it cannot manage a client that does", loc)
