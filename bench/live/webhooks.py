"""How long a change takes to reach a receiver: from the answer that says it is committed to its arrival.

`python -m bench.live.webhooks`. On each database, customers are created at a steady rate; a receiver on this
machine answers at once. Exits with 1 if a target is missed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic

import orjson

from bench.kit import servers
from bench.kit.client import Client
from bench.kit.report import Check
from bench.live.delays import delays, report


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
        yield from delays(client, moments, database, rate, seconds)
        client.close()


if __name__ == "__main__":
    report(__doc__, measure)
