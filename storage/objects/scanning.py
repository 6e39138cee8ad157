"""Asks ClamAV's daemon about the content of files, by its protocol INSTREAM."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

PATIENCE_SECONDS = 120
SCANS_AT_A_TIME = 4
MOST_OF_ANSWER = 4096
_END = b"\0"


class ScannerUnavailable(Exception):
    """The scanner does not answer, or failed; a later scan may succeed."""


class TooLargeToScan(Exception):
    """The content has more bytes than the scanner takes (`StreamMaxLength`)."""


class Scanner:
    """Clamd at `tcp://HOST:PORT` or `unix:///PATH`; a process has four scans at a time, others wait."""

    def __init__(self, address: str) -> None:
        self._address = urlsplit(address)
        self._turns = asyncio.Semaphore(SCANS_AT_A_TIME)

    async def scan(self, content: AsyncGenerator[bytes, None]) -> str | None:
        """The name of the malware in the content; None if the scanner knows none.

        Raises `ScannerUnavailable` and `TooLargeToScan`.
        """
        async with self._turns, self._connected() as connection:
            # It may answer and hang up before it has all.
            answering = asyncio.ensure_future(_answer(connection))
            try:
                with suppress(ConnectionError):
                    await _send(connection, b"zINSTREAM\0")
                    async for chunk in content:
                        if answering.done():
                            break
                        await _send(connection, len(chunk).to_bytes(4) + chunk)
                    await _send(connection, bytes(4))
                async with asyncio.timeout(PATIENCE_SECONDS):
                    answer = (await answering).decode("utf-8", "replace")
            finally:
                answering.cancel()
                await asyncio.gather(answering, return_exceptions=True)
                await content.aclose()
        if "size limit exceeded" in answer:
            raise TooLargeToScan
        if answer.endswith(" FOUND"):
            return answer.removeprefix("stream: ").removesuffix(" FOUND")
        if answer != "stream: OK":
            raise ScannerUnavailable(answer)
        return None

    async def check(self) -> None:
        """Raises `ScannerUnavailable` unless it answers."""
        async with self._connected() as connection, asyncio.timeout(PATIENCE_SECONDS):
            await _send(connection, b"zPING\0")
            if await _answer(connection) != b"PONG":
                raise ScannerUnavailable("another answer than PONG")

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[socket.socket]:
        try:
            with await self._opened() as connection:
                yield connection
        except OSError as error:  # A timeout is an OSError.
            raise ScannerUnavailable(str(error) or type(error).__name__) from error

    async def _opened(self) -> socket.socket:
        async with asyncio.timeout(PATIENCE_SECONDS):
            if self._address.scheme == "unix":
                return await _connected_to(socket.AF_UNIX, self._address.path)
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(
                self._address.hostname, self._address.port, type=socket.SOCK_STREAM
            )
            for family, _, _, _, address in found[:-1]:
                with suppress(OSError):
                    return await _connected_to(family, address)
            return await _connected_to(found[-1][0], found[-1][4])


async def _connected_to(family: int, address: Any) -> socket.socket:
    connection = socket.socket(family)
    try:
        connection.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connection, address)
    except BaseException:
        connection.close()
        raise
    return connection


# Not through a transport: one whose peer hung up while it was written to drops the answer that came before.
async def _send(connection: socket.socket, data: bytes) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.get_running_loop().sock_sendall(connection, data)


async def _answer(connection: socket.socket) -> bytes:
    """What comes before the zero that ends an answer; an `OSError` if it does not come, or is too long."""
    answer = b""
    while _END not in answer:
        received = await asyncio.get_running_loop().sock_recv(connection, MOST_OF_ANSWER)
        answer += received
        if not received or len(answer) > MOST_OF_ANSWER:
            raise ConnectionError("no whole answer")
    return answer.partition(_END)[0]
