"""How answers arrive at a socket: head and body at once, and a head without a body as soon as it is there."""

import asyncio
import gc
import socket
import threading
from collections.abc import Iterator
from typing import Any
from unittest.mock import call, create_autospec

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from gateway.http.connections import patient_protocol
from gateway.http.joined_answers import JoinedAnswer
from gateway.http.whole_answers import send_whole
from tests.support.measures.patience import PATIENCE_SECONDS

ENOUGH = 65_536


async def small(_: Any, send: Any) -> None:
    await start(send, (b"content-length", b"5"))
    await send({"type": "http.response.body", "body": b"whole"})


async def chunked(_: Any, send: Any) -> None:
    await start(send)
    for part in (b"one", b"two"):
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body"})


async def late(receive: Any, send: Any) -> None:
    """The body comes only once the client has sent the rest of its own."""
    await start(send, (b"content-length", b"4"))
    while (await receive())["more_body"]:
        pass
    await send({"type": "http.response.body", "body": b"late"})


async def empty(_: Any, send: Any) -> None:
    await start(send, status=204)
    await send({"type": "http.response.body"})


async def large(_: Any, send: Any) -> None:
    await start(send, (b"content-length", b"8000000"))
    for _ in range(8):
        await send({"type": "http.response.body", "body": b"x" * 1_000_000, "more_body": True})
    await send({"type": "http.response.body"})


async def broken(_: Any, send: Any) -> None:
    await start(send, (b"content-length", b"5"))
    raise ValueError


async def echo(receive: Any, send: Any) -> None:
    message = await receive()
    await start(send, (b"content-length", b"%d" % len(message["body"])))
    await send({"type": "http.response.body", "body": message["body"]})


async def start(send: Any, *headers: tuple[bytes, bytes], status: int = 200) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})


ANSWERS = {f"/{answer.__name__}": answer for answer in (small, chunked, late, empty, large, broken, echo)}


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["path"] == "/whole":
        await send_whole(scope, send, 200, [(b"content-length", b"5")], b"whole")
    elif scope["path"] == "/seen":
        await send_whole(scope, seen_by_a_layer(send), 200, [(b"content-length", b"5")], b"whole")
    else:
        await ANSWERS[scope["path"]](receive, send)


def seen_by_a_layer(send: Any) -> Any:
    async def add_header(message: Any) -> None:
        if message["type"] == "http.response.start":
            message["headers"].append((b"seen", b"yes"))
        await send(message)

    return add_header


@pytest.fixture(scope="module", params=["uvloop", "asyncio"])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    protocol = patient_protocol(60, 100_000_000)
    options = {"lifespan": "off", "log_config": None, "server_header": False, "date_header": False}
    server = uvicorn.Server(uvicorn.Config(app, http=protocol, loop=request.param, **options))
    thread = threading.Thread(target=lambda: asyncio_run(server, listener), daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join()


def asyncio_run(server: uvicorn.Server, listener: socket.socket) -> None:
    with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(server.serve(sockets=[listener]))


@pytest.fixture
def connection(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        yield connection


def ask(path: str, *headers: str, method: str = "GET") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


def read_until(connection: socket.socket, end: bytes) -> bytes:
    received = b""
    while not received.endswith(end):
        part = connection.recv(ENOUGH)
        assert part, received
        received += part
    return received


def read_all(connection: socket.socket) -> bytes:
    received = b""
    while part := connection.recv(ENOUGH):
        received += part
    return received


def test_head_and_body_arrive_together(connection: socket.socket) -> None:
    for _ in range(3):
        connection.sendall(ask("/small"))
        assert connection.recv(ENOUGH) == b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwhole"


def test_a_whole_answer_is_the_same_at_once_and_by_messages(connection: socket.socket) -> None:
    whole, head = (
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwhole",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n",
    )
    for _ in range(2):
        connection.sendall(ask("/whole"))
        assert connection.recv(ENOUGH) == whole
    connection.sendall(ask("/seen"))
    assert connection.recv(ENOUGH) == head + b"seen: yes\r\n\r\nwhole"
    connection.sendall(ask("/whole", method="HEAD") + ask("/whole") + ask("/small") + ask("/whole"))
    assert read_until(connection, whole * 3) == head + b"\r\n" + whole * 3
    connection.sendall(ask("/whole", "Connection: close"))
    assert read_all(connection) == head + b"connection: close\r\n\r\nwhole"


@pytest.mark.parametrize("path", ["/small", "/whole"])
@pytest.mark.long
def test_a_request_is_gone_once_it_is_answered(connection: socket.socket, path: str) -> None:
    gc.collect()
    gc.disable()
    try:
        before = len(requests_in_memory())
        for _ in range(10):
            connection.sendall(ask(path))
            connection.recv(ENOUGH)
        # The connection holds its last one.
        assert len(requests_in_memory()) <= before + 1
    finally:
        gc.enable()


def requests_in_memory() -> list[Any]:
    return [each for each in gc.get_objects() if isinstance(each, RequestResponseCycle)]


def test_an_empty_body_is_no_part_of_what_is_written() -> None:
    transport = create_autospec(asyncio.Transport, instance=True)
    answers = JoinedAnswer(transport)
    answers.write_whole(b"head", b"")
    answers.write_whole(b"head", b"body")
    assert transport.mock_calls == [call.write(b"head"), call.writelines((b"head", b"body"))]


def test_a_body_in_parts_is_whole(connection: socket.socket) -> None:
    connection.sendall(ask("/chunked"))
    expected = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"
    assert read_until(connection, b"0\r\n\r\n") == expected


def test_a_head_does_not_wait_for_a_late_body(connection: socket.socket) -> None:
    connection.sendall(ask("/late", "Content-Length: 2", method="POST") + b"a")
    assert connection.recv(ENOUGH) == b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n"
    connection.sendall(b"b")
    assert connection.recv(ENOUGH) == b"late"


@pytest.mark.parametrize(("method", "path"), [("HEAD", "/small"), ("GET", "/empty")])
def test_a_head_without_a_body_is_sent(connection: socket.socket, method: str, path: str) -> None:
    for _ in range(2):
        connection.sendall(ask(path, method=method))
        assert read_until(connection, b"\r\n\r\n").startswith(b"HTTP/1.1 20")


def test_a_connection_that_is_to_be_closed_is_closed_after_its_answer(connection: socket.socket) -> None:
    connection.sendall(ask("/small", "Connection: close", method="HEAD"))
    assert read_all(connection) == b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\n"


def test_an_answer_that_breaks_off_has_its_head(connection: socket.socket) -> None:
    connection.sendall(ask("/broken"))
    assert read_all(connection) == b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"


def test_a_client_that_waits_to_be_told_to_continue_is_told(connection: socket.socket) -> None:
    connection.sendall(ask("/echo", "Content-Length: 2", "Expect: 100-continue", method="POST"))
    assert connection.recv(ENOUGH) == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.sendall(b"hi")
    assert connection.recv(ENOUGH) == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"


def test_requests_sent_at_once_are_answered_in_order(connection: socket.socket) -> None:
    connection.sendall(ask("/small", method="HEAD") + ask("/chunked") + ask("/empty") + ask("/small"))
    received = read_until(connection, b"whole")
    assert received.count(b"HTTP/1.1 ") == 4
    assert [part[:3] for part in received.split(b"HTTP/1.1 ")[1:]] == [b"200", b"200", b"204", b"200"]


def test_a_large_body_arrives_whole_at_a_client_that_reads_late(connection: socket.socket) -> None:
    connection.sendall(ask("/large", "Connection: close"))
    head, _, body = read_all(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK")
    assert body == b"x" * 8_000_000
