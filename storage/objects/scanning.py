"""Asks ClamAV's daemon about the content of files, by its protocol INSTREAM."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

PATIENCE_SECONDS = 120
SCANS_AT_A_TIME = 4
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

    async def scan(self, content: AsyncIterator[bytes]) -> str | None:
        """The name of the malware in the content; None if the scanner knows none.

        Raises `ScannerUnavailable` and `TooLargeToScan`.
        """
        async with self._turns, self._connected() as (reader, writer):
            # It may answer and hang up before it has all.
            answering = asyncio.ensure_future(reader.readuntil(_END))
            try:
                writer.write(b"zINSTREAM\0")
                with suppress(ConnectionError):
                    async for chunk in content:
                        if answering.done():
                            break
                        writer.write(len(chunk).to_bytes(4) + chunk)
                        async with asyncio.timeout(PATIENCE_SECONDS):
                            await writer.drain()
                    writer.write(bytes(4))
                async with asyncio.timeout(PATIENCE_SECONDS):
                    answer = (await answering).rstrip(_END).decode("utf-8", "replace")
            finally:
                answering.cancel()
                if isinstance(content, AsyncGenerator):
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
        async with self._connected() as (reader, writer), asyncio.timeout(PATIENCE_SECONDS):
            writer.write(b"zPING\0")
            if await reader.readuntil(_END) != b"PONG\0":
                raise ScannerUnavailable("another answer than PONG")

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                if self._address.scheme == "unix":
                    reader, writer = await asyncio.open_unix_connection(self._address.path)
                else:
                    reader, writer = await asyncio.open_connection(self._address.hostname, self._address.port)
            try:
                yield reader, writer
            finally:
                writer.close()
        except (OSError, asyncio.IncompleteReadError) as error:  # A timeout is an OSError.
            raise ScannerUnavailable(str(error) or type(error).__name__) from error
