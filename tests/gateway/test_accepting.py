"""Clients that connect together, on the loop of a running gateway."""

import asyncio
import socket
import struct
from contextlib import ExitStack

import uvloop

from gateway.http.accepting import ACCEPTED_AT_ONCE, copies_of
from tests.support.measures.patience import eventually


async def accepted_in_two_turns(listener: socket.socket, clients: int) -> int:
    """How many of these clients the loop has accepted after two of its turns."""
    loop, accepted = asyncio.get_running_loop(), 0

    class Protocol(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            nonlocal accepted
            accepted += 1
            transport.close()

    servers = [await loop.create_server(Protocol, sock=each) for each in copies_of(listener)]
    with ExitStack() as stack:
        for _ in range(clients):
            stack.enter_context(socket.create_connection(listener.getsockname()))
        # A client is connected a moment before its connection can be accepted.
        eventually(lambda: waiting(listener) == clients)
        for _ in range(2):
            await asyncio.sleep(0)
    for server in servers:
        server.close()
    return accepted


def waiting(listener: socket.socket) -> int:
    """How many connections can be accepted: of a socket that listens, Linux calls them unacknowledged."""
    return int(struct.unpack_from("I", listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 64), 24)[0])


def test_clients_that_connect_together_are_accepted_together():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert uvloop.run(accepted_in_two_turns(listener, ACCEPTED_AT_ONCE)) == ACCEPTED_AT_ONCE
