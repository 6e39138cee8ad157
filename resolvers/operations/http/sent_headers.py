"""Headers of a request, without the objects that Starlette would make for them."""

from collections.abc import Mapping, MutableMapping
from typing import Any, TypeAlias

from starlette.requests import Request

# The first value of each header by its name in lower case.
SentHeaders: TypeAlias = Mapping[bytes, bytes]

_KEPT = "duograph.sent_headers"


def sent_headers(scope: MutableMapping[str, Any]) -> SentHeaders:
    """The headers of a request, read once and kept in its scope."""
    sent: SentHeaders | None = scope.get(_KEPT)
    if sent is None:
        # Read backwards, so that the first of several headers stays.
        sent = scope[_KEPT] = dict(reversed(scope["headers"]))
    return sent


def sent_header(request: Request, name: bytes) -> str | None:
    """The first value of the header with this name in lower case; None if it was not sent."""
    value = sent_headers(request.scope).get(name)
    return None if value is None else value.decode("latin-1")


def sent_list(request: Request, name: bytes) -> str | None:
    """The values of a header that is a list, which may be sent on several lines; None if it was not sent."""
    if name not in sent_headers(request.scope):
        return None
    return ", ".join([value.decode("latin-1") for sent, value in request.scope["headers"] if sent == name])
