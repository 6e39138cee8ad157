"""How long a change takes to reach a receiver: from the answer that says it is committed to its arrival.

`python -m bench.live.webhooks`. On each database, customers are created at a steady rate; a receiver on this
machine answers at once. Exits with 1 if a target is missed.
"""

from collections.abc import Iterator

from bench.kit import servers
from bench.kit.client import Client
from bench.kit.report import Check
from bench.live.delays import delays, report
from bench.live.receiving import receiving


def measure(database: str, rate: int, seconds: float) -> Iterator[Check]:
    with (
        servers.site(database) as site,
        receiving() as arrivals,
        servers.gateway(site, DUOGRAPH_WEBHOOK_ALLOW="127.0.0.0/8") as server,
    ):
        client = Client(server.address, site.token)
        body = {"url": f"{arrivals.address}/told", "kinds": ["customer.created"]}
        client.post("/api/webhook-endpoints/", body)
        yield from delays(client, arrivals.moments["/told"], database, rate, seconds)
        client.close()


if __name__ == "__main__":
    report(__doc__, measure)
