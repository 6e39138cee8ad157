"""Ports that a test needs to know before a program listens there, or again after the program has ended."""

import fcntl
import os
import socket
from itertools import count
from pathlib import Path
from tempfile import gettempdir
from typing import IO

HOST = "127.0.0.1"
# The kernel gives the ports from 32,768 on to whoever asks for any: one of these would be gone meanwhile.
_FIRST, _FOR_EACH_PROCESS = 20_000, 500
_numbers = count()
# Held until this process ends.
_locks: list[IO[str]] = []


def own_port() -> int:
    """A port that nothing listens on, and that no other process of any run of this user is given."""
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    for _ in range(_FOR_EACH_PROCESS):
        port = _FIRST + process % 20 * _FOR_EACH_PROCESS + next(_numbers) % _FOR_EACH_PROCESS
        if _is_ours(port) and _is_free(port):
            return port
    raise RuntimeError(f"None of {_FOR_EACH_PROCESS} ports is free.")


def _is_ours(port: int) -> bool:
    """Whether no process of a run beside this one was given the port."""
    lock = (Path(gettempdir()) / f"duograph-tests-{os.getuid()}-{port}.lock").open("a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return False
    _locks.append(lock)
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError:
            return False
    return True
