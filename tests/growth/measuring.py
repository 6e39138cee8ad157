"""What a request costs: the processor time of the gateway's loop, and how long `/health` waits."""

import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.growth.requests import Growing
from tests.support.measures.patience import PATIENCE_SECONDS

HEAD_START_SECONDS = 0.001
HEALTH = b"GET /health HTTP/1.1\r\nHost: gateway\r\n\r\n"


@dataclass(frozen=True)
class Cost:
    """Of one request: bytes sent, seconds of processor, seconds that `/health` took, and the answer."""

    size: int
    processor: float
    health: float
    status: int
    answer: bytes

    @property
    def is_rejected(self) -> bool:
        return self.status >= 400 or b'"errors"' in self.answer


class Meter:
    """Two connections to a gateway that runs in the thread `gateway` of this process."""

    def __init__(self, address: str, tokens: Mapping[str, str | None]) -> None:
        host, port = urlsplit(address).netloc.split(":")
        self._place = (host, int(port))
        self._tokens = tokens
        thread = next(thread for thread in threading.enumerate() if thread.name == "gateway")
        assert thread.ident is not None
        self._clock = time.pthread_getcpuclockid(thread.ident)

    def measure(self, request: Growing, size: int, *, probed: bool) -> Cost:
        """`probed` asks for `/health` too, on another connection, while the gateway is at work."""
        content = self._written(request, size)
        with self._connect() as asking:
            before = time.clock_gettime(self._clock)
            asking.sendall(content)
            seconds = self._probe() if probed else 0
            answer = received_from(asking)
            spent = time.clock_gettime(self._clock) - before
        head, _, body = answer.partition(b"\r\n\r\n")
        return Cost(len(content), spent, seconds, int(head.split()[1]), body)

    def _probe(self) -> float:
        with self._connect() as probing:
            time.sleep(HEAD_START_SECONDS)
            started = time.monotonic()
            probing.sendall(HEALTH)
            assert received_from(probing).startswith(b"HTTP/1.1 200 ")
            return time.monotonic() - started

    def _connect(self) -> socket.socket:
        return socket.create_connection(self._place, timeout=PATIENCE_SECONDS)

    def _written(self, request: Growing, size: int) -> bytes:
        body = request.body(size).encode("utf-8", "surrogatepass")
        token = self._tokens[request.credential]
        lines = [f"{request.method} {request.path(size)} HTTP/1.1", "Host: gateway"]
        lines += [f"Authorization: Bearer {token}"] if token else []
        lines += [f"Content-Type: {request.kind}", f"Content-Length: {len(body)}"]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def received_from(connection: socket.socket) -> bytes:
    """One answer, whole. Raises `TimeoutError` where the gateway does not answer any more."""
    answer = b""
    while not is_whole(answer):
        received = connection.recv(1_048_576)
        if not received:
            break
        answer += received
    return answer


def is_whole(answer: bytes) -> bool:
    """Whether all of an answer has come, by its length or its last chunk."""
    head, separator, body = answer.partition(b"\r\n\r\n")
    if not separator:
        return False
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) >= int(line.partition(b":")[2])
        if line.startswith(b"transfer-encoding:"):
            return body.endswith(b"0\r\n\r\n")
    return True
