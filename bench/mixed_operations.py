"""The operations of the mixed load, and the caller that they are called by."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from itertools import count
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from bench.kit.client import Client, Refused

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
        self.get, self.post = self.client.get, self.client.post
        self._customers = [each["id"] for each in self.get("/api/customers/?limit=50")["data"]]
        self._shares = [each["id"] for each in self.get("/api/shares/?limit=30")["data"]]
        self._numbers = count(place, 1_000)

    def number(self, below: int) -> int:
        return next(self._numbers) % below

    def customer(self) -> str:
        return str(self._customers[self.number(len(self._customers))])

    def share(self) -> str:
        return str(self._shares[self.number(len(self._shares))])

    def new_customer(self) -> dict[str, str]:
        return {"email": f"mixed-{uuid4().hex}@example.com"}

    def events(self) -> dict[str, Any]:
        names = [f"mixed.{self.number(50)}" for _ in range(EVENTS_AT_A_TIME)]
        return {"events": [{"name": name, "external_id": uuid4().hex} for name in names]}

    def graphql(self, query: str, **variables: Any) -> Any:
        return self.post("/graphql", {"query": query, "variables": variables})

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


def _days() -> dict[str, str]:
    today = datetime.now(UTC).date()
    return {"from": f"{today - timedelta(days=29)}", "to": f"{today}"}


def read_metrics(caller: Caller) -> None:
    dates = "start_date={from}&end_date={to}".format(**_days())
    caller.get(f"/api/metrics/?{dates}&interval=day&share_id={caller.share()}")


def ingest_by_graphql(caller: Caller) -> None:
    names = [event["name"] for event in caller.events()["events"]]
    caller.graphql(_INGEST, data={"events": [{"name": name} for name in names]})


def sell(caller: Caller) -> None:
    """A session with its download and payment: three requests."""
    price = {"price_amount": 500, "price_currency": "eur"}
    body = {"file_size_bytes": 7, "customer_id": caller.customer(), **price}
    path = f"/api/file-share-sessions/{caller.post('/api/file-share-sessions/', body)['id']}"
    caller.post(f"{path}/downloads", {})
    caller.post(f"{path}/payments", {"amount": 500, "currency": "eur"})


def upload(caller: Caller) -> None:
    """A file in one part: three requests."""
    part = {"number": 1, "chunk_start": 0, "chunk_end": len(CONTENT)}
    file = {"service": "downloadable", "name": "tides.txt", "mime_type": "text/plain", "size": len(CONTENT)}
    made = caller.post("/api/files/", {**file, "upload": {"parts": [part]}})
    (target,) = made["upload"]["parts"]
    tag = caller.put(target["url"], CONTENT, target["headers"])
    parts = [{"number": 1, "checksum_etag": tag, "checksum_sha256_base64": None}]
    body = {"id": made["upload"]["id"], "path": made["path"], "parts": parts}
    caller.post(f"/api/files/{made['id']}/uploaded", body)


def visit_portal(caller: Caller) -> None:
    """A customer opens the portal: four requests, three of them with a token of its own."""
    session = caller.post("/api/customer-sessions/", {"customer_id": caller.customer()})
    customer = Client(caller.address, session["token"])
    try:
        for path in ("customers/me", "shares/", "file-share-sessions/"):
            customer.get(f"/api/customer-portal/{path}")
    finally:
        customer.close()


Operation = tuple[str, Callable[[Caller], Any]]
READS: list[Operation] = [
    ("REST: list shares", lambda caller: caller.get(f"/api/shares/?limit={caller.number(30) + 1}")),
    ("GraphQL: customer", lambda caller: caller.graphql(_CUSTOMER, id=caller.customer())),
    ("REST: customer", lambda caller: caller.get(f"/api/customers/{caller.customer()}")),
    ("GraphQL: list shares", lambda caller: caller.graphql(_SHARES, limit=caller.number(30) + 1)),
    ("REST: events by name", lambda caller: caller.get(f"/api/events/?name=mixed.{caller.number(50)}")),
    (
        "REST: search customers",
        lambda caller: caller.get(f"/api/customers/?query=mixed-{caller.number(500)}&sorting=-name"),
    ),
]
METRICS: list[Operation] = [
    ("REST: metrics of 30 days of a share", read_metrics),
    ("GraphQL: metrics of 30 days", lambda caller: caller.graphql(_METRICS, **_days())),
]
WRITES: list[Operation] = [
    ("REST: create a customer", lambda caller: caller.post("/api/customers/", caller.new_customer())),
    ("GraphQL: ingest 10 events", ingest_by_graphql),
    ("REST: session, download, payment", sell),
    ("GraphQL: create a customer", lambda caller: caller.graphql(_CREATE, data=caller.new_customer())),
    ("REST: ingest 10 events", lambda caller: caller.post("/api/events/ingest", caller.events())),
]
RARE: list[Operation] = [("upload a file of 57 kB", upload), ("visit the portal", visit_portal)]
# Of 27 turns, 18 read, 2 read metrics, 5 write, and one each uploads and visits the portal.
OPERATIONS = [*READS, *WRITES, *READS, *METRICS, *READS, *RARE]
