"""Public answers of the application behind the front: contracts, styles and scripts, sent compressed."""

from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

from resolvers.operations.http.compression import LEAST_BYTES, kept_compressed
from schema.kit.base import entity_tag

# Larger ones are no texts of ours.
MOST_BYTES = 8 * 1024 * 1024
_TEXTS = ("text/css", "text/javascript", "application/javascript", "application/json", "application/graphql")
_PICTURES = "image/svg+xml"


class PublicAnswer:
    """Holds an answer until it is whole, and sends it in this encoding."""

    def __init__(self, start: Message, encoding: str, send: Send) -> None:
        self._start = start
        self._encoding = encoding
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
            tag = headers.get("etag") or entity_tag(body)
            body = await kept_compressed(tag, body, self._encoding)
            headers["content-length"] = str(len(body))
            headers["content-encoding"] = self._encoding
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": body})


def held(start: Message, encoding: str | None, send: Send) -> PublicAnswer | None:
    """The answer that begins so, if it is to be compressed; `Vary` says that it may be."""
    headers = MutableHeaders(raw=start["headers"])
    if not _is_public_text(start["status"], headers):
        return None
    headers.add_vary_header("Accept-Encoding")
    return None if encoding is None else PublicAnswer(start, encoding, send)


def _is_public_text(status: Any, headers: MutableHeaders) -> bool:
    kind = headers.get("content-type", "")
    is_text = kind.startswith((*_TEXTS, _PICTURES))
    is_kept = "public" in headers.get("cache-control", "")
    return status == 200 and is_text and is_kept and LEAST_BYTES <= _length(headers) <= MOST_BYTES


def _length(headers: MutableHeaders) -> int:
    return int(headers.get("content-length", "0"))
