"""Answers that go on for as long as the client likes: who may end them, and how they are sent."""

from typing import Any

from starlette.types import Scope, Send

from resolvers.operations.answers import Parts

# In the scope of a request whose answer is a stream: what the connection calls to have it end.
END = "duograph.end"
# In the scope of a request whose client went before the stream began.
ENDED = "duograph.ended"


async def send_parts(scope: Scope, send: Send, parts: Parts) -> None:
    """Send all parts of an answer that has begun; nothing but the headers in answer to HEAD."""
    scope[END] = parts.end
    if ENDED in scope:
        parts.end()
    try:
        if scope["method"] != "HEAD":
            async for part in parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        del scope[END]


def is_stream(scope: Any) -> bool:
    """Whether the answer to a request is such a stream."""
    return END in scope


def end_stream(scope: Any) -> None:
    """Have the answer to a request end, if it is such a stream or becomes one."""
    scope[ENDED] = True
    if END in scope:
        scope[END]()
