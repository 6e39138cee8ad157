"""Operations on the GraphQL documents of OAuth clients."""

from hashlib import sha256
from uuid import UUID

from graphql import DocumentNode, FieldNode, OperationDefinitionNode, parse
from sqlalchemy import func, select

from oauth.scopes import Scope
from resolvers.credentials.access_tokens import KINDS
from resolvers.credentials.oauth_clients import check_scopes
from resolvers.credentials.shapes import OAUTH_CLIENT_DOCUMENT
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.filters import any_of
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import get_for_update, get_visible
from resolvers.operations.rows.reading import read_page
from resolvers.operations.shapes.shaped import as_model, shaped
from schema.credentials.oauth_client_documents import (
    OAuthClientDocument,
    OAuthClientDocumentQuery,
    OAuthClientDocumentsCreate,
    OAuthClientDocumentSorting,
    OAuthClientDocumentsRegistered,
)
from schema.errors import Invalid, problem
from schema.kit.pages import Page
from storage.engine.connections import Connection
from storage.rows.rows import Values, delete_rows, every, insert_rows, table_of, update_row
from storage.tables.credentials.oauth_client_documents import OAuthClientDocumentRow
from storage.tables.credentials.oauth_clients import OAuthClientRow

MOST_REGISTERED = 1_000
MOST_ROOT_FIELDS = 60
_table = table_of(OAuthClientDocumentRow)
LISTING = Listing(
    OAuthClientDocumentRow,
    OAuthClientDocumentSorting,
    default="created_at",
    query=OAuthClientDocumentQuery,
    filters={name: any_of(_table.c[name]) for name in ("oauth_client_id", "hash", "is_registered")},
)


@requires(Scope.OAUTH_CLIENTS_READ, kinds=KINDS)
async def list_oauth_client_documents(
    ctx: Context, filters: OAuthClientDocumentQuery
) -> Page[OAuthClientDocument]:
    """Lists the GraphQL documents of OAuth clients: those that are registered, and those that clients sent
    although they are not, while their `document_mode` was `report` or `enforce`.

    A user sees the documents of their own clients, and of those of workspaces that they own. The list has the
    500 documents of each client that were not registered and sent last, for 90 days.
    """
    return await read_page(ctx, LISTING, OAUTH_CLIENT_DOCUMENT, filters)


@requires(Scope.OAUTH_CLIENTS_WRITE, kinds=KINDS, owners_only=True, causes=())
async def register_oauth_client_documents(
    ctx: Context, id: UUID, data: OAuthClientDocumentsCreate
) -> OAuthClientDocumentsRegistered:
    """Registers GraphQL documents that an OAuth client may send, at most 1,000 for each client.

    From then on the client may also send only their hashes, as `extensions.persistedQuery`.
    """
    client = await get_for_update(ctx, OAuthClientRow, id=id)
    check_scopes(ctx.principal, client.scopes, ("id",))
    rows: dict[str, Values] = {}
    hashes = []
    for document in data.documents:
        hash = sha256(document.text.encode()).hexdigest()
        roots = root_fields(parse(document.text))
        rows[hash] = {"text": document.text, "name": document.name, "root_fields": roots}
        hashes.append(hash)
    registered = await _register(ctx.connection, client.id, rows)
    await _check_number(ctx.connection, client.id)
    await _renew_version(ctx.connection, client)
    answers = [shaped(ctx.services, OAUTH_CLIENT_DOCUMENT, registered[hash]) for hash in hashes]
    return OAuthClientDocumentsRegistered(data=[as_model(answer) for answer in answers])


@requires(Scope.OAUTH_CLIENTS_WRITE, kinds=KINDS, owners_only=True, causes=())
async def delete_oauth_client_document(ctx: Context, id: UUID) -> UUID:
    """Removes a document from those of its OAuth client. One that is sent again is listed again."""
    row = await get_visible(ctx, OAuthClientDocumentRow, id=id)
    client = await get_for_update(ctx, OAuthClientRow, id=row.oauth_client_id)
    await delete_rows(ctx.connection, OAuthClientDocumentRow, _table.c.id == id)
    await _renew_version(ctx.connection, client)
    return id


def root_fields(document: DocumentNode) -> list[str]:
    """The names of the fields that a document's operations select from the root, without fragments."""
    operations = (node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    nodes = (node for operation in operations for node in operation.selection_set.selections)
    names = {node.name.value for node in nodes if isinstance(node, FieldNode)}
    return sorted(names)[:MOST_ROOT_FIELDS]


async def _register(
    connection: Connection, oauth_client_id: UUID, rows: dict[str, Values]
) -> dict[str, OAuthClientDocumentRow]:
    """The registered documents by hash; one that was listed as not registered keeps its counts."""
    own = _table.c.oauth_client_id == oauth_client_id
    known = await every(connection, OAuthClientDocumentRow, own, _table.c.hash.in_(rows))
    registered = {
        row.hash: await update_row(
            connection, OAuthClientDocumentRow, row, is_registered=True, **rows[row.hash]
        )
        for row in known
    }
    new = [
        {"oauth_client_id": oauth_client_id, "hash": hash, "is_registered": True, **values}
        for hash, values in rows.items()
        if hash not in registered
    ]
    return registered | {row.hash: row for row in await insert_rows(connection, OAuthClientDocumentRow, new)}


async def _check_number(connection: Connection, oauth_client_id: UUID) -> None:
    own = (_table.c.oauth_client_id == oauth_client_id) & _table.c.is_registered
    number = (await connection.execute(select(func.count()).select_from(_table).where(own))).scalar_one()
    if number > MOST_REGISTERED:
        message = f"An OAuth client has at most {MOST_REGISTERED} documents, and with these {number}"
        raise Invalid([problem(("data", "documents"), message, "too_many_documents")])


async def _renew_version(connection: Connection, client: OAuthClientRow) -> None:
    version = client.documents_version + 1
    await update_row(
        connection, OAuthClientRow, client, documents_version=version, modified_at=client.modified_at
    )
