"""Answers of receivers, as they come over the wire, and connections that are kept."""

import asyncio
import socket
import ssl
import threading
from contextlib import asynccontextmanager
from ipaddress import ip_address, ip_network

import pytest

from gateway.webhooks import connections as connections_module
from gateway.webhooks import names
from gateway.webhooks.connections import Connections, place_of
from gateway.webhooks.sending import LONGEST_RETRY_AFTER, send
from schema.webhooks.services import Message
from tests.support.measures.patience import until
from tests.support.servers.mail_server import make_certificate

ALLOWED = [ip_network("127.0.0.0/8")]
NONE = b"HTTP/1.1 204 No Content\r\n\r\n"


@asynccontextmanager
async def raw_receiver(*answers, tls=None):
    """A receiver that sends these bytes, one for each request; it closes where one ends with `close`.

    Gives its URL and the connections that were made.
    """
    left, made = list(answers), []

    async def serve(reader, writer):
        made.append(writer)
        while left:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
            answer = left.pop(0)
            writer.write(answer.removesuffix(b"close"))
            if answer.endswith(b"close"):
                break
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hooks?a=b", made
    server.close()


def message(url):
    return Message(url, "an id", b"{}", [b"secret"])


@pytest.mark.parametrize(
    ("answer", "status", "code", "body"),
    [
        (NONE, 204, None, ""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, None, "ok"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 200, None, "ok"),
        (b"HTTP/1.0 200 OK\r\n\r\nto the endclose", 200, None, "to the end"),
        (b"HTTP/1.1 500 No\r\nContent-Length: 9000\r\n\r\n" + b"a" * 5000, 500, None, "a" * 4096),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nokclose", None, "refused", ""),
        (b"SSH-2.0-OpenSSH_9.2\r\n", None, "refused", ""),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 50_000, None, "refused", ""),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", None, "refused", ""),
        (b"close", None, "refused", ""),
    ],
    ids=[
        "empty",
        "continue",
        "chunked",
        "to the end",
        "long",
        "short",
        "no http",
        "headers",
        "upgrade",
        "lost",
    ],
)
async def test_an_answer_is_read_as_http_has_it(answer, status, code, body):
    connections = Connections(ALLOWED)
    async with raw_receiver(answer) as (url, _):
        attempt = await send(connections, message(url))
    connections.close()
    assert (attempt.status, attempt.code, attempt.response_body) == (status, code, body)


async def test_a_connection_is_kept_and_a_new_one_made_where_the_receiver_closed_it(monkeypatch):
    # Nothing else ends it.
    monkeypatch.setattr(connections_module, "SECONDS_KEPT", 3600)
    connections = Connections(ALLOWED)
    async with raw_receiver(NONE, NONE, NONE, b"close", NONE) as (url, made):
        for _ in range(3):
            assert (await send(connections, message(url))).is_success
        assert len(made) == 1
        # The receiver closes it without an answer.
        assert (await send(connections, message(url))).is_success
        assert len(made) == 2
    connections.close()


async def test_what_nobody_asked_for_is_not_taken_for_the_next_answer():
    connections = Connections(ALLOWED)
    async with raw_receiver(NONE + b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", NONE) as (url, made):
        assert (await send(connections, message(url))).status == 204
        assert (await send(connections, message(url))).status == 204
        assert len(made) == 2
    connections.close()


@pytest.mark.parametrize(
    "text",
    [
        f"Mon, 01 Jan {'9' * 20} 00:00:00 GMT",
        f"Mon, 01 Jan 2024 00:00:00 +{'9' * 20}",
        f"Mon, {'9' * 20} Jan 2024 00:00:00 GMT",
        "9" * 4_000,
        "soon",
    ],
)
async def test_no_time_to_retry_after_ends_the_attempt(text):
    answer = f"HTTP/1.1 503 No\r\nRetry-After: {text}\r\nContent-Length: 0\r\n\r\n".encode()
    connections = Connections(ALLOWED)
    async with raw_receiver(answer) as (url, _):
        attempt = await send(connections, message(url))
    connections.close()
    assert (attempt.status, attempt.code) == (503, None)
    assert attempt.retry_after in (None, LONGEST_RETRY_AFTER)


async def test_a_name_server_that_does_not_answer_keeps_one_thread_and_nobody_waiting(monkeypatch):
    asked, answered = [], threading.Event()
    look_up = socket.getaddrinfo

    def getaddrinfo(host, port, *arguments, **named):
        asked.append((host, port))
        if host == "slow.example.com":
            answered.wait()
            raise socket.gaierror
        return look_up(host, port, *arguments, **named)

    # The system's resolver asks servers that no test has a say in.
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    connections = Connections(ALLOWED)
    slow = [send(connections, message("https://slow.example.com/")) for _ in range(50)]
    waiting = asyncio.gather(*slow)
    try:
        async with raw_receiver(NONE) as (url, _):
            assert (await send(connections, message(url))).is_success
    finally:
        answered.set()
    assert {attempt.code for attempt in await waiting} == {"dns"}
    # A gateway beside this test may look up receivers of its own.
    own = [("slow.example.com", 443), ("127.0.0.1", place_of(url).port)]
    assert [each for each in asked if each in own] == own
    connections.close()


async def test_an_address_that_does_not_answer_leaves_time_for_the_next(monkeypatch):
    async def resolve(host, port):
        return [ip_address("127.0.0.9"), ip_address("127.0.0.1")]

    connect = connections_module._connected

    async def connected(address, port):
        if address == ip_address("127.0.0.9"):
            await asyncio.Event().wait()
        return await connect(address, port)

    monkeypatch.setattr(connections_module, "_connected", connected)
    monkeypatch.setattr(connections_module, "SECONDS_TO_CONNECT", 0.01)
    connections = Connections(ALLOWED, resolve)
    async with raw_receiver(NONE) as (url, _):
        assert (await send(connections, message(url))).is_success
    connections.close()


async def test_a_certificate_must_be_for_the_name(tmp_path):
    certificate = make_certificate(tmp_path / "receiver.pem")
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.load_cert_chain(certificate)

    async def resolve(host, port):
        return [ip_address("127.0.0.1")]

    connections = Connections(ALLOWED, resolve, ssl.create_default_context(cafile=certificate))
    async with raw_receiver(NONE, NONE, tls=serving) as (url, made):
        secure = url.replace("http:", "https:")
        assert (await send(connections, message(secure))).is_success
        other = secure.replace("127.0.0.1", "hooks.example.com")
        assert (await send(connections, message(other))).code == "tls"
        assert len(made) == 1
    connections.close()


@pytest.mark.parametrize("host", ["167772161", "012.0.0.1", "0xa000001", "10.1"])
async def test_other_spellings_of_an_address_are_the_address(host):
    connections = Connections(ALLOWED)
    assert (await send(connections, message(f"https://{host}/"))).code == "blocked"


async def test_what_is_said_after_an_answer_ends_the_connection(monkeypatch):
    # Nothing else ends it.
    monkeypatch.setattr(connections_module, "SECONDS_KEPT", 3600)
    connections = Connections(ALLOWED)
    async with raw_receiver(NONE, NONE) as (url, made):
        assert (await send(connections, message(url))).is_success
        made[0].write(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")

        async def closed():
            return made[0].is_closing()

        await until(closed)
        assert (await send(connections, message(url))).is_success
        assert len(made) == 2
    connections.close()


async def test_of_many_headers_the_first_are_kept():
    long = [b"X-%d: %s\r\n" % (number, b"a" * 1_500) for number in range(4)]
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + b"".join(long) + b"X-Last: a\r\n\r\n"
    connections = Connections(ALLOWED)
    async with raw_receiver(answer) as (url, _):
        attempt = await send(connections, message(url))
    connections.close()
    assert attempt.is_success
    assert list(attempt.response_headers) == ["content-length", "x-0", "x-1"]


async def test_no_more_names_are_looked_up_at_a_time_than_there_may_be_threads(monkeypatch):
    answered = threading.Event()

    def getaddrinfo(host, *arguments, **named):
        if host == "slow.example.com":
            answered.wait()
        raise socket.gaierror

    # The system's resolver asks servers that no test has a say in.
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(names, "MOST_AT_A_TIME", 1)
    looked_up = names.Names()
    waiting = asyncio.create_task(looked_up.addresses("slow.example.com", 443))
    try:
        # Its turn has come before that of what follows.
        await asyncio.sleep(0)
        with pytest.raises(OSError, match="Too many names"):
            await looked_up.addresses("other.example.com", 443)
    finally:
        answered.set()
    with pytest.raises(socket.gaierror):
        await waiting
