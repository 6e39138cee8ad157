"""The headers that every answer has, whichever part of the gateway made it."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.files.store import OBJECTS_PATH
from gateway.http.api_paths import is_api
from rest_compat.paths import PROTOCOL_PREFIX

_READS = frozenset({"GET", "HEAD"})
_PROTOCOL = f"{PROTOCOL_PREFIX}/"

# A cookie counts for the API where a page of ours asks.
_VARY = (b"vary", b"Authorization, Cookie")
_NOT_GUESSED = (b"x-content-type-options", b"nosniff")
_ONLY_HTTPS = (b"strict-transport-security", b"max-age=31536000")

NEVER_KEEP = b"no-store"
ASK_EACH_TIME = b"private, no-cache"
FOR_THE_CALLER = b"private"


class ResponseHeadersMiddleware:
    """Outermost. Adds `X-Content-Type-Options`; `Strict-Transport-Security` where the pages are at https,
    `secure`; `Vary` below /api and at /graphql; and `Cache-Control` where the answer's maker set none.

    What is read from the API may be kept by its reader, who asks each time whether its ETag still holds. The
    answers to changes hold secrets that are shown once, so none of them is kept, nor is what nobody named.
    """

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self._app = app
        self._always = (_NOT_GUESSED, _ONLY_HTTPS) if secure else (_NOT_GUESSED,)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_completed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = self._completed(scope, list(message["headers"]))
            await send(message)

        await self._app(scope, receive, send_completed)

    def _completed(self, scope: Scope, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        names = {name for name, _ in headers}
        headers += [header for header in self._always if header[0] not in names]
        if b"cache-control" not in names:
            headers.append((b"cache-control", _keeping(scope)))
        if is_api(scope["path"]):
            headers.append(_VARY)
        return headers


def _keeping(scope: Scope) -> bytes:
    path: str = scope["path"]
    if scope["method"] not in _READS or path.startswith(_PROTOCOL):
        return NEVER_KEEP
    if path == OBJECTS_PATH:
        return FOR_THE_CALLER
    return ASK_EACH_TIME if is_api(path) else NEVER_KEEP
