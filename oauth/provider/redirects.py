"""Redirect addresses: which ones a client can register, and which ones match a registered one."""

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
    """An address of the browser's own machine; its port is chosen at run time."""

    host: str
    rest: str


def is_redirect_uri(uri: str) -> bool:
    """Whether a client can register the address."""
    return bool(_HTTPS.fullmatch(uri)) or is_loopback(uri)


def is_loopback(uri: str) -> bool:
    """Whether the address is on the browser's own machine, where any program can listen (RFC 8252 8.3)."""
    return _loopback(uri) is not None


def matches(registered: str, requested: str) -> bool:
    """Whether the addresses are equal; on loopback the port may differ (RFC 8252 7.3)."""
    if registered == requested:
        return True
    loopback = _loopback(registered)
    return loopback is not None and loopback == _loopback(requested)


def form_target(uri: str) -> str:
    """The source for `form-action` that lets a page's form redirect to `uri`.

    Such a source cannot contain an IPv6 address; its scheme is allowed instead.
    """
    match = _HTTPS.fullmatch(uri)
    origin = match["origin"] if match else "/".join(uri.split("/")[:3]).partition("?")[0]
    return origin.partition("[")[0].removesuffix("//") if "[" in origin else origin


def _loopback(uri: str) -> _Loopback | None:
    match = _LOOPBACK.fullmatch(uri)
    return _Loopback(match["host"], match["rest"]) if match else None
