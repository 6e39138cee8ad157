"""A proxy for TCP that delays, refuses and cuts connections, also in the middle of a COMMIT."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from enum import Enum, auto
from typing import Self

HOST = "127.0.0.1"
CHUNK = 64 * 1024
# How long a chunk that is delivered late waits after its connection was cut.
LATE_SECONDS = 1.5


class Cut(Enum):
    """What becomes of a chunk from the client: its connection is cut before the chunk passes, after the
    server has answered it, or at once while the chunk passes later.
    """

    BEFORE = auto()
    AFTER = auto()
    LATE = auto()


class TcpProxy:
    """Passes bytes between its clients and the server at `port`.

    `delay` is the number of seconds that each chunk waits, in both directions. `refusing` ends new
    connections at once. `choose` looks at each chunk from a client and may cut its connection.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.delay = 0.0
        self.refusing = False
        self.choose: Callable[[bytes], Cut | None] = lambda _: None

    @classmethod
    @asynccontextmanager
    async def before(cls, port: int) -> AsyncIterator[Self]:
        """A proxy before the server at this port of the machine."""
        proxy = cls(port)
        proxy._server = await asyncio.start_server(proxy._serve, HOST, 0, limit=CHUNK)
        proxy.port = proxy._server.sockets[0].getsockname()[1]
        try:
            yield proxy
        finally:
            proxy._server.close()
            proxy.cut()
            for task in list(proxy._tasks):
                task.cancel()
            await asyncio.gather(*proxy._tasks, return_exceptions=True)

    def cut(self) -> int:
        """Cut all connections; how many there were."""
        count = len(self._writers) // 2
        for writer in list(self._writers):
            writer.transport.abort()
        return count

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(OSError):
                await self._join(reader, writer)
        except asyncio.CancelledError:
            pass  # The proxy is closed; a task of `start_server` that is cancelled would be reported.
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refusing:
            return
        from_server, to_server = await asyncio.open_connection(HOST, self._target, limit=CHUNK)
        both = {writer, to_server}
        self._writers |= both
        try:
            link = _Link(self, writer, to_server)
            pumps = [asyncio.create_task(link.up(reader)), asyncio.create_task(link.down(from_server))]
            _, left = await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            if link.cut is Cut.LATE:
                await asyncio.sleep(LATE_SECONDS)
                to_server.write(link.held)
                await to_server.drain()
                await asyncio.sleep(LATE_SECONDS)
            for pump in left:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
        finally:
            self._writers -= both
            to_server.transport.abort()


class _Link:
    """One connection through the proxy: `up` passes what the client sends, `down` what the server answers."""

    def __init__(
        self, proxy: TcpProxy, to_client: asyncio.StreamWriter, to_server: asyncio.StreamWriter
    ) -> None:
        self._proxy, self._to_client, self._to_server = proxy, to_client, to_server
        self.cut: Cut | None = None
        self.held = b""

    async def up(self, client: asyncio.StreamReader) -> None:
        while chunk := await client.read(CHUNK):
            await self._wait()
            self.cut = self._proxy.choose(chunk)
            if self.cut in (Cut.BEFORE, Cut.LATE):
                self.held = chunk
                self._to_client.transport.abort()
                return
            self._to_server.write(chunk)
            await self._to_server.drain()

    async def down(self, server: asyncio.StreamReader) -> None:
        while chunk := await server.read(CHUNK):
            await self._wait()
            if self.cut is Cut.AFTER:
                return
            if self.cut is None:
                self._to_client.write(chunk)
                await self._to_client.drain()

    async def _wait(self) -> None:
        if self._proxy.delay:
            await asyncio.sleep(self._proxy.delay)
