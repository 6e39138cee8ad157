"""Accepting connections: many at once."""

import socket

# Each costs a system call at every new connection.
ACCEPTED_AT_ONCE = 8


def copies_of(listener: socket.socket) -> list[socket.socket]:
    """A listening socket, several times: in a turn of its loop, uvloop accepts one connection from each.

    Under load a turn answers a request of every client. From one socket, the last of 32 clients that connect
    together would wait for 32 turns.
    """
    return [listener, *(listener.dup() for _ in range(ACCEPTED_AT_ONCE - 1))]
