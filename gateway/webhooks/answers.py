"""One connection to a receiver, and its answers: as much of them as an attempt keeps."""

import asyncio
from typing import NamedTuple

import httptools

LARGEST_ANSWER = 4 * 1024
# Of an answer with its headers, before a receiver is taken for one that does not speak HTTP.
LARGEST_READ = 128 * 1024


class Failed(Exception):
    """The receiver was not reached; `code` says why, in the words of an attempt."""

    code = "refused"


class Lost(Failed):
    """The connection was closed before an answer began."""


class Answer(NamedTuple):
    """An answer; `content` is the beginning of its body."""

    status: int
    headers: list[tuple[bytes, bytes]]
    content: bytes


class ReceiverConnection(asyncio.Protocol):
    """Sends one request at a time to an `origin`. `is_open` says whether another one can be sent."""

    def __init__(self, origin: tuple[object, ...]) -> None:
        self.origin = origin
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Future[Answer] | None = None
        self._kept: list[ReceiverConnection] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._content, self._read, self._status = bytearray(), 0, 0
        self.is_open = True

    async def ask(self, request: bytes) -> Answer:
        """The answer to a request. Raises `Failed`, and `Lost` if not even a part of one came."""
        self._headers, self._content, self._read, self._status = [], bytearray(), 0, 0
        self._parser = httptools.HttpResponseParser(self)
        self._waiting = self._loop.create_future()
        if self._transport.is_closing():
            raise Lost
        self._transport.write(request)
        return await self._waiting

    def keep(self, seconds: float, kept: "list[ReceiverConnection]") -> None:
        """Close after so long, unless it is taken; then, or when it is lost, it leaves `kept`."""
        self._kept, self._timer = kept, self._loop.call_later(seconds, self.close)
        kept.append(self)

    def take(self) -> None:
        """Use it again."""
        if self._kept is not None and self._timer is not None:
            self._timer.cancel()
            self._kept.remove(self)
            self._kept = self._timer = None

    def close(self) -> None:
        self.is_open = False
        self.take()
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        if self._is_answered:
            self.close()
            return
        self._read += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail(Failed())
        if self._read > LARGEST_READ:
            self._fail(Failed())

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        self.take()
        if self._read_to_end:
            self._finish()
        self._fail(Failed() if self._read else Lost())

    # What the parser calls.

    def on_message_begin(self) -> None:
        # Not an answer to what was asked, if there was one.
        self.is_open = self.is_open and not self._is_answered
        self._headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._status = self._parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        self._content += body
        if len(self._content) >= LARGEST_ANSWER:
            self.is_open = False
            self._finish()

    def on_message_complete(self) -> None:
        if self._status < 200:
            # The answer follows.
            return
        self.is_open = self.is_open and self._parser.should_keep_alive()
        self._finish()

    @property
    def _read_to_end(self) -> bool:
        """Whether the end of the connection is the end of the answer."""
        names = {name.lower() for name, _ in self._headers}
        return self._status >= 200 and names.isdisjoint({b"content-length", b"transfer-encoding"})

    @property
    def _is_answered(self) -> bool:
        return self._waiting is None or self._waiting.done()

    def _finish(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(
                Answer(self._status, self._headers, bytes(self._content[:LARGEST_ANSWER]))
            )

    def _fail(self, failure: Failed) -> None:
        if self._waiting is not None and not self._waiting.done():
            self.is_open = False
            self._waiting.set_exception(failure)
