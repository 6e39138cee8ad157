"""The URLs of webhook endpoints: https, or http to the machine itself."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

RULE = (
    "Input should be an https URL, or http on 127.0.0.1, [::1] or localhost, without a fragment, a user name "
    "or characters that need encoding"
)
_URL = re.compile(
    r"https?://(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?\.?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
    r"(?:[/?][A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=%]*)?"
)


def is_endpoint(url: str) -> bool:
    """Whether changes could be sent to the URL, by its form."""
    if not _URL.fullmatch(url):
        return False
    try:
        parts = urlsplit(url)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    return has_port and (parts.scheme == "https" or is_loopback(url))


def is_loopback(url: str) -> bool:
    """Whether the URL's host is, by its name alone, the machine itself."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_plain(url: str) -> bool:
    """Whether what is sent to the URL is not encrypted."""
    return urlsplit(url).scheme == "http"
