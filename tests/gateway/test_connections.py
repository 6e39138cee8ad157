"""Clients that stall, over real sockets: each is closed in time, and no other client waits meanwhile."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.gateways import Tenant
from tests.support.live import serve
from tests.support.uploads import new_file

STALL_SECONDS = 1
# A machine may be busy: a client that is never closed is one that is open for longer than this.
LATEST = STALL_SECONDS * 10
PART = 64 * 1024

Connect = Callable[[], socket.socket]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Tenant]]:
    folder = tmp_path_factory.mktemp("live")
    url = f"sqlite+aiosqlite:///{folder}/duograph.sqlite"
    with serve(url, folder, stall_seconds=STALL_SECONDS) as running:
        yield running


@pytest.fixture
def connect(live: tuple[str, Tenant]) -> Iterator[Connect]:
    address, _ = live
    opened: list[socket.socket] = []

    def make() -> socket.socket:
        opened.append(_connected(address))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def _connected(address: str) -> socket.socket:
    host, port = urlsplit(address).netloc.split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def until_closed(connection: socket.socket, drip: bytes = b"", every: float = 0.2) -> tuple[bytes, float]:
    """The answer until the connection ends, and after how many seconds it ended; `drip` is sent meanwhile."""
    started, answered = time.monotonic(), b""
    connection.settimeout(every)
    while time.monotonic() - started < LATEST * 2:
        try:
            if drip:
                connection.sendall(drip)
            received = connection.recv(65_536)
        except TimeoutError:
            continue
        except OSError:
            break
        if not received:
            break
        answered += received
    return answered, time.monotonic() - started


def request(method: str, path: str, token: str | None = None, **headers: object) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: gateway"]
    lines += [f"Authorization: Bearer {token}"] if token else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def test_a_client_that_says_nothing_is_closed(connect: Connect) -> None:
    answered, seconds = until_closed(connect())
    assert answered == b""
    assert STALL_SECONDS * 0.9 <= seconds < LATEST


def test_headers_that_stop_are_closed(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"GET /health HTTP/1.1\r\nHost: gate")
    answered, seconds = until_closed(connection)
    assert answered.startswith(b"HTTP/1.1 408 ")
    assert STALL_SECONDS * 0.9 <= seconds < LATEST


def test_headers_that_drip_are_closed_all_the_same(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"GET /health HTTP/1.1\r\nX-Slow: ")
    answered, seconds = until_closed(connection, drip=b"x")
    assert answered.startswith(b"HTTP/1.1 408 ")
    assert seconds < LATEST


def test_headers_without_an_end_are_refused(connect: Connect) -> None:
    connection = connect()
    with suppress(OSError):
        connection.sendall(b"GET /health HTTP/1.1\r\n" + b"X-Many: x\r\n" * 100_000)
    answered, seconds = until_closed(connection)
    assert answered.startswith(b"HTTP/1.1 431 ") or answered == b""
    assert seconds < LATEST


@pytest.mark.parametrize("trailers", [b"X-Many: x\r\n" * 100_000, b"X-One: " + b"x" * 1_000_000])
def test_trailers_without_an_end_are_refused(connect: Connect, trailers: bytes) -> None:
    connection = connect()
    head = request("POST", "/graphql", Content_Type="application/json", Transfer_Encoding="chunked")
    with suppress(OSError):
        connection.sendall(head + b"2\r\n{}\r\n0\r\n" + trailers)
    answered, seconds = until_closed(connection)
    assert answered.startswith(b"HTTP/1.1 431 ") or answered == b""
    assert seconds < LATEST


def test_one_header_without_an_end_is_refused(connect: Connect) -> None:
    connection = connect()
    with suppress(OSError):
        connection.sendall(b"GET /health HTTP/1.1\r\nX-Long: " + b"x" * 1_000_000)
    _, seconds = until_closed(connection)
    assert seconds < LATEST


def test_a_second_request_that_never_begins_is_closed(connect: Connect) -> None:
    connection = connect()
    connection.sendall(request("GET", "/health"))
    assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
    connection.sendall(b"\r\n")
    _, seconds = until_closed(connection)
    assert seconds < LATEST


@pytest.mark.parametrize("drip", [b"", b" "], ids=["silent", "dripping"])
@pytest.mark.parametrize("path", ["/api/shares/", "/graphql", "/api/oauth2/token", "/sign-in"])
def test_a_body_that_stalls_is_closed(
    connect: Connect, live: tuple[str, Tenant], path: str, drip: bytes
) -> None:
    kind = "application/json" if path in {"/api/shares/", "/graphql"} else "application/x-www-form-urlencoded"
    token = live[1].token if kind == "application/json" else None
    connection = connect()
    connection.sendall(request("POST", path, token, Content_Type=kind, Content_Length=5_000) + b'{"name')
    answered, seconds = until_closed(connection, drip)
    assert answered.startswith(b"HTTP/1.1 408 ")
    assert STALL_SECONDS * 0.9 <= seconds < LATEST


def test_a_body_that_goes_on_after_its_refusal_is_closed(connect: Connect) -> None:
    connection = connect()
    connection.sendall(request("POST", "/api/shares/", Content_Length=10**9))
    answered, seconds = until_closed(connection, drip=b"x" * 65_536, every=0.05)
    assert answered.startswith(b"HTTP/1.1 401 ")
    assert seconds < LATEST


def test_stalled_clients_keep_no_other_client_waiting(tmp_path: Path) -> None:
    """Stalled clients stay for ten minutes here, and the others wait for 20 seconds at most."""
    url = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    with serve(url, tmp_path, stall_seconds=600) as (address, _), ExitStack() as opened:
        for number in range(50):
            half = request("POST", "/graphql", Content_Type="application/json", Content_Length=100)
            opened.enter_context(_connected(address)).sendall(half if number % 2 else half[:20])
        for _ in range(5):
            with _connected(address) as connection:
                connection.sendall(request("GET", "/health"))
                assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")


def test_a_slow_upload_that_goes_on_is_taken(connect: Connect, live: tuple[str, Tenant]) -> None:
    _, tenant = live
    content = b"x" * PART * 4
    data = json.dumps(new_file(content)).encode()
    creating = connect()
    creating.sendall(request("POST", "/api/files/", tenant.token, Content_Length=len(data)) + data)
    received = b""
    while b'"url"' not in received or not received.rstrip().endswith((b"}", b"0")):
        received += creating.recv(65_536)
    body = json.loads(received[received.index(b"{") : received.rindex(b"}") + 1])
    (part,) = body["upload"]["parts"]
    url = urlsplit(part["url"])
    putting = connect()
    headers = {name.replace("-", "_"): value for name, value in part["headers"].items()}
    headers = {name: value for name, value in headers.items() if name.lower() != "content_length"}
    putting.sendall(request("PUT", f"{url.path}?{url.query}", None, Content_Length=len(content), **headers))
    started = time.monotonic()
    for start in range(0, len(content), PART // 4):
        time.sleep(STALL_SECONDS * 0.15)
        putting.sendall(content[start : start + PART // 4])
    assert putting.recv(65_536).startswith(b"HTTP/1.1 200 ")
    assert time.monotonic() - started > STALL_SECONDS * 2
