"""Closes stalled connections, so that silent clients hold no resources."""

import asyncio
from functools import partial
from typing import Any

import structlog
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEADER_BYTES = 64 * 1024
# A body with fewer bytes than this in each span of patience has stalled.
LEAST_BODY_BYTES = 16 * 1024
LOOKS = 10

log = structlog.get_logger()


def patient_protocol(stall_seconds: float) -> Any:
    """The `http` of uvicorn's configuration: `PatientProtocol` with this patience."""
    return partial(PatientProtocol, patience=stall_seconds)


class PatientProtocol(HttpToolsProtocol):
    """Uvicorn's protocol, with an end to waiting for the client.

    Within `patience` seconds the headers of a request are complete (408; 431 for more than 64 KiB of them, or
    of what follows a body), and the next 16 KiB of its body have come, or its end. A connection is looked at
    ten times in that span; nothing is added to a request. Time in which the gateway itself does not read is
    not counted.
    """

    def __init__(self, *args: Any, patience: float, **options: Any) -> None:
        super().__init__(*args, **options)
        self._patience = patience
        self._look: asyncio.TimerHandle | None = None
        self._awaits_headers = True
        self._awaits_body = False
        self._header_bytes = 0
        self._body_bytes = 0
        # Bytes since the last part of a body: trailers and chunk framing.
        self._other_bytes = 0
        self._since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not (self._awaits_headers or self._awaits_body):
            self._expect_headers()  # What comes now ends uvicorn's own wait for the next request.
        self._other_bytes += len(data)
        super().data_received(data)
        if self._awaits_headers:
            self._header_bytes += len(data)
        trailer_bytes = self._other_bytes if self._awaits_body else 0
        if max(self._header_bytes, trailer_bytes) > MOST_HEADER_BYTES:
            self._end(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect_headers()

    def on_headers_complete(self) -> None:
        self._awaits_headers, self._awaits_body = False, True
        self._since, self._body_bytes, self._other_bytes = self.loop.time(), 0, 0
        self._header_bytes = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if self._header_bytes <= MOST_HEADER_BYTES:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        self._other_bytes = 0
        if self._header_bytes <= MOST_HEADER_BYTES:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._awaits_body = False
        if self._header_bytes <= MOST_HEADER_BYTES:
            super().on_message_complete()

    def _expect_headers(self) -> None:
        self._awaits_headers, self._header_bytes = True, 0
        self._since = self.loop.time()

    def _look_later(self) -> None:
        self._look = self.loop.call_later(self._patience / LOOKS, self._look_at)

    def _look_at(self) -> None:
        if self.transport.is_closing():
            # What was to be sent before the end is not taken either.
            self.transport.abort()
            return
        now = self.loop.time()
        if self._has_stalled(now):
            self._end(b"408 Request Timeout")
        else:
            self._look_later()

    def _has_stalled(self, now: float) -> bool:
        """Whether the client has stalled; restarts the clock if it has not."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        waits = self._awaits_body or (self._awaits_headers and not is_answering)
        if waits and not self.flow.read_paused and now - self._since < self._patience:
            return False
        is_alive = is_answering and self._body_bytes >= LEAST_BODY_BYTES
        has_stalled = waits and not self.flow.read_paused and not is_alive
        self._since, self._body_bytes = now, 0
        return has_stalled

    def _end(self, status: bytes) -> None:
        """Close the connection, with a status if a request has begun and was not answered."""
        is_begun = self._header_bytes > 0
        is_answered = self._awaits_body and self.cycle is not None and self.cycle.response_started
        if is_begun and not is_answered:
            self.transport.write(
                b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
        log.info("stalled", said=status.decode() if is_begun else None)
        self.transport.close()
        self._look_later()
