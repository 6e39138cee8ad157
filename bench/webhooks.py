"""How long a change takes to reach a receiver: from the answer that says it is committed to its arrival.

`python -m bench.webhooks`. On each database, customers are created at a steady rate; a receiver on this
machine answers at once. Exits with 1 if a target is missed.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median
from threading import Thread
from time import monotonic, sleep

import orjson

from bench.kit import servers
from bench.kit.client import Client
from bench.kit.options import options
from bench.kit.processes import machine, versions
from bench.kit.report import Check, table
from bench.neighbours import p99

LONGEST_WAIT = 60
MOST_MEDIAN_MS, MOST_P99_MS = 100, 1000


class Arrivals(BaseHTTPRequestHandler):
    """Notes when the webhook of each customer arrived, by the customer's id."""

    protocol_version = "HTTP/1.1"
    moments: dict[str, float]

    def do_POST(self) -> None:
        content = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.moments.setdefault(content["data"]["id"], monotonic())
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Prints nothing."""


@contextmanager
def receiving() -> Iterator[tuple[str, dict[str, float]]]:
    """The address of a receiver, and the moments of what arrives there."""
    moments: dict[str, float] = {}
    handler = type("OwnArrivals", (Arrivals,), {"moments": moments})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", moments
        server.shutdown()


def measure(database: str, rate: int, seconds: float) -> Iterator[Check]:
    with (
        servers.site(database) as site,
        receiving() as (address, moments),
        servers.gateway(site, DUOGRAPH_WEBHOOK_ALLOW="127.0.0.0/8") as server,
    ):
        client = Client(server.address, site.token)
        client.post("/api/webhook-endpoints/", {"url": address, "kinds": ["customer.created"]})
        sleep(2)
        committed, begun = {}, monotonic()
        for number in range(int(rate * seconds)):
            sleep(max(0.0, begun + number / rate - monotonic()))
            made = client.post("/api/customers/", {"email": f"c{number}@example.com"})
            committed[made["id"]] = monotonic()
        reached = len(committed) / (monotonic() - begun)
        end = monotonic() + LONGEST_WAIT
        while len(moments) < len(committed) and monotonic() < end:
            sleep(0.1)
        client.close()
    missing = len(committed.keys() - moments.keys())
    taken = sorted(1000 * max(0.0, moments[id] - at) for id, at in committed.items() if id in moments)
    where = f"{database}, {reached:.0f} changes/s"
    yield Check("not delivered", where, [missing], most=0)
    yield Check("median from commit to receiver, ms", where, [median(taken)], most=MOST_MEDIAN_MS)
    yield Check("p99, ms", where, [p99(taken)], most=MOST_P99_MS)


def main() -> None:
    arguments = options(__doc__, rate=100, seconds=20.0, only=["postgresql", "sqlite"])
    print(f"{versions()}; {machine()}.\n")
    checks = [
        check for database in arguments.only for check in measure(database, arguments.rate, arguments.seconds)
    ]
    header = ["what", "where", "figure", "target", ""]
    print(table(header, [[each.what, each.where, *each.cells] for each in checks]))
    sys.exit(not all(check.is_met for check in checks))


if __name__ == "__main__":
    main()
