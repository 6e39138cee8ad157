"""What slow work takes from others: slow filters of another tenant, and clients that do not read.

Run by `make neighbours`. On each database, a tenant lists its shares alone, and then beside another one that
filters many large events by metadata through 24 connections, with and without rate limits. Then 1,000 clients
ask for 6.5 MB each and receive none of it. Exits with 1 if a target is missed.
"""

import socket
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPException
from multiprocessing import get_context
from statistics import median
from threading import Event, Thread
from time import monotonic, sleep
from urllib.parse import urlsplit

from rich.console import Console

from bench.kit import servers
from bench.kit.client import Client, Refused
from bench.kit.options import options
from bench.kit.processes import machine, memory_mib, versions
from bench.kit.report import Check, table
from bench.kit.servers import Server, Site
from bench.kit.wrk import Request

FILTERING = 24
BATCH = 250
PAIRS = 45
READERS = 1_000
ASKING = 8
LONG = "/api/shares/?limit=100"
ADDRESSES = 50
RECEIVED_BYTES = 65_536
MOST_RATIO = 2.0
MOST_HEALTH_SECONDS = 0.25
# What clients may hold, and what a gateway needs beside it to answer them.
MOST_MIB = 64 + 64
LIMITS = {"without rate limits": "0", "with the default limits": "500"}

progress = Console(stderr=True, highlight=False)


def times_of(server: Server, token: str, path: str, seconds: float) -> list[float]:
    """How long each answer took, one after the other, in order of length."""
    client, taken, end = Client(server.address, token), [], monotonic() + seconds
    while monotonic() < end:
        began = monotonic()
        client.answer(Request("GET", path))
        taken.append(monotonic() - began)
        sleep(0.005)
    client.close()
    return sorted(taken)


def p99(taken: Sequence[float]) -> float:
    return taken[int(len(taken) * 0.99)]


def store_events(server: Server, token: str, many: int) -> None:
    """Events with metadata of 12 KB."""
    client = Client(server.address, token)
    metadata = {f"a key of some length {place}": f"{place} " * 80 for place in range(PAIRS)}
    for _ in range(0, many, BATCH):
        client.post("/api/events/ingest", {"events": [{"name": "slow", "metadata": metadata}] * BATCH})
    client.close()


@contextmanager
def filtering(server: Server, token: str) -> Iterator[None]:
    """Filters that no event meets, through many connections, for as long as the block runs.

    They are sent by another process: threads of this one would keep it from seeing that an answer is there.
    """
    process = get_context("spawn").Process(target=_filter_on, args=(server.address, token), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.terminate()
        process.join()


def _filter_on(address: str, token: str) -> None:
    def ask_for_ever() -> None:
        while True:
            client = Client(address, token)
            try:
                client.get("/api/events/?metadata[zz]=1")
            except (Refused, OSError, HTTPException):
                # Those over the limit wait as they are told to, but not for longer than the measurement.
                sleep(1)
            client.close()

    threads = [Thread(target=ask_for_ever) for _ in range(FILTERING)]
    for thread in threads:
        thread.start()


def beside_filters(database: str, events: int, seconds: float) -> Iterator[Check]:
    with servers.site(database) as site:
        other = str(servers.seed(site)["workspace_token"])
        with servers.gateway(site) as server:
            store_events(server, other, events)
            slug = Client(server.address, site.token).get("/api/workspaces/")["data"][0]["slug"]
        # The tenant who lists its shares has no limit.
        servers.run(site, "limits", "set", slug, "0")
        for name, limit in LIMITS.items():
            with servers.gateway(site, DUOGRAPH_RATE_LIMIT=limit) as server:
                yield from _beside_filters(site, server, other, f"{database}, {name}", seconds)


def _beside_filters(site: Site, server: Server, other: str, where: str, seconds: float) -> Iterator[Check]:
    path = "/api/shares/"
    times_of(server, site.token, path, 1)
    alone = times_of(server, site.token, path, seconds)
    with filtering(server, other):
        sleep(1)
        beside = times_of(server, site.token, path, seconds)
    words = (f"{median(each) * 1000:.1f} / {p99(each) * 1000:.1f} ms" for each in (alone, beside))
    progress.print(f"{where}: median / p99 alone {next(words)}, beside filters {next(words)}")
    yield Check("p99 beside filters / alone", where, [p99(beside) / p99(alone)], most=MOST_RATIO)


def asking(server: Server, token: str, address: str) -> socket.socket:
    """A connection that has asked for a long answer, of which the system receives little for it."""
    place = urlsplit(server.address)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_BYTES)
    connection.bind((address, 0))
    connection.connect((place.hostname, place.port))
    head = f"GET {LONG} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
    connection.sendall(head.encode())
    connection.recv(1)
    return connection


def receive(server: Server, token: str) -> None:
    """The same answer for a client that reads it."""
    client = Client(server.address, token)
    client.answer(Request("GET", LONG))
    client.close()


def beside_readers(seconds: float) -> Iterator[Check]:
    with servers.site("sqlite") as site, servers.gateway(site) as server, ExitStack() as opened:
        client = Client(server.address, site.token)
        share = {"name": "Long", "description": "x" * 65_000, "prices": [{"amount_type": "free"}]}
        for _ in range(100):
            client.post("/api/shares/", share)
        with ThreadPoolExecutor(ASKING) as pool:
            # What answering as many at a time needs is not what waits for slow clients.
            for _ in pool.map(lambda _: receive(server, site.token), range(5 * ASKING)):
                pass
        times_of(server, site.token, "/health", 1)
        before, alone = memory_mib(server.pid), times_of(server, site.token, "/health", seconds)
        peaks, stop = [before], Event()

        def look() -> None:
            while not stop.wait(0.2):
                peaks.append(memory_mib(server.pid))

        looking = Thread(target=look, daemon=True)
        looking.start()
        with ThreadPoolExecutor(ASKING) as pool:
            places = [f"127.0.1.{place % ADDRESSES + 1}" for place in range(READERS)]
            made = pool.map(lambda place: asking(server, site.token, place), places)
            for connection in made:
                with suppress(OSError):
                    opened.enter_context(connection)
        beside = times_of(server, site.token, "/health", seconds)
        stop.set()
        looking.join()
    progress.print(
        f"{READERS} clients that do not read: memory {before:.0f} MiB, at most {max(peaks):.0f}; /health p99 "
        f"{p99(alone) * 1000:.1f} ms alone, {p99(beside) * 1000:.1f} beside"
    )
    yield Check("memory more, MiB", "clients that do not read", [max(peaks) - before], most=MOST_MIB)
    yield Check("p99 of /health, s", "clients that do not read", [p99(beside)], most=MOST_HEALTH_SECONDS)


def main() -> None:
    arguments = options(__doc__, events=20_000, seconds=20.0, only=["postgresql", "sqlite", "readers"])
    checks: list[Check] = []
    print(f"{versions()}; {machine()}.\n")
    for database in ("postgresql", "sqlite"):
        if database in arguments.only:
            checks += beside_filters(database, arguments.events, arguments.seconds)
    if "readers" in arguments.only:
        checks += beside_readers(arguments.seconds)
    print(
        table(
            ["what", "where", "figure", "target", ""],
            [[each.what, each.where, *each.cells] for each in checks],
        )
    )
    sys.exit(not all(check.is_met for check in checks))


if __name__ == "__main__":
    main()
