"""Links that open an app: URLs with a scheme of its own, like `myapp://callback`."""

import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from schema.values.scalars import check_syntax, check_url

MOST_SCHEMES = 20
# Schemes that run code, read what a browser holds, or open something else than an app of the workspace's.
_NOT_OF_APPS = frozenset(
    {
        "about",
        "blob",
        "brave",
        "content",
        "data",
        "file",
        "filesystem",
        "firefox",
        "ftp",
        "hcp",
        "http",
        "https",
        "intent",
        "its",
        "jar",
        "javascript",
        "jnlp",
        "ldap",
        "ldaps",
        "livescript",
        "mailto",
        "mhtml",
        "mk",
        "nfs",
        "res",
        "resource",
        "search",
        "search-ms",
        "sftp",
        "shell",
        "smb",
        "sms",
        "ssh",
        "tel",
        "telnet",
        "vbscript",
        "view-source",
        "ws",
        "wss",
    }
)
_OF_BROWSERS_OR_SYSTEMS = (
    "brave-",
    "chrome",
    "edge",
    "firefox-",
    "googlechrome",
    "microsoft-",
    "moz",
    "ms-",
    "opera",
    "safari",
    "vivaldi",
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_LINK = re.compile(rf"{_SCHEME.pattern}[!-~]+")


def _lower(value: Any) -> Any:
    # `lower` makes an ASCII letter of the Kelvin sign.
    return value.lower() if isinstance(value, str) and value.isascii() else value


def _is_of_an_app(scheme: str) -> bool:
    return len(scheme) > 1 and scheme not in _NOT_OF_APPS and not scheme.startswith(_OF_BROWSERS_OR_SYSTEMS)


def _check_scheme(scheme: str) -> str:
    if not _is_of_an_app(scheme):
        raise PydanticCustomError("reserved", "This scheme is not one of an app; choose the app's own")
    return scheme


AppScheme = Annotated[
    str,
    Field(
        min_length=2,
        max_length=64,
        pattern=r"^[a-z][a-z0-9+.-]*$",
        json_schema_extra={"pattern": r"^[A-Za-z][A-Za-z0-9+.-]*$"},
    ),
    BeforeValidator(_lower),
    AfterValidator(_check_scheme),
]


def _unique(schemes: list[str]) -> list[str]:
    """The schemes in their order, each once."""
    return list(dict.fromkeys(schemes))


AppSchemes = Annotated[list[AppScheme], Field(max_length=MOST_SCHEMES), AfterValidator(_unique)]


def scheme_of(url: str) -> str:
    """The URL's scheme in lower case; empty without one."""
    found = _SCHEME.match(url)
    return found[1].lower() if found else ""


def opens_an_app(url: str) -> bool:
    """Whether the URL can be one of an app; the workspace must allow its scheme too."""
    return _LINK.fullmatch(url) is not None and _is_of_an_app(scheme_of(url))


def may_return_to(url: str, schemes: Sequence[str] | None) -> bool:
    """Whether a workspace that allows the schemes lets its portal lead to the URL."""
    return scheme_of(url) in ("http", "https", *(schemes or ()))


def _check_return_url(url: str) -> str:
    """The URL as sent, of the web or of an app."""
    return check_syntax(url) if opens_an_app(url) else check_url(url)


ReturnUrl = Annotated[
    str,
    Field(min_length=1, max_length=2083, json_schema_extra={"format": "uri"}),
    AfterValidator(_check_return_url),
]
