"""Answers that clients receive slowly: what is left of each, and how much a process holds of all."""

import asyncio
import fcntl
import struct
import termios
from collections import Counter
from contextlib import suppress
from typing import Protocol

MEBIBYTE = 1024 * 1024


class Reader(Protocol):
    """A connection that still holds a part of an answer."""

    @property
    def address(self) -> str:
        """The network address of the client."""

    def cut(self) -> None:
        """End the connection with what it holds."""


class UnsentAnswers:
    """What the connections of a process hold of answers that are complete, at most `most_bytes` together.

    Beyond that, connections of the address that holds most are cut, the one that has held its answer longest
    first. The newest answer stays, so that one which is larger than all that may be held is still sent.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._held: dict[Reader, int] = {}
        self.total_bytes = 0

    def hold(self, reader: Reader, size: int) -> None:
        """Count `size` bytes for this connection, instead of what was counted."""
        self.release(reader)
        self._held[reader] = size
        self.total_bytes += size
        while self.total_bytes > self._most_bytes and (slowest := self._slowest(reader)) is not None:
            self.release(slowest)
            slowest.cut()

    def release(self, reader: Reader) -> None:
        """Stop counting what the connection holds, if anything is counted."""
        self.total_bytes -= self._held.pop(reader, 0)

    def _slowest(self, newest: Reader) -> Reader | None:
        """The connection to be cut next; None if there is only the newest."""
        by_address: Counter[str] = Counter()
        for reader, size in self._held.items():
            by_address[reader.address] += size
        for address, _ in by_address.most_common():
            for reader in self._held:
                if reader.address == address and reader is not newest:
                    return reader
        return None


def bytes_left(transport: asyncio.Transport) -> int:
    """How many bytes the client has yet to receive: ours and, where the system tells, its own."""
    left = transport.get_write_buffer_size()
    with suppress(OSError, AttributeError, ValueError):
        # Linux keeps megabytes for a client, and takes no more of ours until a third of them is sent.
        answered = fcntl.ioctl(transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, bytes(4))
        left += struct.unpack("i", answered)[0]
    return left
