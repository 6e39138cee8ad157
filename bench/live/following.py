"""How long a change takes to reach a subscriber of another process, from the answer to who made it.

`python -m bench.live.following`. On each database, customers are created in one process at a steady rate, and
followed in another one by a GraphQL subscription over a WebSocket. Exits with 1 if a target is missed.
"""

from collections.abc import Iterator
from contextlib import suppress
from threading import Thread
from time import monotonic

import orjson
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from bench.kit import servers
from bench.kit.client import Client
from bench.kit.report import Check
from bench.live.delays import delays, report

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
        yield from delays(client, subscriber.moments, database, rate, seconds)
        client.close()


if __name__ == "__main__":
    report(__doc__, measure)
