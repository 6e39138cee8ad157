"""Answers of the application behind the front that are sent compressed: pages, and what is public.

Pages say by `Vary: Accept-Encoding` that they may be; contracts, styles, scripts and guides by being public.
"""

from collections.abc import Awaitable, Callable

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

from resolvers.operations.http.compression import (
    LEAST_BYTES,
    compressed,
    encoding_for,
    kept_compressed,
    private_encoding_for,
)
from resolvers.operations.http.sent_headers import SentHeaders
from schema.kit.base import entity_tag

# Larger ones are no texts of ours.
MOST_BYTES = 8 * 1024 * 1024
_PAGE = "text/html"
_TEXTS = (
    *(_PAGE, "text/css", "text/javascript", "image/svg+xml"),
    *("application/javascript", "application/json", "application/graphql"),
)
_ENCODING = "Accept-Encoding"

Compress = Callable[[MutableHeaders, bytes, str], Awaitable[bytes]]


class HeldAnswer:
    """Holds an answer until it is whole, and sends it in this encoding."""

    def __init__(self, start: Message, encoding: str, compress: Compress, send: Send) -> None:
        self._start = start
        self._encoding = encoding
        self._compress = compress
        self._send = send
        self._chunks: list[bytes] = []

    async def add(self, message: Message) -> None:
        """Take the next part of the body."""
        self._chunks.append(message.get("body", b""))
        if message.get("more_body"):
            return
        body, headers = b"".join(self._chunks), MutableHeaders(raw=self._start["headers"])
        # An answer to HEAD has none.
        if body:
            body = await self._compress(headers, body, self._encoding)
            headers["content-length"] = str(len(body))
            headers["content-encoding"] = self._encoding
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": body})


def held(start: Message, sent: SentHeaders, send: Send) -> HeldAnswer | None:
    """The answer to a request with these headers that begins so, if it is to be compressed."""
    compress: Compress
    headers = MutableHeaders(raw=start["headers"])
    kind = headers.get("content-type", "")
    if (
        start["status"] != 200
        or not LEAST_BYTES <= _length(headers) <= MOST_BYTES
        or not kind.startswith(_TEXTS)
    ):
        return None
    if "public" in headers.get("cache-control", ""):
        headers.add_vary_header(_ENCODING)
        encoding, compress = encoding_for(sent), _keep
    elif kind.startswith(_PAGE) and _ENCODING in headers.get("vary", ""):
        encoding, compress = private_encoding_for(sent), _anew
    else:
        return None
    return None if encoding is None else HeldAnswer(start, encoding, compress, send)


async def _keep(headers: MutableHeaders, body: bytes, encoding: str) -> bytes:
    return await kept_compressed(headers.get("etag") or entity_tag(body), body, encoding)


async def _anew(_: MutableHeaders, body: bytes, encoding: str) -> bytes:
    return await compressed(body, encoding)


def _length(headers: MutableHeaders) -> int:
    return int(headers.get("content-length", "0"))
