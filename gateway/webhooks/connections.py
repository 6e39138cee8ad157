"""Connections to receivers: names are resolved once, every address is checked, and connections are kept."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from gateway.webhooks.addresses import Address, Network, is_allowed
from gateway.webhooks.answers import Answer, Failed, Lost, ReceiverConnection
from gateway.webhooks.names import Names

# The addresses of a host and port. Raises `OSError`.
Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]
MOST_KEPT = 100
# A receiver's own limit may be anything: one that closes first costs the attempt a new connection.
SECONDS_KEPT = 15
# To one address of several: a network that swallows packets leaves time for the others.
SECONDS_TO_CONNECT = 3


class Unresolved(Failed):
    """The name of the host has no address."""

    code = "dns"


class Blocked(Failed):
    """An address of the host is not public."""

    code = "blocked"


class Untrusted(Failed):
    """TLS failed: the certificate is not one for the name, for instance."""

    code = "tls"


class Place(NamedTuple):
    """Where a URL leads: the host without brackets, and `target`, its path and query."""

    is_https: bool
    host: str
    port: int
    netloc: str
    target: str


@lru_cache(1_000)
def place_of(url: str) -> Place:
    """The parts of an endpoint's URL, which was validated."""
    parts = urlsplit(url)
    is_https = parts.scheme == "https"
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    port = parts.port or (443 if is_https else 80)
    return Place(is_https, parts.hostname or "", port, parts.netloc, target)


class Connections:
    """Connects to addresses that were checked, never to a name that is resolved again.

    TLS is verified for the name by the system's authorities, or by `context`; names are looked up by the
    system's resolver, or by `resolve`.
    """

    def __init__(
        self,
        allowed: Sequence[Network],
        resolve: Resolve | None = None,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._allowed = allowed
        self._resolve = resolve or Names().addresses
        self._context = context
        self._kept: list[ReceiverConnection] = []

    async def ask(self, url: str, request: bytes) -> Answer:
        """Send a request and read the answer. Raises `Failed`; who waits bounds the time."""
        place = place_of(url)
        kept = next((each for each in reversed(self._kept) if each.origin == place[:3]), None)
        if kept is not None:
            kept.take()
            # The receiver may have closed it at the same moment.
            with suppress(Lost):
                return await self._ask(kept, request)
        return await self._ask(await self._connect(place), request)

    def close(self) -> None:
        """Close all connections."""
        for each in list(self._kept):
            each.close()

    async def _ask(self, connection: ReceiverConnection, request: bytes) -> Answer:
        try:
            answer = await connection.ask(request)
        except BaseException:
            connection.close()
            raise
        if connection.is_open and len(self._kept) < MOST_KEPT:
            connection.keep(SECONDS_KEPT, self._kept)
        else:
            connection.close()
        return answer

    async def _connect(self, place: Place) -> ReceiverConnection:
        try:
            addresses = await self._resolve(place.host, place.port)
        except (OSError, UnicodeError) as error:
            raise Unresolved from error
        if not addresses:
            raise Unresolved
        # One that is not public is enough: which of them is connected to must not be left to chance.
        if not all(is_allowed(address, self._allowed) for address in addresses):
            raise Blocked
        for address in addresses:
            with suppress(OSError):
                async with asyncio.timeout(None if address == addresses[-1] else SECONDS_TO_CONNECT):
                    connected = await _connected(address, place.port)
                return await self._speak(place, connected)
        raise Failed

    async def _speak(self, place: Place, connected: socket.socket) -> ReceiverConnection:
        context, name = None, None
        if place.is_https:
            # The authorities take time to read, and most processes of tests and commands send nothing.
            context, name = self._context or ssl.create_default_context(), place.host
            self._context = context
        try:
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: ReceiverConnection(place[:3]), sock=connected, ssl=context, server_hostname=name
            )
        except (OSError, ValueError) as error:
            connected.close()
            raise (Untrusted if place.is_https else Failed) from error
        except BaseException:
            connected.close()
            raise
        return connection


async def _connected(address: Address, port: int) -> socket.socket:
    """A socket that is connected to the address. Raises `OSError`."""
    made = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)
    made.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(made, (str(address), port))
    except BaseException:
        made.close()
        raise
    return made
