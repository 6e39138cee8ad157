"""Documents that clients send by hash: automatic persisted queries, as Apollo's clients send them.

A client sends `extensions.persistedQuery.sha256Hash` without the document. Where the hash is unknown, it gets
`PersistedQueryNotFound` and repeats the request with the document, which is kept from then on.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, TypeAlias
from uuid import UUID

from oauth.principals import Principal
from resolvers.graph.http.allow_lists import registered_text
from resolvers.operations.context import Context
from schema.errors import DocumentNotRegistered, Invalid, PersistedQueryNotFound, problem
from storage.caches import SharedCache
from storage.enums import DocumentMode

BYTES_OF_TEXTS = 8 * 1024 * 1024
BYTES_OF_AN_OWNER = BYTES_OF_TEXTS // 8
LONGEST_KEPT = 64 * 1024
# More than measured with tracemalloc: the keys, the entry and, with one document, the owner's own cache.
BYTES_OF_AN_ENTRY = 1_000
_HASH = re.compile(r"[0-9a-f]{64}")
_PLACE = ("extensions", "persistedQuery")

Owner: TypeAlias = UUID | None

# By owner: no caller learns which documents another one sends, nor sees their names in errors.
_texts: SharedCache[UUID, str, str] = SharedCache(BYTES_OF_TEXTS, BYTES_OF_AN_OWNER)


def kept_bytes() -> int:
    """The memory that kept documents take, as estimated."""
    return _texts.size


def owner_of(principal: Principal | None) -> Owner:
    """Who shares kept documents: a customer's sessions, the other callers of a workspace, or a user's.

    None for callers without a credential, whose documents are not kept.
    """
    if principal is None:
        return None
    return principal.customer_id or principal.workspace_id or principal.user_id


def hash_in(extensions: Mapping[str, Any]) -> str | None:
    """The hash that the client sent. Raises `Invalid`."""
    sent = extensions.get("persistedQuery")
    if sent is None:
        return None
    if not isinstance(sent, dict):
        raise Invalid([problem(_PLACE, "`persistedQuery` should be an object or null", "type")])
    version = sent.get("version", 1)
    if version != 1 or isinstance(version, bool):
        raise Invalid([problem((*_PLACE, "version"), "`version` should be 1", "version")])
    digest = sent.get("sha256Hash")
    if digest is None:
        return None
    if not isinstance(digest, str) or not _HASH.fullmatch(digest):
        message = "`sha256Hash` should be the document's SHA-256: 64 hexadecimal digits in lower case"
        raise Invalid([problem((*_PLACE, "sha256Hash"), message, "hash")])
    return digest


async def text_of(ctx: Context, owner: Owner, digest: str) -> str:
    """The document with this hash that the owner sent, or that the OAuth client registered.

    Raises `PersistedQueryNotFound`, or `DocumentNotRegistered` if sending the document would not help.
    """
    await ctx.caller.confirm()
    text = None if owner is None else _texts.get(owner, digest)
    allowed = None if ctx.caller.principal is None else ctx.caller.principal.allow_list
    if text is None and allowed is not None:
        text = await registered_text(ctx.services, allowed, digest)
        if text is None and allowed.mode is DocumentMode.ENFORCE:
            ctx.services.document_counts.add(allowed.oauth_client_id, digest)
            raise DocumentNotRegistered
    if text is None:
        raise PersistedQueryNotFound
    return text


async def keep_text(ctx: Context, owner: Owner, digest: str, text: str) -> None:
    """Keep a document that was sent with its hash. Raises `Invalid` if it has another one."""
    await ctx.caller.confirm()
    encoded = text.encode("utf-8", "surrogatepass")
    if sha256(encoded).hexdigest() != digest:
        raise Invalid(
            [
                problem(
                    (*_PLACE, "sha256Hash"),
                    "`sha256Hash` should be the SHA-256 of the document: it has another one",
                    "hash",
                )
            ]
        )
    if owner is not None and len(encoded) <= LONGEST_KEPT:
        _texts.keep(owner, digest, text, BYTES_OF_AN_ENTRY + 4 * len(text))
