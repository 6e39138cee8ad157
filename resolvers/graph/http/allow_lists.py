"""Allow-lists: the documents that an OAuth client registered, compared with those that it sends."""

from uuid import UUID

from sqlalchemy import bindparam, select

from oauth.principals import AllowList, Principal
from resolvers.credentials.oauth_client_documents import root_fields
from resolvers.graph.survey.documents import Documents
from resolvers.operations.context import Services
from schema.errors import DocumentNotRegistered
from storage.caches import Cache
from storage.engine.statements.kept import Kept
from storage.enums import DocumentMode
from storage.rows.rows import table_of
from storage.tables.credentials.oauth_client_documents import OAuthClientDocumentRow
from storage.usage.document_counts import Count

BYTES_OF_LISTS = 4 * 1024 * 1024
# Measured with tracemalloc: a hash with its place in a set, and a list with its key.
BYTES_OF_A_HASH, BYTES_OF_A_LIST = 200, 600

_table = table_of(OAuthClientDocumentRow)
_OF_CLIENT = _table.c.oauth_client_id == bindparam("oauth_client_id", type_=_table.c.oauth_client_id.type)
_HASHES = Kept(select(_table.c.hash).where(_OF_CLIENT, _table.c.is_registered))
_TEXT = Kept(
    select(_table.c.text).where(_OF_CLIENT, _table.c.is_registered, _table.c.hash == bindparam("hash"))
)

# By the client and the version of its list, which authentication reads at each request.
_lists: Cache[tuple[UUID, int], frozenset[str]] = Cache(BYTES_OF_LISTS)


def kept_bytes() -> int:
    """The memory that kept lists take, as estimated."""
    return _lists.size


async def registered_text(services: Services, allowed: AllowList, digest: str) -> str | None:
    """The document with this hash, if the client registered it."""
    if digest not in await _hashes(services, allowed):
        return None
    values = {"oauth_client_id": allowed.oauth_client_id, "hash": digest}
    rows = await services.database.fetch(_TEXT, values)
    return rows[0][0] if rows else None


async def check_document(services: Services, allowed: AllowList, digest: str) -> Count | None:
    """Count the document with this hash; the count of one that is not registered, or None.

    Raises `DocumentNotRegistered` if the client may not send it.
    """
    is_registered = digest in await _hashes(services, allowed)
    count = services.document_counts.add(allowed.oauth_client_id, digest)
    if is_registered:
        return None
    if allowed.mode is DocumentMode.ENFORCE:
        raise DocumentNotRegistered
    return count


async def check_again(services: Services, digest: str, principal: Principal) -> None:
    """Raises `DocumentNotRegistered` if the caller may send the document with this hash no longer."""
    allowed = principal.allow_list
    if allowed is None or allowed.mode is not DocumentMode.ENFORCE:
        return
    if digest not in await _hashes(services, allowed):
        raise DocumentNotRegistered


def name_roots(count: Count, documents: Documents, text: str) -> None:
    """Note which root fields a counted document has, if it was valid: its names are then the schema's."""
    if count.root_fields is None and (document := documents.like(text)) is not None:
        count.root_fields = root_fields(document)


async def _hashes(services: Services, allowed: AllowList) -> frozenset[str]:
    key = (allowed.oauth_client_id, allowed.version)
    hashes = _lists.get(key)
    if hashes is None:
        rows = await services.database.fetch(_HASHES, {"oauth_client_id": allowed.oauth_client_id})
        hashes = frozenset(row[0] for row in rows)
        _lists.keep(key, hashes, BYTES_OF_A_LIST + BYTES_OF_A_HASH * len(hashes))
    return hashes
