"""The headers of every answer, whichever part of the gateway it comes from."""

from typing import TypeAlias

from gateway.files.store import OBJECTS_PATH
from gateway.http.paths.api_paths import is_api
from rest_compat.routing.paths import PROTOCOL_PREFIX

# Names in lower case, with their values, as ASGI has them.
RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

_READS = frozenset({"GET", "HEAD"})
_PROTOCOL = f"{PROTOCOL_PREFIX}/"

# The API also accepts the session cookie, in requests from our own pages.
_VARY = (b"vary", b"Authorization, Cookie, Accept-Encoding")
_NOT_GUESSED = (b"x-content-type-options", b"nosniff")
_ONLY_HTTPS = (b"strict-transport-security", b"max-age=31536000")

NEVER_KEEP = b"no-store"
ASK_EACH_TIME = b"private, no-cache"
FOR_THE_CALLER = b"private"


class ResponseHeaders:
    """What every answer has that says nothing else: `X-Content-Type-Options`; `Strict-Transport-Security` if
    the pages are served over https (`secure`); `Vary` on the API's paths; and `Cache-Control`.

    A client may cache what it reads from the API if it revalidates it by its ETag each time. Answers to
    changes may contain secrets that are shown once, so they are never cached; nor are paths without a rule.
    """

    def __init__(self, *, secure: bool) -> None:
        self._always = [_NOT_GUESSED, _ONLY_HTTPS] if secure else [_NOT_GUESSED]

    def of(self, method: str, path: str) -> RawHeaders:
        """The headers of an answer to this method at this path or template."""
        headers = [*self._always, (b"cache-control", _keeping(method, path))]
        return [*headers, _VARY] if is_api(path) else headers


def completed(own: RawHeaders, of_request: RawHeaders, of_place: RawHeaders) -> RawHeaders:
    """The headers of an answer: `own` give way to those of the request, such as its id, but not to those of
    its place, of which only `Vary` is added to them.
    """
    replaced = {name for name, _ in of_request}
    headers = [header for header in own if header[0] not in replaced] + of_request
    names = {name for name, _ in headers}
    return headers + [header for header in of_place if header is _VARY or header[0] not in names]


def _keeping(method: str, path: str) -> bytes:
    if method not in _READS or path.startswith(_PROTOCOL):
        return NEVER_KEEP
    if path == OBJECTS_PATH:
        return FOR_THE_CALLER
    return ASK_EACH_TIME if is_api(path) else NEVER_KEEP
