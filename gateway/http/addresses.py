"""The client's address, read through trusted proxies. Requests without a credential are charged to it."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

from starlette.types import Scope

from resolvers.operations.http.sent_headers import SentHeaders

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

UNKNOWN_ADDRESS = "address:unknown"
CLIENT_PREFIX_LENGTH = 64
_FORWARDED_FOR = b"x-forwarded-for"
# The subjects of this many pairs of peer and short header are kept.
MOST_KEPT, LONGEST_KEPT = 1024, 200


class ClientAddresses:
    """The rate limit's subject of each request that has no credential."""

    def __init__(self, trusted: tuple[Network, ...]) -> None:
        self._trusted = trusted
        self._kept: dict[tuple[str | None, bytes], str] = {}

    def of(self, scope: Scope, headers: SentHeaders) -> str:
        """The subject of a request; see `client_subject`."""
        peer = scope["client"][0] if scope.get("client") else None
        forwarded = b""
        if _FORWARDED_FOR in headers:
            forwarded = b",".join([value for name, value in scope["headers"] if name == _FORWARDED_FOR])
        subject = self._kept.get((peer, forwarded))
        if subject is None:
            subject = client_subject(peer, [forwarded.decode("latin-1")], self._trusted)
            if len(forwarded) <= LONGEST_KEPT:
                if len(self._kept) >= MOST_KEPT:
                    self._kept.clear()
                self._kept[peer, forwarded] = subject
        return subject


def client_subject(peer: str | None, forwarded_for: list[str], trusted: tuple[Network, ...]) -> str:
    """The rate limit's subject: `address:203.0.113.7` or, for IPv6, the network `address:2001:db8:1:2::/64`.

    `forwarded_for` has the values of the `X-Forwarded-For` headers in the order received. They are read from
    the right for as long as the current address is a trusted proxy's, so entries that a client adds further
    left are never read; an entry that is not an address ends the search. A peer without an address (a Unix
    socket) is `address:unknown`. Never raises.
    """
    address = _parse_address(peer or "")
    if address is None:
        return UNKNOWN_ADDRESS
    entries = [entry for entry in ",".join(forwarded_for).split(",") if entry.strip()]
    while entries and _is_trusted(address, trusted):
        forwarded = _parse_address(entries.pop())
        if forwarded is None:
            break
        address = forwarded
    if isinstance(address, IPv6Address):
        return f"address:{IPv6Network((int(address), CLIENT_PREFIX_LENGTH), strict=False)}"
    return f"address:{address}"


def _is_trusted(address: Address, trusted: tuple[Network, ...]) -> bool:
    return any(address in network for network in trusted)


def _parse_address(entry: str) -> Address | None:
    """The address in `1.2.3.4`, `1.2.3.4:5678`, `::1`, `[::1]` or `[::1]:80`, quoted or not; else None."""
    text = entry.strip().strip('"')
    host, separator, port = text, "", ""
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or not (rest == "" or rest.startswith(":")):
            return None
        separator, port = rest[:1], rest[1:]
    elif text.count(":") == 1:
        host, separator, port = text.partition(":")
    if separator and not (port.isascii() and port.isdigit()):
        return None
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address
