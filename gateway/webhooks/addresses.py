"""The network addresses to which webhooks may be sent: public ones, and those that an operator allows."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Forms of IPv6 that stand for an address of IPv4: mapped, compatible, translated (RFC 6052, RFC 8215),
# 6to4 and Teredo.
_TRANSLATED = tuple(
    IPv6Network(text)
    for text in ("::ffff:0:0/96", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")
)


def parse_address(text: str) -> Address:
    """The address as the resolver wrote it, without its scope."""
    return ip_address(text.partition("%")[0])


def is_allowed(address: Address, allowed: Sequence[Network] = ()) -> bool:
    """Whether webhooks may be sent to the address."""
    if any(address in network for network in allowed if network.version == address.version):
        return True
    is_translated = isinstance(address, IPv6Address) and (
        address.is_site_local or any(address in network for network in _TRANSLATED)
    )
    return address.is_global and not address.is_multicast and not is_translated
