"""Ports that a test needs to know before a program listens there, or again after the program has ended."""

import os
import socket
from itertools import count

HOST = "127.0.0.1"
# The kernel gives the ports from 32,768 on to whoever asks for any: one of these would be gone meanwhile.
_FIRST, _FOR_EACH_PROCESS = 20_000, 500
_numbers = count()


def own_port() -> int:
    """A port that nothing listens on, and that no other process of the run is given."""
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    while True:
        port = _FIRST + process % 20 * _FOR_EACH_PROCESS + next(_numbers) % _FOR_EACH_PROCESS
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((HOST, port))
            except OSError:
                continue
            return port
