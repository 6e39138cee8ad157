"""Where a client may have people sent back to: what can be declared, and what matches a declaration."""

import re
from dataclasses import dataclass

_PORT = r"(?::[0-9]{1,5})?"
_REST = r"(?P<rest>(?:[/?][A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=%]*)?)"
_HTTPS = re.compile(
    rf"(?P<origin>https://(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]){_PORT}){_REST}"
)
_LOOPBACK = re.compile(rf"(?P<host>http://(?:127\.0\.0\.1|\[::1\]|localhost)){_PORT}{_REST}")

RULE = (
    "Input should be an https address, or http on 127.0.0.1, [::1] or localhost, without a fragment, a user "
    "name or characters that need encoding"
)


@dataclass(frozen=True)
class _Loopback:
    """An address of the machine that the browser runs on, whose port is not known beforehand."""

    host: str
    rest: str


def is_redirect_uri(uri: str) -> bool:
    """Whether a client can declare it."""
    return bool(_HTTPS.fullmatch(uri)) or is_loopback(uri)


def is_loopback(uri: str) -> bool:
    """Whether it leads to the machine of the browser, where any program can listen (RFC 8252 8.3)."""
    return _loopback(uri) is not None


def matches(declared: str, asked: str) -> bool:
    """The same text; on loopback the port may differ (RFC 8252 7.3)."""
    if declared == asked:
        return True
    mine = _loopback(declared)
    return mine is not None and mine == _loopback(asked)


def form_target(uri: str) -> str:
    """The source that lets a page's form end at `uri`, for the directive `form-action`.

    Such a source cannot name an address of IPv6, so those are let through by their scheme.
    """
    match = _HTTPS.fullmatch(uri)
    origin = match["origin"] if match else "/".join(uri.split("/")[:3]).partition("?")[0]
    return origin.partition("[")[0].removesuffix("//") if "[" in origin else origin


def _loopback(uri: str) -> _Loopback | None:
    match = _LOOPBACK.fullmatch(uri)
    return _Loopback(match["host"], match["rest"]) if match else None
