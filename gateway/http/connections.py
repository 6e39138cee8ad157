"""Connections: whole answers are written at once, and stalled ones are closed: they tie up no resources."""

import asyncio
from functools import partial
from itertools import chain
from typing import Any

import structlog
from starlette.types import Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.http.joined_answers import JoinedAnswer
from gateway.http.response_headers import RawHeaders
from gateway.http.streamed_answers import end_stream, is_stream
from gateway.http.unsent_answers import UnsentAnswers, bytes_left
from gateway.http.whole_answers import CONNECTION, head_of

MOST_HEADER_BYTES = 64 * 1024
# A body that delivers fewer bytes than this within the patience has stalled.
LEAST_BODY_BYTES = 16 * 1024
CHECKS = 10
# How long a connection that has sent nothing stays open when the server stops: its first request may be on
# its way, and a client that has just connected cannot know that it has to connect again.
LAST_SECONDS = 2

log = structlog.get_logger()


def patient_protocol(stall_seconds: float, most_unsent_bytes: int) -> Any:
    """The value of `http` in uvicorn's configuration: `PatientProtocol` with these bounds."""
    return partial(PatientProtocol, patience=stall_seconds, unsent=UnsentAnswers(most_unsent_bytes))


class PatientProtocol(HttpToolsProtocol):
    """Uvicorn's protocol with a limit on the time it waits for the client.

    Within `patience` seconds the headers of a request must be complete, and then the next 16 KiB of its body
    or its end must arrive; otherwise the answer is 408. More than 64 KiB of headers, or of trailers and chunk
    framing, are answered with 431, and several Hosts with 400. A connection is checked ten times in
    `patience` seconds; a request itself costs nothing more. Time in which the gateway does not read is not
    counted.

    A client gets its whole answer, however slowly, as long as it receives some of it within `patience`
    seconds. What it has yet to receive of a complete answer is counted by `unsent`. An answer that is made
    while it is sent, such as a download, waits for its client for as long as that likes; a
    stream of changes is cut once its client has left no room for `patience` seconds.
    """

    def __init__(self, *args: Any, patience: float, unsent: UnsentAnswers, **options: Any) -> None:
        super().__init__(*args, **options)
        self._patience = patience
        self._unsent = unsent
        self._holds_answer = False
        # What the client had yet to receive when it last received something.
        self._left: int | None = None
        self._left_since = 0.0
        # When the client last left no room for more of its answer.
        self._full_since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._awaits_headers = True
        self._awaits_body = False
        self._header_bytes = 0
        self._body_bytes = 0
        # Bytes received since the last part of a body: trailers and chunk framing.
        self._other_bytes = 0
        self._since = 0.0
        self._is_last = False
        # When the connection began to wait for its next request; None while there is one.
        self._idle_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._answers = JoinedAnswer(transport)
        self._since = self.loop.time()
        self._check_later()

    def connection_lost(self, exc: Exception | None) -> None:
        self._let_go()
        self._unsent.release(self)
        super().connection_lost(exc)
        self._end_stream()

    def data_received(self, data: bytes) -> None:
        if not (self._awaits_headers or self._awaits_body):
            self._expect_headers()  # These bytes end uvicorn's own wait for the next request.
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
        self._idle_since = None

    def on_headers_complete(self) -> None:
        self._awaits_headers, self._awaits_body = False, True
        self._since, self._body_bytes, self._other_bytes = self.loop.time(), 0, 0
        self._header_bytes = len(self.url) + sum(map(len, chain.from_iterable(self.headers)))
        hosts = [name for name, _ in self.headers].count(b"host")
        if hosts != 1 and not (hosts == 0 and self.parser.get_http_version() == "1.0"):
            # A proxy may choose another of several than we do (RFC 9112, 3.2). The parser stops, and uvicorn
            # answers with 400.
            raise ValueError("A request has one Host.")
        if self._header_bytes <= MOST_HEADER_BYTES:
            super().on_headers_complete()
            if not self._is_cycle_of_request():
                return  # A WebSocket takes the connection over.
            self.cycle.transport = self._answers  # type: ignore[assignment]
            self.cycle.scope[CONNECTION] = self  # type: ignore[literal-required]
            if self._is_last:
                self.cycle.keep_alive = False
                self._end_stream()

    def handle_websocket_upgrade(self) -> None:
        self._let_go()
        super().handle_websocket_upgrade()
        self.parser = None  # type: ignore[assignment]

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        self._other_bytes = 0
        if self._header_bytes <= MOST_HEADER_BYTES:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._awaits_body = False
        if self._header_bytes <= MOST_HEADER_BYTES:
            super().on_message_complete()
        if self._is_cycle_of_request() and self.cycle.response_complete:
            # The rest of a body that the answer did not wait for.
            self._await_request()

    def answer_at_once(self, send: Send, status: int, headers: RawHeaders, body: bytes) -> bool:
        """Write the answer by one system call, without a message for each of its parts.

        False for what needs messages: an answer that another layer wants to see (`send` is its own), one to
        HEAD, one whose client has gone or reads slowly, and the last of a connection.
        """
        cycle, transport = self.cycle, self.transport
        is_ours = send == cycle.send and cycle.keep_alive and not cycle.response_started
        is_open = is_ours and not (cycle.disconnected or self.flow.write_paused or transport.is_closing())
        if not is_open or cycle.scope["method"] == "HEAD":
            return False
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        self._answers.write_whole(head_of(status, cycle.default_headers + headers), body)
        cycle.message_event.set()
        cycle.on_response()
        return True

    def on_response_complete(self) -> None:
        self._answers.end()
        if self.pipeline or self.transport.is_closing():
            super().on_response_complete()
        else:
            # Uvicorn would make a timer for each wait.
            self.server_state.total_requests += 1
            self.flow.resume_reading()
            self._await_request()
        if self.flow.write_paused:
            self._holds_answer = True
            # The loop keeps the whole answer until its last byte is with the system.
            self._unsent.hold(self, bytes_left(self.transport))

    def pause_writing(self) -> None:
        self._full_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._holds_answer = False
        self._unsent.release(self)
        super().resume_writing()

    def _let_go(self) -> None:
        """Leave nothing that keeps the connection in memory until the next collection."""
        for timer in (self._timer, self.timeout_keep_alive_task):
            if timer is not None:
                timer.cancel()
        if self.cycle is not None:
            self.cycle.scope.pop(CONNECTION, None)  # type: ignore[misc]

    def _is_cycle_of_request(self) -> bool:
        """Whether uvicorn answers the request that is being read; the last cycle may be of an earlier one."""
        return self.cycle is not None and self.cycle.scope is self.scope

    def _await_request(self) -> None:
        """Begin to wait for the next request: by one timer for many, as most come long before its end."""
        self._idle_since = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self._end_wait_after(self.timeout_keep_alive)

    def _unset_keepalive_if_required(self) -> None:
        self._idle_since = None

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection that sends no further request; the wait begins once the answer has left."""
        self.timeout_keep_alive_task = None
        if self._idle_since is None or self.transport.is_closing():
            return
        if self.transport.get_write_buffer_size():
            self._await_request()
            return
        left = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self._end_wait_after(left)
        else:
            self.transport.close()

    def _end_wait_after(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

    @property
    def address(self) -> str:
        """The network address of the client, or of the proxy before it."""
        return self.client[0] if self.client else ""

    def cut(self) -> None:
        """End the connection with what it holds."""
        log.info("answer not read", bytes=self.transport.get_write_buffer_size())
        self.transport.abort()

    def shutdown(self) -> None:
        """Close the connection: after the answer in progress, or a new one if it sends no request soon."""
        if self.cycle is not None:
            super().shutdown()
            self._end_stream()
            return
        self._is_last = True
        self.loop.call_later(LAST_SECONDS, self._close_unused)

    def _close_unused(self) -> None:
        if self.cycle is None:
            self.transport.close()

    def _expect_headers(self) -> None:
        self._awaits_headers, self._header_bytes = True, 0
        self._since = self.loop.time()

    def _check_later(self) -> None:
        self._timer = self.loop.call_later(self._patience / CHECKS, self._check)

    def _check(self) -> None:
        now = self.loop.time()
        if self._holds_answer or self.transport.is_closing():
            if self._does_not_receive(now):
                self.cut()
            else:
                self._check_later()
            return
        self._left = None
        if self._leaves_stream(now):
            self.cut()
        elif self._has_stalled(now):
            self._end(b"408 Request Timeout")
        else:
            self._check_later()

    def _end_stream(self) -> None:
        if self.cycle is not None:
            end_stream(self.cycle.scope)

    def _leaves_stream(self, now: float) -> bool:
        """Whether a stream has waited for its client for as long as the patience lasts."""
        is_waiting = self.flow.write_paused and self.cycle is not None and is_stream(self.cycle.scope)
        return is_waiting and now - self._full_since >= self._patience

    def _does_not_receive(self, now: float) -> bool:
        """Whether the client has received nothing for as long as the patience lasts."""
        left = bytes_left(self.transport)
        if left != self._left:
            self._left, self._left_since = left, now
        return now - self._left_since >= self._patience

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
        """Close the connection, after a status if a request has begun and has no answer yet."""
        is_begun = self._header_bytes > 0
        is_answered = self._awaits_body and self.cycle is not None and self.cycle.response_started
        self._answers.flush()
        if is_begun and not is_answered:
            self.transport.write(
                b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
        log.info("stalled", status=status.decode() if is_begun else None)
        self.transport.close()
        self._check_later()
