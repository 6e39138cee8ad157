"""A receiver of webhooks that takes as little of the processor as it can, in a thread of the benchmark."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from time import monotonic

import orjson

# The path whose requests get no answer.
HANGING = "/hanging"
_ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"


class Arrivals:
    """The moment at which the webhook of each resource arrived first, by path and by the resource's id.

    `hanging` are the requests that wait for an answer which never comes.
    """

    def __init__(self) -> None:
        self.address, self.hanging = "", 0
        self.moments: defaultdict[str, dict[str, float]] = defaultdict(dict)


class _Connection(asyncio.Protocol):
    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals, self._buffer, self._hangs = arrivals, b"", False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, rest = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(None, 1)[0])
        if len(rest) < length:
            return
        self._buffer = rest[length:]
        path = head.split(None, 2)[1].decode()
        id = orjson.loads(rest[:length])["data"]["id"]
        self._arrivals.moments[path].setdefault(id, monotonic())
        if path != HANGING:
            self._transport.write(_ANSWER)  # type: ignore[attr-defined]
        else:
            self._hangs = True
            self._arrivals.hanging += 1

    def connection_lost(self, error: Exception | None) -> None:
        self._arrivals.hanging -= self._hangs


@contextmanager
def receiving() -> Iterator[Arrivals]:
    """A receiver at its `address`, which answers at once but for one path."""
    arrivals, loop = Arrivals(), asyncio.new_event_loop()
    server = loop.run_until_complete(loop.create_server(lambda: _Connection(arrivals), "127.0.0.1", 0))
    arrivals.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield arrivals
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    server.close()
