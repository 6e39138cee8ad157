"""Connections to receivers: names are resolved once, and every address that they have is checked."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from socket import SOCK_STREAM
from typing import Any

import httpcore

from gateway.webhooks.addresses import Address, Network, is_allowed, parse_address

# The addresses of a host and port. Raises `OSError`.
Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]
MOST_KEPT = 100
# A receiver's own limit may be anything: one that closes first costs the attempt a new connection.
SECONDS_KEPT = 15


class Failed(Exception):
    """The receiver was not reached; `code` says why, in the words of an attempt."""

    code = "refused"


class Unresolved(Failed):
    """The name of the host has no address."""

    code = "dns"


class Blocked(Failed):
    """An address of the host is not public."""

    code = "blocked"


class Untrusted(Failed):
    """TLS failed: the certificate is not one for the name, for instance."""

    code = "tls"


async def resolve(host: str, port: int) -> Sequence[Address]:
    """The addresses of the host by the system's resolver, which reads decimal and octal forms too."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
    return list(dict.fromkeys(parse_address(str(entry[4][0])) for entry in found))


class _Stream(httpcore.AsyncNetworkStream):
    """A stream whose failure to speak TLS has a name of its own."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        try:
            return await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except (httpcore.ConnectError, ssl.SSLError) as error:
            raise Untrusted from error

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Connects to an address that was checked, never to a name that is resolved again."""

    def __init__(self, allowed: Sequence[Network], resolve: Resolve = resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            addresses = await self._resolve(host.strip("[]"), port)
        except (OSError, UnicodeError) as error:
            raise Unresolved from error
        if not addresses:
            raise Unresolved
        # One that is not public is enough: which of them is connected to must not be left to chance.
        if not all(is_allowed(address, self._allowed) for address in addresses):
            raise Blocked
        failure: Exception = Failed()
        for address in addresses:
            try:
                stream = await self._network.connect_tcp(str(address), port, timeout)
            except (httpcore.ConnectError, OSError) as error:
                failure = error
            else:
                return _Stream(stream)
        raise Failed from failure

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def make_pool(
    allowed: Sequence[Network], resolve: Resolve = resolve, context: ssl.SSLContext | None = None
) -> httpcore.AsyncConnectionPool:
    """Kept connections to receivers. TLS is verified for the name by the system's authorities."""
    return httpcore.AsyncConnectionPool(
        ssl_context=context or ssl.create_default_context(),
        # Those that deliver bound it: an attempt that waited for a place here would not be made in time.
        max_connections=None,
        max_keepalive_connections=MOST_KEPT,
        keepalive_expiry=SECONDS_KEPT,
        network_backend=CheckedNetwork(allowed, resolve),
    )
