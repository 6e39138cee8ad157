"""The operations of the mixed load, and the caller that they are called by."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from itertools import count
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from bench.client import Client, Refused

EVENTS_AT_A_TIME = 10
CONTENT = b"A tide table. " * 4096
_CUSTOMER = "query($id: ID!) { customer(id: $id) { email members { id name } } }"
_SHARES = "query($limit: Int!) { shares(limit: $limit) { data { id name prices { id } } } }"
_METRICS = (
    "query($from: Date!, $to: Date!) "
    "{ metrics(startDate: $from, endDate: $to, interval: DAY) { periods { timestamp } } }"
)
_CREATE = "mutation($data: CustomerCreate!) { createCustomer(data: $data) { id } }"
_INGEST = "mutation($data: EventIngest!) { ingestEvents(data: $data) { inserted } }"


class Caller:
    """A caller with a connection of its own; `number` goes up, so that no two requests are equal."""

    def __init__(self, address: str, token: str, place: int) -> None:
        self.address = address
        self.client = Client(address, token)
        self.ids = [each["id"] for each in self.client.get("/api/customers/?limit=50")["data"]]
        self.shares = [each["id"] for each in self.client.get("/api/shares/?limit=30")["data"]]
        self._numbers = count(place, 1_000)

    def number(self) -> int:
        return next(self._numbers)

    def customer(self) -> str:
        id: str = self.ids[self.number() % len(self.ids)]
        return id

    def graphql(self, query: str, **variables: Any) -> Any:
        return self.client.post("/graphql", {"query": query, "variables": variables})

    def put(self, url: str, content: bytes, headers: dict[str, str]) -> str:
        """Send one part of a file to its address; its entity tag."""
        parts = urlsplit(url)
        connection = HTTPConnection(parts.netloc)
        try:
            connection.request("PUT", f"{parts.path}?{parts.query}", content, headers)
            answer = connection.getresponse()
            said = answer.read()
            if answer.status != 200:
                raise Refused(f"PUT of a part answered {answer.status}: {said[:300]!r}")
            return answer.headers["ETag"]
        finally:
            connection.close()


def _days() -> tuple[str, str]:
    today = datetime.now(UTC).date()
    return str(today - timedelta(days=29)), str(today)


def list_shares(caller: Caller) -> None:
    caller.client.get(f"/api/shares/?limit={caller.number() % 30 + 1}")


def get_customer(caller: Caller) -> None:
    caller.client.get(f"/api/customers/{caller.customer()}")


def list_events(caller: Caller) -> None:
    caller.client.get(f"/api/events/?name=mixed.{caller.number() % 50}")


def search_customers(caller: Caller) -> None:
    caller.client.get(f"/api/customers/?query=mixed-{caller.number() % 500}&sorting=-name")


def read_metrics(caller: Caller) -> None:
    begin, end = _days()
    share = caller.shares[caller.number() % len(caller.shares)]
    caller.client.get(f"/api/metrics/?start_date={begin}&end_date={end}&interval=day&share_id={share}")


def customer_of_graph(caller: Caller) -> None:
    caller.graphql(_CUSTOMER, id=caller.customer())


def shares_of_graph(caller: Caller) -> None:
    caller.graphql(_SHARES, limit=caller.number() % 30 + 1)


def metrics_of_graph(caller: Caller) -> None:
    begin, end = _days()
    caller.graphql(_METRICS, **{"from": begin, "to": end})


def create_customer(caller: Caller) -> None:
    caller.client.post("/api/customers/", {"email": f"mixed-{uuid4().hex}@example.com"})


def create_customer_of_graph(caller: Caller) -> None:
    caller.graphql(_CREATE, data={"email": f"mixed-{uuid4().hex}@example.com"})


def ingest_events(caller: Caller) -> None:
    names = [f"mixed.{caller.number() % 50}" for _ in range(EVENTS_AT_A_TIME)]
    events = [{"name": name, "external_id": uuid4().hex} for name in names]
    caller.client.post("/api/events/ingest", {"events": events})


def ingest_of_graph(caller: Caller) -> None:
    names = [f"mixed.{caller.number() % 50}" for _ in range(EVENTS_AT_A_TIME)]
    caller.graphql(_INGEST, data={"events": [{"name": name} for name in names]})


def sell(caller: Caller) -> None:
    """A session with its download and payment: three requests."""
    price = {"price_amount": 500, "price_currency": "eur"}
    body = {"file_size_bytes": 7, "customer_id": caller.customer(), **price}
    session = caller.client.post("/api/file-share-sessions/", body)
    path = f"/api/file-share-sessions/{session['id']}"
    caller.client.post(f"{path}/downloads", {})
    caller.client.post(f"{path}/payments", {"amount": 500, "currency": "eur"})


def upload(caller: Caller) -> None:
    """A file in one part: three requests."""
    part = {"number": 1, "chunk_start": 0, "chunk_end": len(CONTENT)}
    file = {"service": "downloadable", "name": "tides.txt", "mime_type": "text/plain", "size": len(CONTENT)}
    made = caller.client.post("/api/files/", {**file, "upload": {"parts": [part]}})
    (target,) = made["upload"]["parts"]
    tag = caller.put(target["url"], CONTENT, target["headers"])
    parts = [{"number": 1, "checksum_etag": tag, "checksum_sha256_base64": None}]
    body = {"id": made["upload"]["id"], "path": made["path"], "parts": parts}
    caller.client.post(f"/api/files/{made['id']}/uploaded", body)


def visit_portal(caller: Caller) -> None:
    """A customer opens the portal: four requests, three of them with a token of its own."""
    session = caller.client.post("/api/customer-sessions/", {"customer_id": caller.customer()})
    customer = Client(caller.address, session["token"])
    try:
        for path in ("customers/me", "shares/", "file-share-sessions/"):
            customer.get(f"/api/customer-portal/{path}")
    finally:
        customer.close()


_READS: list[tuple[str, Callable[[Caller], None]]] = [
    ("REST: list shares", list_shares),
    ("GraphQL: customer", customer_of_graph),
    ("REST: customer", get_customer),
    ("GraphQL: list shares", shares_of_graph),
    ("REST: events by name", list_events),
    ("REST: search customers", search_customers),
]
_MEASURES: list[tuple[str, Callable[[Caller], None]]] = [
    ("REST: metrics of 30 days of a share", read_metrics),
    ("GraphQL: metrics of 30 days", metrics_of_graph),
]
_WRITES: list[tuple[str, Callable[[Caller], None]]] = [
    ("REST: create a customer", create_customer),
    ("GraphQL: ingest 10 events", ingest_of_graph),
    ("REST: session, download, payment", sell),
    ("GraphQL: create a customer", create_customer_of_graph),
    ("REST: ingest 10 events", ingest_events),
]
_RARE: list[tuple[str, Callable[[Caller], None]]] = [
    ("upload a file of 57 kB", upload),
    ("visit the portal", visit_portal),
]
# Of 27 turns, 18 read, 2 read metrics, 5 write, and one each uploads and visits the portal.
OPERATIONS = [*_READS, *_WRITES, *_READS, *_MEASURES, *_READS, *_RARE]
