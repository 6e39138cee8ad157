"""Clients that receive their answers slowly, over sockets: each gets all of it, and holds little memory."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
import uvicorn

from gateway.http import connections
from gateway.http.connections import patient_protocol
from gateway.http.unsent_answers import UnsentAnswers
from gateway.http.whole_answers import send_whole
from tests.support.measures.moved_loop import MovedLoop
from tests.support.measures.patience import PATIENCE_SECONDS, eventually

# Only the clock of the server's loop reaches it, which the tests move on.
STALL_SECONDS = 600
STEP_SECONDS = STALL_SECONDS / 20
SIZE = 16_000_000
MOST_BYTES = 3 * SIZE
READ_IN_A_STEP = SIZE // 60
REQUEST = b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n"

Connect = Callable[..., socket.socket]


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers `/whole` at once, and `/parts` as its client receives them."""
    if scope["path"] == "/short":
        await send_whole(scope, send, 200, [(b"content-length", b"5")], b"short")
        return
    length = (b"content-length", b"%d" % SIZE)
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    parts = 1 if scope["path"] == "/whole" else 16
    for left in reversed(range(parts)):
        part = b"x" * (SIZE // parts)
        await send({"type": "http.response.body", "body": part, "more_body": left > 0})


class Served:
    """A server in a thread of its own, and the clock of its loop."""

    def __init__(self) -> None:
        self.clock = MovedLoop()
        protocol = patient_protocol(STALL_SECONDS, MOST_BYTES)
        options: Any = {"lifespan": "off", "log_config": None}
        self.server = uvicorn.Server(uvicorn.Config(app, http=protocol, **options))
        self.listener = socket.create_server(("127.0.0.1", 0))

    @property
    def connections(self) -> int:
        return len(self.server.server_state.connections)

    @contextmanager
    def running(self) -> Iterator["Served"]:
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        yield self
        self.server.force_exit = self.server.should_exit = True
        thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self.clock) as runner:
            runner.run(self.server.serve(sockets=[self.listener]))


@pytest.fixture
def served() -> Iterator[Served]:
    with Served().running() as served:
        yield served


@pytest.fixture
def connect(served: Served) -> Iterator[Connect]:
    opened: list[socket.socket] = []

    def make(path: bytes, address: str = "127.0.0.1") -> socket.socket:
        """A connection that has asked for an answer, of which the system keeps little for it."""
        connection = socket.socket()
        opened.append(connection)
        connection.settimeout(PATIENCE_SECONDS)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        connection.bind((address, 0))
        connection.connect(served.listener.getsockname())
        connection.sendall(REQUEST % path)
        # The answer has begun, so all that is sent at once is with the server.
        assert connection.recv(5, socket.MSG_PEEK) == b"HTTP/"
        return connection

    yield make
    for each in opened:
        each.close()


def received(connection: socket.socket, most: int = 2 * SIZE) -> int:
    """How many bytes have come, up to `most`, or until the connection ended."""
    count = 0
    with suppress(ConnectionError):
        while count < most and (part := connection.recv(min(65_536, most - count))):
            count += len(part)
    return count


def received_until(connection: socket.socket, end: bytes) -> None:
    answer = b""
    while not answer.endswith(end):
        part = connection.recv(65_536)
        assert part, answer
        answer += part


@pytest.mark.parametrize("path", [b"whole", b"parts"])
def test_a_client_that_receives_slowly_gets_its_whole_answer(
    served: Served, connect: Connect, path: bytes
) -> None:
    connection, count = connect(path), 0
    # In all, three times as long as a client that receives nothing may take.
    while count < SIZE:
        served.clock.advance(STEP_SECONDS)
        part = received(connection, READ_IN_A_STEP)
        assert part, f"The connection ended after {count} bytes."
        count += part


def test_a_client_that_receives_nothing_is_cut_off_in_time(served: Served, connect: Connect) -> None:
    connection, passed = connect(b"whole"), 0.0
    while served.connections:
        served.clock.advance(STEP_SECONDS)
        passed += STEP_SECONDS
    assert passed >= STALL_SECONDS * 0.9
    assert received(connection) < SIZE


def test_a_connection_is_closed_when_its_last_answer_was_long_ago(served: Served, connect: Connect) -> None:
    # Only the clock of the test ends such a wait.
    wait = served.server.config.timeout_keep_alive = STALL_SECONDS // 2
    connection = connect(b"short")
    received_until(connection, b"short")
    for _ in range(4):
        # Each wait is short, and together they are longer than one may be.
        served.clock.advance(wait * 0.6)
        connection.sendall(REQUEST % b"short")
        received_until(connection, b"short")
    passed = 0.0
    while served.connections:
        served.clock.advance(wait / 10)
        passed += wait / 10
    assert passed >= wait * 0.9
    assert connection.recv(1) == b""


def test_a_client_that_stops_in_the_middle_is_cut_off(served: Served, connect: Connect) -> None:
    connection = connect(b"whole")
    received(connection, SIZE // 3)
    while served.connections:
        served.clock.advance(STEP_SECONDS)
    assert received(connection) < SIZE


def test_a_client_that_goes_on_asking_without_receiving_is_cut_off(served: Served, connect: Connect) -> None:
    connection = connect(b"whole")
    while served.connections:
        with suppress(OSError):
            connection.sendall(REQUEST % b"whole")
        served.clock.advance(STEP_SECONDS)


def test_a_download_that_is_paused_goes_on_later(served: Served, connect: Connect) -> None:
    connection = connect(b"parts")
    for _ in range(100):
        served.clock.advance(STEP_SECONDS)
    assert received(connection, SIZE) == SIZE


def test_another_request_may_follow_a_slow_answer(served: Served, connect: Connect) -> None:
    connection = connect(b"whole")
    head = len(connection.recv(1_024, socket.MSG_PEEK).partition(b"\r\n\r\n")[0]) + 4
    for _ in range(5):
        served.clock.advance(STEP_SECONDS)
        received(connection, SIZE // 10)
    received(connection, head + SIZE - 5 * (SIZE // 10))
    connection.sendall(REQUEST % b"whole")
    assert received(connection, head + SIZE) == head + SIZE


def test_many_clients_that_receive_nothing_hold_no_more_than_the_bound(
    served: Served, connect: Connect
) -> None:
    slow = connect(b"whole", "127.0.0.2")
    greedy = [connect(b"whole") for _ in range(10)]
    # Only so many answers fit, and the client at another address keeps its own, although it is older.
    eventually(lambda: served.connections <= MOST_BYTES // SIZE)
    assert received(slow, SIZE) == SIZE
    assert received(greedy[-1], SIZE) == SIZE
    assert received(greedy[0], SIZE) < SIZE


def test_a_server_that_stops_waits_a_moment_for_the_first_request_of_a_connection(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A moment that only the clock of the test ends, before the connection counts as stalled.
    moment = STALL_SECONDS / 2
    monkeypatch.setattr(connections, "LAST_SECONDS", moment)
    place = served.listener.getsockname()
    with (
        socket.create_connection(place, PATIENCE_SECONDS) as silent,
        socket.create_connection(place, PATIENCE_SECONDS) as late,
    ):
        eventually(lambda: served.connections == 2)
        served.server.should_exit = True
        eventually(lambda: served.listener.fileno() == -1)
        late.sendall(REQUEST % b"short")
        received_until(late, b"short")
        assert late.recv(1) == b""
        assert served.connections == 1
        served.clock.advance(moment)
        assert silent.recv(1) == b""


class Held:
    """A connection that holds an answer."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.is_cut = False

    def cut(self) -> None:
        self.is_cut = True


def test_the_newest_answer_stays_whatever_its_size() -> None:
    unsent, older, newest = UnsentAnswers(100), Held("192.0.2.1"), Held("192.0.2.2")
    unsent.hold(older, 20)
    # Its address holds most, and nothing else.
    unsent.hold(newest, 90)
    assert (older.is_cut, newest.is_cut, unsent.total_bytes) == (True, False, 90)
    unsent.hold(newest, 500)
    assert (newest.is_cut, unsent.total_bytes) == (False, 500)
