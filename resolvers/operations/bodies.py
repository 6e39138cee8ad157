"""Request bodies: read up to a limit, and parsed as strict JSON."""

from codecs import BOM_UTF8
from math import inf
from typing import Any

from pydantic_core import from_json
from starlette.requests import ClientDisconnect, Request

from resolvers.operations.declaration import LARGEST_BODY
from resolvers.operations.http.sent_headers import sent_header, sent_headers
from schema.errors import Invalid, TooLarge, UnsupportedMediaType, problem

# Python refuses to read integers of more than 4,300 digits; no body needs more than 20.
LONGEST_LENGTH = 20
_PLAIN = frozenset({"", "identity"})


async def read_body(request: Request, largest: int = LARGEST_BODY, announced: float | None = None) -> bytes:
    """The whole body; `announced` is what `announced_length` says, if the caller knows it.

    Raises `TooLarge` for more than `largest` bytes, if announced without reading any; `UnsupportedMediaType`
    for a compressed body; and Starlette's `ClientDisconnect`.
    """
    _check_encoding(request)
    if (announced_length(request) if announced is None else announced) > largest:
        raise body_too_large(largest)
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > largest:
            raise body_too_large(largest)
        if not message.get("more_body"):
            return b"".join((*chunks, chunk)) if chunks else chunk
        chunks.append(chunk)


def _check_encoding(request: Request) -> None:
    """Raises `UnsupportedMediaType` for a compressed body: a short one could hold gigabytes."""
    if b"content-encoding" not in sent_headers(request.scope):
        return
    if (sent_header(request, b"content-encoding") or "").strip().lower() not in _PLAIN:
        message = "Send the body without `Content-Encoding`: compressed bodies are not read."
        raise UnsupportedMediaType(message, {"Accept-Encoding": "identity"})


def announced_length(request: Request) -> float:
    """The body's size in bytes according to `Content-Length`; 0 without one."""
    announced = sent_headers(request.scope).get(b"content-length", b"")
    if not announced.isdigit():
        return 0
    return int(announced) if len(announced) <= LONGEST_LENGTH else inf


def body_too_large(largest: int) -> TooLarge:
    """The refusal of a body with more than `largest` bytes."""
    return TooLarge(f"The body is larger than {largest} bytes, the limit here.")


def parse_json(body: bytes) -> Any:
    """JSON as RFC 8259 defines it: UTF-8, no NaN, no lone surrogates; a byte order mark is ignored.

    Raises `Invalid`.
    """
    try:
        return from_json(body.removeprefix(BOM_UTF8), allow_inf_nan=False)
    except ValueError as error:
        raise Invalid([problem(("data",), f"The body should be JSON: {error}", "json_invalid")]) from None
