"""How long a change takes to reach a subscriber of another process, from the answer to who made it.

`python -m bench.following`. On each database, customers are created in one process at a steady rate, and
followed in another one by a GraphQL subscription over a WebSocket. Exits with 1 if a target is missed.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from statistics import median
from threading import Thread
from time import monotonic, sleep

import orjson
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from bench.kit import servers
from bench.kit.client import Client
from bench.kit.options import options
from bench.kit.processes import machine, versions
from bench.kit.report import Check, table
from bench.neighbours import p99

LONGEST_WAIT = 60
MOST_MEDIAN_MS, MOST_P99_MS = 100, 1000
QUERY = """
subscription {
  changes(kinds: [CUSTOMER_CREATED]) { change { resourceId node { ... on Customer { email } } } }
}
"""


class Subscriber(Thread):
    """Notes when the creation of each customer arrived, by the customer's id."""

    def __init__(self, address: str, token: str) -> None:
        super().__init__(daemon=True)
        self.moments: dict[str, float] = {}
        url = address.replace("http", "ws", 1) + "/graphql"
        self._socket = connect(url, subprotocols=["graphql-transport-ws"], legacy=True)  # type: ignore[call-overload]
        self._send({"type": "connection_init", "payload": {"Authorization": f"Bearer {token}"}})
        self._socket.recv()
        self._send({"type": "subscribe", "id": "a", "payload": {"query": QUERY}})

    def _send(self, message: dict[str, object]) -> None:
        self._socket.send(orjson.dumps(message).decode())

    def run(self) -> None:
        with suppress(ConnectionClosed):
            while True:
                message, at = self._socket.recv(), monotonic()
                payload = orjson.loads(message)["payload"]
                self.moments.setdefault(payload["data"]["changes"]["change"]["resourceId"], at)


def measure(database: str, rate: int, seconds: float) -> Iterator[Check]:
    with (
        servers.site(database) as site,
        servers.gateway(site) as writing,
        servers.gateway(site) as following,
    ):
        client, subscriber = Client(writing.address, site.token), Subscriber(following.address, site.token)
        subscriber.start()
        sleep(2)
        committed, begun = {}, monotonic()
        for number in range(int(rate * seconds)):
            sleep(max(0.0, begun + number / rate - monotonic()))
            made = client.post("/api/customers/", {"email": f"c{number}@example.com"})
            committed[made["id"]] = monotonic()
        reached = len(committed) / (monotonic() - begun)
        end = monotonic() + LONGEST_WAIT
        while len(subscriber.moments) < len(committed) and monotonic() < end:
            sleep(0.1)
        client.close()
    moments = subscriber.moments
    missing = len(committed.keys() - moments.keys())
    taken = sorted(1000 * max(0.0, moments[id] - at) for id, at in committed.items() if id in moments)
    where = f"{database}, {reached:.0f} changes/s"
    yield Check("not told", where, [missing], most=0)
    yield Check("median from commit to subscriber, ms", where, [median(taken)], most=MOST_MEDIAN_MS)
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
