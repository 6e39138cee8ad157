"""Clients that stall, over real sockets: each is closed in time, and no other client waits meanwhile."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from gateway.http.connections import MOST_HEADER_BYTES
from tests.support.measures.moved_loop import MovedLoop
from tests.support.measures.patience import PATIENCE_SECONDS
from tests.support.servers.gateways import Tenant
from tests.support.servers.live import serve
from tests.support.tenants.uploads import new_file

# Only the clock of the gateway's loop reaches it, which the tests move on.
STALL_SECONDS = 600
PART = 64 * 1024

Connect = Callable[[], socket.socket]
UntilClosed = Callable[..., tuple[bytes, float]]


@pytest.fixture(scope="module")
def clock() -> MovedLoop:
    """The loop of the gateway, which closes it."""
    return MovedLoop()


@pytest.fixture(scope="module")
def live(clock: MovedLoop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Tenant]]:
    folder = tmp_path_factory.mktemp("live")
    url = f"sqlite+aiosqlite:///{folder}/duograph.sqlite"
    with serve(url, folder, loop_factory=lambda: clock, stall_seconds=STALL_SECONDS) as running:
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


@pytest.fixture
def until_closed(clock: MovedLoop) -> UntilClosed:
    def read(connection: socket.socket, drip: bytes = b"") -> tuple[bytes, float]:
        """The answer until the connection ends, and after how much of the gateway's time it ended.

        `drip` is sent meanwhile.
        """
        answered, passed = b"", 0.0
        connection.settimeout(0.01)
        while True:
            try:
                # What was answered is read also where the gateway has closed meanwhile.
                with suppress(OSError):
                    connection.sendall(drip)
                received = connection.recv(65_536)
            except TimeoutError:
                clock.advance(STALL_SECONDS / 20)
                passed += STALL_SECONDS / 20
                continue
            except OSError:
                return answered, passed
            if not received:
                return answered, passed
            answered += received

    return read


def _connected(address: str) -> socket.socket:
    host, port = urlsplit(address).netloc.split(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS)


def request(method: str, path: str, token: str | None = None, **headers: object) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: gateway"]
    lines += [f"Authorization: Bearer {token}"] if token else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def test_a_client_that_says_nothing_is_closed(connect: Connect, until_closed: UntilClosed) -> None:
    answered, passed = until_closed(connect())
    assert answered == b""
    assert passed >= STALL_SECONDS * 0.9


@pytest.mark.parametrize("drip", [b"", b"x"], ids=["silent", "dripping"])
def test_headers_that_stop_or_drip_are_closed(
    connect: Connect, until_closed: UntilClosed, drip: bytes
) -> None:
    connection = connect()
    connection.sendall(b"GET /health HTTP/1.1\r\nX-Slow: ")
    answered, passed = until_closed(connection, drip)
    assert answered.startswith(b"HTTP/1.1 408 ")
    assert passed >= STALL_SECONDS * 0.9


MANY = b"X-Many: x\r\n" * 100_000
HEAD = request("POST", "/graphql", Content_Type="application/json", Transfer_Encoding="chunked")
BODY = HEAD + b"2\r\n{}\r\n0\r\n"
ENDLESS = {
    "headers": b"GET /health HTTP/1.1\r\n" + MANY,
    "trailers": BODY + MANY,
    "one trailer": BODY + b"X-One: " + b"x" * 1_000_000,
}


@pytest.mark.parametrize("sent", ENDLESS.values(), ids=ENDLESS)
def test_headers_and_trailers_without_an_end_are_refused(
    connect: Connect, until_closed: UntilClosed, sent: bytes
) -> None:
    connection = connect()
    with suppress(OSError):
        connection.sendall(sent)
    answered, _ = until_closed(connection)
    assert answered.startswith(b"HTTP/1.1 431 ") or answered == b""


def test_a_whole_request_with_too_large_headers_does_nothing(
    connect: Connect, until_closed: UntilClosed, live: tuple[str, Tenant]
) -> None:
    address, tenant = live
    body = json.dumps({"name": "Never made", "prices": [{"amount_type": "free"}]}).encode()
    headers = {
        "Content_Type": "application/json",
        "Content_Length": len(body),
        "X_Large": "x" * MOST_HEADER_BYTES,
    }
    sent = request("POST", "/api/shares/", tenant.token, **headers) + body
    connection = connect()
    # What is too much comes with the end of the headers.
    connection.sendall(sent[: MOST_HEADER_BYTES - 1000])
    with suppress(OSError):
        connection.sendall(sent[MOST_HEADER_BYTES - 1000 :])
    answered, _ = until_closed(connection)
    assert answered.startswith(b"HTTP/1.1 431 ")
    assert answered.count(b"HTTP/1.1 ") == 1
    found = httpx.get(f"{address}/api/shares/", headers={"Authorization": f"Bearer {tenant.token}"})
    assert found.json()["data"] == []


def test_one_header_without_an_end_is_refused(connect: Connect, until_closed: UntilClosed) -> None:
    connection = connect()
    with suppress(OSError):
        connection.sendall(b"GET /health HTTP/1.1\r\nX-Long: " + b"x" * 1_000_000)
    until_closed(connection)


def test_a_second_request_that_never_begins_is_closed(connect: Connect, until_closed: UntilClosed) -> None:
    connection = connect()
    connection.sendall(request("GET", "/health"))
    assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
    connection.sendall(b"\r\n")
    until_closed(connection)


@pytest.mark.parametrize("drip", [b"", b" "], ids=["silent", "dripping"])
@pytest.mark.parametrize("path", ["/api/shares/", "/graphql", "/api/oauth2/token", "/sign-in"])
def test_a_body_that_stalls_is_closed(
    connect: Connect, until_closed: UntilClosed, live: tuple[str, Tenant], path: str, drip: bytes
) -> None:
    kind = "application/json" if path in {"/api/shares/", "/graphql"} else "application/x-www-form-urlencoded"
    token = live[1].token if kind == "application/json" else None
    connection = connect()
    connection.sendall(request("POST", path, token, Content_Type=kind, Content_Length=5_000) + b'{"name')
    answered, passed = until_closed(connection, drip)
    assert answered.startswith(b"HTTP/1.1 408 ")
    assert passed >= STALL_SECONDS * 0.9


def test_a_body_that_goes_on_after_its_refusal_is_closed(connect: Connect, until_closed: UntilClosed) -> None:
    connection = connect()
    connection.sendall(request("POST", "/api/shares/", Content_Length=10**9))
    answered, _ = until_closed(connection, drip=b"x" * 65_536)
    assert answered.startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize(
    ("next_request", "answer", "least"), [(b"", b"", 0), (b"GET / HTTP/1.1\r\n", b"HTTP/1.1 408 ", 0.9)]
)
def test_a_body_that_ends_after_its_refusal_is_followed_by_a_request_in_time(
    connect: Connect, until_closed: UntilClosed, next_request: bytes, answer: bytes, least: float
) -> None:
    connection = connect()
    connection.sendall(request("POST", "/api/shares/", Content_Length=5))
    assert connection.recv(65_536).startswith(b"HTTP/1.1 401 ")
    connection.sendall(b"12345" + next_request)
    answered, passed = until_closed(connection)
    assert answered.startswith(answer)
    assert STALL_SECONDS * least <= passed <= STALL_SECONDS * 1.2


@pytest.mark.parametrize(
    ("hosts", "version", "status"),
    [
        ([], "1.1", 400),
        (["gateway", "gateway"], "1.1", 400),
        (["gateway", "other"], "1.1", 400),
        (["gateway", "other"], "1.0", 400),
        (["gateway"], "1.1", 200),
        ([], "1.0", 200),
    ],
)
def test_a_request_has_one_host(
    connect: Connect, until_closed: UntilClosed, hosts: list[str], version: str, status: int
) -> None:
    connection = connect()
    lines = [f"GET /health HTTP/{version}", *(f"hOsT: {host}" for host in hosts), "Connection: close"]
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    answered, _ = until_closed(connection)
    assert answered.startswith(f"HTTP/1.1 {status} ".encode())
    assert answered.count(b"HTTP/1.1 ") == 1


def test_stalled_clients_keep_no_other_client_waiting(tmp_path: Path) -> None:
    """Stalled clients stay for ten minutes here."""
    url = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    with serve(url, tmp_path, stall_seconds=600) as (address, _), ExitStack() as opened:
        for number in range(50):
            half = request("POST", "/graphql", Content_Type="application/json", Content_Length=100)
            opened.enter_context(_connected(address)).sendall(half if number % 2 else half[:20])
        for _ in range(5):
            with _connected(address) as connection:
                connection.sendall(request("GET", "/health"))
                assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")


def test_a_slow_upload_that_goes_on_is_taken(
    connect: Connect, clock: MovedLoop, live: tuple[str, Tenant]
) -> None:
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
    # In all, more than twice what a client that stalls is given.
    for start in range(0, len(content), PART // 4):
        clock.advance(STALL_SECONDS * 0.15)
        putting.sendall(content[start : start + PART // 4])
    assert putting.recv(65_536).startswith(b"HTTP/1.1 200 ")
