"""Answers that are whole before they begin, which a connection writes at once.

Uvicorn would take two messages for each, and look at every header for what none of ours has.
"""

from typing import Protocol

from starlette.types import Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from gateway.http.response_headers import RawHeaders

# In the scope of a request that a server of ours reads: its connection.
CONNECTION = "duograph.connection"


class AnsweringConnection(Protocol):
    """A connection that can write a whole answer without messages."""

    def answer_at_once(self, send: Send, status: int, headers: RawHeaders, body: bytes) -> bool:
        """Write the answer to the request with this `send`; False if it has to be sent by messages."""


async def send_whole(scope: Scope, send: Send, status: int, headers: RawHeaders, body: bytes) -> None:
    """Send a whole answer, whose headers hold no line breaks and say its length."""
    connection: AnsweringConnection | None = scope.get(CONNECTION)
    if connection is None or not connection.answer_at_once(send, status, headers, body):
        await send_by_messages(send, status, headers, body)


async def send_by_messages(send: Send, status: int, headers: RawHeaders, body: bytes) -> None:
    """Send a whole answer as ASGI has it."""
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def head_of(status: int, headers: RawHeaders) -> bytes:
    """The status line and the headers as they are written."""
    return b"".join([STATUS_LINE[status], *[b"%b: %b\r\n" % header for header in headers], b"\r\n"])
