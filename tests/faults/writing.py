"""Writers that retry as a correct client does, and what they tried and were told is done."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import Any
from uuid import uuid4

import httpx

WRITERS = 4
# A request that gets no answer for so long hangs: the gateway waits 30 seconds for a connection.
HANGS_AFTER = 45
# A client gives up a write that does not succeed within this time.
PATIENCE_SECONDS = 300
EVENTS_AT_A_TIME = 5
RETRIED = frozenset({429, 500, 502, 503, 504})
CREATED = 201

_CREATE = "mutation($data: CustomerCreate!) { createCustomer(data: $data) { id } }"
_INGEST = "mutation($data: EventIngest!) { ingestEvents(data: $data) { inserted } }"


@dataclass
class Record:
    """Ids by kind, and what the answers were. `moments` are when each writer's acknowledged writes began."""

    tried: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    acknowledged: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    requests: int = 0
    answers: Counter[int] = field(default_factory=Counter)
    unanswered: int = 0
    longest: float = 0.0
    hints_missing: int = 0
    surprises: list[str] = field(default_factory=list)
    moments: dict[int, float] = field(default_factory=dict)

    @property
    def writes(self) -> int:
        return sum(map(len, self.tried.values()))

    @property
    def kept(self) -> int:
        return sum(map(len, self.acknowledged.values()))


class GaveUp(Exception):
    """A write did not succeed within the client's patience."""


class Writer:
    """Sends one write after the other, each with ids of its own, until it is told to stop."""

    def __init__(self, number: int, client: httpx.AsyncClient, record: Record) -> None:
        self._number, self._client, self._record = number, client, record
        self._kinds = [self._customer, self._customer_of_graph, self._events, self._session]
        self._kinds += [self._events_of_graph, self._share]

    async def run(self, stopped: asyncio.Event) -> None:
        for turn in count(self._number):
            if stopped.is_set():
                return
            begun = monotonic()
            try:
                await self._kinds[turn % len(self._kinds)]()
            except GaveUp as gave_up:
                self._record.surprises.append(str(gave_up))
                return
            self._record.moments[self._number] = begun

    async def _customer(self) -> None:
        id = uuid4().hex
        with_key = {"email": f"{id}@example.com", "external_id": id}
        await self._write("customers", [id], "/api/customers/", with_key, key=id)

    async def _customer_of_graph(self) -> None:
        id = uuid4().hex
        data = {"email": f"{id}@example.com", "externalId": id}
        await self._write(
            "customers", [id], "/graphql", {"query": _CREATE, "variables": {"data": data}}, key=id
        )

    async def _events(self) -> None:
        ids = [uuid4().hex for _ in range(EVENTS_AT_A_TIME)]
        events = [{"name": "read", "external_id": id, "external_customer_id": f"r-{id[0]}"} for id in ids]
        await self._write("events", ids, "/api/events/ingest", {"events": events})

    async def _events_of_graph(self) -> None:
        ids = [uuid4().hex for _ in range(EVENTS_AT_A_TIME)]
        events = [{"name": "seen", "externalId": id} for id in ids]
        body = {"query": _INGEST, "variables": {"data": {"events": events}}}
        await self._write("events", ids, "/graphql", body)

    async def _share(self) -> None:
        """Of a share only the key is unique."""
        name = uuid4().hex
        body = {"name": name, "prices": [{"amount_type": "free"}]}
        await self._write("shares", [name], "/api/shares/", body, key=name)

    async def _session(self) -> None:
        """A session with a payment, by external ids, and a download, of which only the key is unique."""
        id = uuid4().hex
        body = {"external_id": id, "file_size_bytes": 7, "price_amount": 500, "price_currency": "eur"}
        session = await self._write("sessions", [id], "/api/file-share-sessions/", body)
        path = f"/api/file-share-sessions/{session['id']}"
        payment = {"amount": 500, "currency": "eur", "external_id": id}
        await self._write("payments", [id], f"{path}/payments", payment)
        await self._write("downloads", [session["id"]], f"{path}/downloads", {}, key=id)

    async def _write(
        self, kind: str, ids: Sequence[str], path: str, body: dict[str, Any], key: str | None = None
    ) -> Any:
        self._record.tried[kind].update(ids)
        answer = await self._deliver(path, body, {} if key is None else {"Idempotency-Key": key})
        self._record.acknowledged[kind].update(ids)
        return answer

    async def _deliver(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
        """The answer of a write, which is sent until it succeeds."""
        end, pause, last = monotonic() + PATIENCE_SECONDS, 0.1, "nothing was sent"
        while monotonic() < end:
            begun = monotonic()
            self._record.requests += 1
            try:
                answer = await self._client.post(path, json=body, headers=headers)
            except httpx.TransportError as lost:
                self._record.unanswered += 1
                last = type(lost).__name__
            else:
                status, said = _outcome(answer)
                self._record.answers[status] += 1
                if status < 300:
                    return said
                last = f"{status} {said}"
                if status in RETRIED:
                    self._record.hints_missing += status == 503 and not _has_hint(answer)
                elif not (status == 409 and "still running" in str(said)):
                    raise GaveUp(f"{path} was refused: {last}")
                pause = float(answer.headers.get("retry-after", pause))
            finally:
                self._record.longest = max(self._record.longest, monotonic() - begun)
            await asyncio.sleep(min(pause, 2))
            pause = min(pause * 2, 2)
        raise GaveUp(f"{path} did not succeed within {PATIENCE_SECONDS} seconds: {last}")


def _outcome(answer: httpx.Response) -> tuple[int, Any]:
    """The status and the body, also of a GraphQL document that failed with the status 200."""
    if answer.headers.get("content-type", "").startswith(("application/json", "application/graphql")):
        body = answer.json()
        if isinstance(body, dict) and body.get("errors"):
            error = body["errors"][0]
            return error["extensions"]["status"], error
        return answer.status_code, body
    return answer.status_code, answer.text[:200]


def _has_hint(answer: httpx.Response) -> bool:
    # A GraphQL document that was executed has the status 200, and its answer no headers of a failure.
    return answer.status_code == 200 or "retry-after" in answer.headers


@dataclass
class Writing:
    """Writers at work."""

    record: Record
    wait_for: Callable[[int], Awaitable[None]]
    recovered: Callable[[], Awaitable[float]]


@asynccontextmanager
async def writing(address: str, token: str, writers: int = WRITERS) -> AsyncIterator[Writing]:
    """Writers that write until the end of the block, and then finish what they have begun."""
    record, stopped = Record(), asyncio.Event()
    limits = httpx.Limits(max_keepalive_connections=writers)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        base_url=address, headers=headers, timeout=HANGS_AFTER, limits=limits
    ) as client:
        tasks = [
            asyncio.create_task(Writer(number, client, record).run(stopped)) for number in range(writers)
        ]

        async def wait_for(many: int) -> None:
            """Until so many more ids have been acknowledged."""
            wanted = record.kept + many
            await _until(lambda: record.kept >= wanted, tasks, record)

        async def recovered() -> float:
            """Seconds until each writer has succeeded with a write that it began after this moment."""
            begun = monotonic()
            everyone = range(writers)
            await _until(lambda: all(record.moments.get(each, 0) > begun for each in everyone), tasks, record)
            return monotonic() - begun

        try:
            yield Writing(record, wait_for, recovered)
        finally:
            stopped.set()
            await asyncio.gather(*tasks)


async def _until(condition: Callable[[], bool], tasks: Sequence[asyncio.Task[None]], record: Record) -> None:
    end = monotonic() + PATIENCE_SECONDS
    while not condition():
        ended = [task for task in tasks if task.done()]
        assert not ended, f"a writer gave up: {record.surprises or ended[0].exception()}"
        assert monotonic() < end, f"no progress: {record.answers}, {record.unanswered} unanswered"
        await asyncio.sleep(0.02)
