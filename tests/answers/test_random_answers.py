"""Whatever is asked of rows as large as the contract allows: no large answer, little memory, and its price.

`make growth CASES=20000` sends many more requests than `make test` does, and only there does `/health` count.
"""

import asyncio
import json
import os
import socket
import sys
import threading
import time
from dataclasses import dataclass
from math import inf
from random import Random
from urllib.parse import urlsplit

import pytest
import uvloop
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from schema.errors import LARGEST_ANSWER
from tests.answers.documents import affordable_document, drawn_path
from tests.growth.measuring import HEALTH, received_from
from tests.support.databases.large_rows import fill
from tests.support.databases.own_databases import own_database
from tests.support.measures.memory import measured_memory
from tests.support.measures.patience import PATIENCE_SECONDS
from tests.support.servers.live import serve

CASES = int(os.environ.get("CASES", "40"))
TIMES_COUNT = "CASES" in os.environ
SEED = int(os.environ.get("SEED", "24"))
MOST_MEMORY = 64 * 2**20
HEALTH_SECONDS = 0.25
# Processors that are busy elsewhere delay a request, and what else the process does takes memory; only what
# stays so is a fault of ours.
ATTEMPTS = 10
FREE, UNIT = 2**20, 2**18


@dataclass
class Read:
    """An answer whose body was counted and thrown away, but for its beginning."""

    status: int
    cost: int
    size: int
    health: float
    beginning: bytes

    @property
    def owed(self) -> float:
        """The calls that its bytes cost."""
        return (self.size - FREE) / UNIT


@dataclass
class Figures:
    cases: int = 0
    refused: int = 0
    largest: int = 0
    most_memory: int = 0
    longest_health: float = 0
    least_paid: float = inf

    def note(self, read: Read, memory: int) -> None:
        self.cases += 1
        self.refused += b"answer_too_large" in read.beginning
        self.largest = max(self.largest, read.size)
        self.most_memory = max(self.most_memory, memory)
        self.longest_health = max(self.longest_health, read.health)
        self.least_paid = min(self.least_paid, read.cost - read.owed)

    def __str__(self) -> str:
        return (
            f"{self.cases} requests, {self.refused} refused by size; the largest answer had {self.largest:,} "
            f"bytes; at most {self.most_memory / 2**20:.0f} MiB more memory; /health took at most "
            f"{self.longest_health * 1000:.0f} ms; each paid at least {self.least_paid:.2f} calls "
            "more than its bytes cost."
        )


class Asking:
    """A client of the gateway with a token, which keeps no answer."""

    def __init__(self, address: str, token: str, thread: threading.Thread) -> None:
        host, port = urlsplit(address).netloc.split(":")
        self._place, self._token = (host, int(port)), token
        assert thread.ident is not None
        self._clock = time.pthread_getcpuclockid(thread.ident)

    def read(self, method: str, path: str, body: bytes = b"") -> Read:
        lines = [f"{method} {path} HTTP/1.1", "Host: gateway", f"Authorization: Bearer {self._token}"]
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        with self._connect() as asking:
            before = time.clock_gettime(self._clock)
            asking.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
            health = self._health() if TIMES_COUNT else 0
            head, size, beginning = _counted(asking)
            # It cannot have waited for the loop for longer than the loop was at work.
            health = min(health, time.clock_gettime(self._clock) - before)
        headers = dict(line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:])
        return Read(int(head.split()[1]), int(headers[b"ratelimit-cost"]), size, health, beginning)

    def _health(self) -> float:
        with self._connect() as probing:
            started = time.monotonic()
            probing.sendall(HEALTH)
            received_from(probing)
            return time.monotonic() - started

    def _connect(self) -> socket.socket:
        return socket.create_connection(self._place, timeout=PATIENCE_SECONDS)


def _counted(connection: socket.socket) -> tuple[bytes, int, bytes]:
    """The head of an answer, the size of its body, and how it begins."""
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(65_536)
    head, _, body = head.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    size, beginning = len(body), body
    while size < length:
        part = connection.recv(65_536)
        assert part, "The answer ended before its length."
        size += len(part)
        beginning = beginning if len(beginning) > 2_000 else beginning + part
    return head, size, beginning


@pytest.fixture(scope="module")
def asking(database_url, tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    # Other tests neither write beside it, nor read its large rows.
    database_url = asyncio.run(own_database(database_url, folder))
    others = set(threading.enumerate())
    # What asyncio's own loop sends, it copies twice.
    own = {"loop_factory": uvloop.new_event_loop, "access_log": False, "rate_limit": 10**9}
    with serve(database_url, folder, **own) as (address, tenant):
        asyncio.run(fill(database_url, tenant))
        (thread,) = (each for each in set(threading.enumerate()) - others if each.name == "gateway")
        asking = Asking(address, tenant.token, thread)
        event = {"name": "e", "metadata": {f"key-{number}": "v" * 500 for number in range(50)}}
        events = json.dumps({"events": [event] * 100}).encode()
        assert asking.read("POST", "/api/events/ingest", events).status == 201
        # What a process keeps from its first requests on.
        for _ in range(2):
            asking.read("GET", "/api/shares/?limit=1")
            asking.read("POST", "/graphql", b'{"query": "{ shares { data { id workspace { id } } } }"}')
        yield asking


@pytest.fixture(scope="module")
def figures():
    kept = Figures()
    yield kept
    if TIMES_COUNT:
        print(kept, file=sys.__stderr__, flush=True)


@pytest.mark.long
@seed(SEED)
@settings(
    max_examples=CASES,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(drawn=st.integers(0, 2**32))
def test_no_answer_is_larger_than_its_bound_or_cheaper_than_its_bytes(asking, figures, drawn):
    random = Random(drawn)
    if random.random() < 0.3:
        says, request = "", ("GET", drawn_path(random), b"")
    else:
        says, request = affordable_document(random), ("", "", b"")
    for attempt in range(ATTEMPTS):
        if says:
            # The document is new each time, because of the comment.
            request = ("POST", "/graphql", json.dumps({"query": f"{says} # {attempt}"}).encode())
        with measured_memory() as memory:
            read = asking.read(*request)
        if read.health <= HEALTH_SECONDS and memory.most <= MOST_MEMORY:
            break
    says = says or request[1]
    figures.note(read, memory.most)
    assert read.status < 500, says
    assert b'"internal"' not in read.beginning, says
    assert read.size <= LARGEST_ANSWER, says
    assert read.cost >= read.owed, says
    assert memory.most <= MOST_MEMORY, says
    if TIMES_COUNT:
        assert read.health <= HEALTH_SECONDS, says
