"""The gateway's memory after 10,000 and after 100,000 mixed requests.

Run by `make bench`. Nearly all requests differ from each other, so that everything that the gateway keeps
between requests is filled. Exits with 1 if its memory still grows.
"""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count, islice
from uuid import uuid4

import orjson
from rich.console import Console

from bench.kit import servers
from bench.kit.client import Client, Refused
from bench.kit.options import options
from bench.kit.processes import memory_mib
from bench.kit.report import Check, number, table
from bench.kit.requests import graphql
from bench.kit.servers import Server, Site
from bench.kit.wrk import Request

MOST_GROWTH = 1.05
CALLERS = 8
STEPS = 10
SHARES = "query($limit: Int!) { shares(limit: $limit) { data { id } } }"

progress = Console(stderr=True, highlight=False)


def get(path: str) -> Request:
    return Request("GET", path)


def post(path: str, body: object) -> Request:
    return Request("POST", path, orjson.dumps(body).decode())


# Reads, changes and requests that are refused, each with a number or a customer of its own.
KINDS: list[Callable[[int, str], Request]] = [
    lambda n, _: get(f"/api/shares/?limit={n % 100 + 1}&page={n % 5 + 1}"),
    lambda _, customer: get(f"/api/customers/{customer}"),
    lambda n, _: get(f"/api/events/?name=soak.{n}"),
    lambda n, _: get(f"/api/customers/?query=buyer-{n}&sorting=-name"),
    lambda n, customer: graphql(f'{{ soak{n}: customer(id: "{customer}") {{ email members {{ id }} }} }}'),
    lambda n, _: graphql(SHARES, limit=n % 100 + 1),
    lambda n, _: post("/api/customers/", {"email": f"soak-{n}@example.com"}),
    lambda n, _: post("/api/events/ingest", {"events": [{"name": f"soak.{n % 50}"}]}),
    lambda _n, _: get(f"/api/customers/{uuid4()}"),
    lambda n, _: get(f"/api/shares/?limit={n}000"),
    lambda n, _: graphql(f"{{ unknown{n} }}"),
]


def mixed_requests(customers: list[str], first: int) -> Iterator[Request]:
    for place in count(first):
        yield KINDS[place % len(KINDS)](place, customers[place % len(customers)])


def send(site: Site, server: Server, first: int, many: int) -> None:
    """Send requests, numbered from `first`, through some callers at a time."""
    customers = Client(server.address, site.token).get("/api/customers/?limit=20")["data"]
    ids = [customer["id"] for customer in customers]

    def call(place: int) -> None:
        client = Client(server.address, site.token)
        for request in islice(mixed_requests(ids, first), place, many, CALLERS):
            with suppress(Refused):
                client.send(request)

    with ThreadPoolExecutor(CALLERS) as pool:
        list(pool.map(call, range(CALLERS)))


def measure(site: Site, requests: int) -> list[float]:
    """MiB after each tenth of the requests."""
    memory, step = [], requests // STEPS
    with servers.gateway(site) as server:
        for sent in range(0, step * STEPS, step):
            send(site, server, sent, step)
            memory.append(memory_mib(server.pid))
            progress.print(f"{sent + step:,} requests: {memory[-1]:.1f} MiB")
    return memory


def main() -> None:
    requests = options(__doc__, requests=100_000).requests
    with servers.site() as site:
        first, *_, last = measure(site, requests)
    check = Check("memory", "", [last / first], most=MOST_GROWTH)
    header = [f"after {requests // STEPS:,} requests, MiB", f"after {requests:,}", "growth", "target", ""]
    print(table(header, [[number(first), number(last), *check.cells]]))
    sys.exit(not check.is_met)


if __name__ == "__main__":
    main()
