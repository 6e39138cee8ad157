"""The headers of every answer, whichever part of the gateway it comes from."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.files.store import OBJECTS_PATH
from gateway.http.api_paths import is_api
from rest_compat.paths import PROTOCOL_PREFIX

_READS = frozenset({"GET", "HEAD"})
_PROTOCOL = f"{PROTOCOL_PREFIX}/"

# The API also accepts the session cookie, in requests from our own pages.
_VARY = (b"vary", b"Authorization, Cookie")
_NOT_GUESSED = (b"x-content-type-options", b"nosniff")
_ONLY_HTTPS = (b"strict-transport-security", b"max-age=31536000")

NEVER_KEEP = b"no-store"
ASK_EACH_TIME = b"private, no-cache"
FOR_THE_CALLER = b"private"


class ResponseHeadersMiddleware:
    """The outermost middleware. Adds `X-Content-Type-Options`; `Strict-Transport-Security` if the pages are
    served over https (`secure`); `Vary` on the API's paths; and `Cache-Control` if the answer has none.

    A client may cache what it reads from the API if it revalidates it by its ETag each time. Answers to
    changes may contain secrets that are shown once, so they are never cached; nor are paths without a rule.
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
