"""Documents over WebSockets and event streams that end early, fail, or are quiet for a while."""

import asyncio
from threading import Event
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

from resolvers.graph.execution.planned import streams
from resolvers.graph.http import transport_ws
from resolvers.graph.http.transport_ws import Connection
from storage.engine.outages import NodeUnreachable
from storage.rows.rows import table_of
from storage.tables.customers.portal_codes import PortalCodeRow
from tests.changes.sockets import CHANGES, greeted, socket_to
from tests.changes.streams import Live, Reader, beside
from tests.support.measures.patience import PATIENCE_SECONDS, eventually
from tests.support.servers.gateways import bearer

pytestmark = pytest.mark.both_databases

LATEST = "{ latestChange { position } }"


def test_a_subscription_names_the_types_around_what_it_reads(live: Live) -> None:
    typed = CHANGES.replace("change {", "__typename change { __typename")
    with greeted(live) as socket:
        socket.subscribe("a", typed, after=live.latest())
        live.share()
        told = socket.event("a")["changes"]
        assert (told["__typename"], told["change"]["__typename"]) == ("ChangeEvent", "FollowedChange")


def test_a_credential_that_is_no_text_breaks_the_protocol(live: Live) -> None:
    with socket_to(live) as socket:
        socket.send("connection_init", payload={"authorization": 7})
        assert socket.end() == (4400, "Invalid message")


def test_a_pong_and_an_end_of_nothing_change_nothing(live: Live) -> None:
    with greeted(live) as socket:
        socket.send("pong")
        socket.send("complete", id="nothing")
        socket.subscribe("q", LATEST)
        assert socket.event("q")["latestChange"]["position"] == live.latest()


async def test_a_client_that_goes_before_it_is_greeted_is_told_nothing() -> None:
    class Gone:
        """A client whose connection has ended, which notes what it is told nevertheless."""

        request_id = "a"

        def __init__(self) -> None:
            self.told: list[Any] = []

        async def receive(self) -> None:
            return None

        async def send(self, message: bytes) -> None:
            self.told.append(message)

        async def close(self, code: int, reason: str) -> None:
            self.told.append((code, reason))

    client: Any = Gone()
    # Nothing is asked of the endpoint.
    await Connection(None, client).run()  # type: ignore[arg-type]
    assert client.told == []


def test_a_connection_runs_few_documents_at_a_time(live: Live, monkeypatch: Any) -> None:
    monkeypatch.setattr(transport_ws, "MOST_AT_A_TIME", 1)
    with greeted(live) as socket:
        after = live.latest()
        live.share()
        socket.subscribe("a", after=after)
        socket.change("a")
        socket.subscribe("q", LATEST)
        assert socket.refusal() == "rate_limited"
        live.share()
        socket.change("a")
        socket.send("complete", id="a")
        socket.subscribe("q", LATEST)
        assert socket.event("q")["latestChange"]


@pytest.mark.parametrize("document", [LATEST, "{ nothing }", CHANGES], ids=["query", "refused", "stream"])
def test_a_document_that_ends_before_its_answer_is_not_answered(
    live: Live, monkeypatch: Any, document: str
) -> None:
    answer, ended = Connection._answer, Event()

    # When a message arrives cannot be chosen from outside: this one comes as the document begins.
    async def completed_first(self: Any, ctx: Any, id: str, *others: Any) -> None:
        self._complete(id)
        try:
            await answer(self, ctx, id, *others)
        finally:
            ended.set()

    monkeypatch.setattr(Connection, "_answer", completed_first)
    with greeted(live) as socket:
        after = live.latest()
        live.share()
        socket.subscribe("a", document, **({"after": after} if document == CHANGES else {}))
        assert ended.wait(PATIENCE_SECONDS)
        socket.send("ping")
        assert socket.receive() == {"type": "pong"}


def test_a_quiet_subscription_tells_nothing_and_goes_on(live: Live) -> None:
    headers = {**bearer(live.tenant.token), "Accept": "text/event-stream"}
    body = {"query": CHANGES, "variables": {"after": live.latest()}}
    first = live.share()
    address = f"{live.address}/graphql"
    with (
        greeted(live) as socket,
        live.client.stream("POST", address, headers=headers, json=body) as response,
    ):
        reader = Reader(response)
        socket.subscribe("a", after=body["variables"]["after"])
        assert socket.change("a")["resourceId"] == first
        assert reader.event()["data"]["data"]["changes"]["change"]["resourceId"] == first
        live.clock.advance(15)
        assert reader.block() == {"": ""}
        second = live.share()
        assert socket.change("a")["resourceId"] == second
        assert reader.event()["data"]["data"]["changes"]["change"]["resourceId"] == second


@pytest.mark.parametrize(
    ("error", "code", "logged"),
    [
        (RuntimeError("the disk is full"), "internal", 2),
        (NodeUnreachable("A node of the database is away."), "unavailable", 0),
    ],
)
def test_what_nobody_foresaw_ends_its_document_alone(
    live: Live, monkeypatch: Any, error: Exception, code: str, logged: int
) -> None:
    async def fail(*_: Any) -> None:
        raise error

    after = live.latest()
    live.share()
    with greeted(live) as socket, capture_logs() as lines:
        # Failures of the disk and of the database can be had by mocks alone.
        with monkeypatch.context() as patch:
            patch.setattr(streams, "_resource", fail)
            socket.subscribe("a", after=after)
            assert socket.refusal() == code
            patch.setattr(transport_ws, "read_message", fail)
            socket.subscribe("q", LATEST)
            assert socket.refusal() == code
        socket.subscribe("q", LATEST)
        assert socket.event("q")["latestChange"]
    said = [line for line in lines if line["event"] == "unforeseen" and line.get("method") == "SUBSCRIBE"]
    assert len(said) == logged


def test_what_follows_an_answer_by_http_follows_one_of_a_socket(live: Live, own_url: str) -> None:
    email, codes = f"{uuid4().hex}@example.com", table_of(PortalCodeRow)
    id = UUID(live.send("POST", "/customers/", email=email)["id"])

    async def has_code() -> bool:
        async with beside(own_url) as gateway, gateway.database.read() as connection:
            mailed = select(codes.c.id).where(codes.c.customer_id == id)
            return bool((await connection.execute(mailed)).all())

    with greeted(live) as socket:
        data = {"email": email, "slug": live.tenant.slug}
        mutation = "mutation ($data: PortalCodeRequest!) { requestPortalCode(data: $data) }"
        socket.subscribe("m", mutation, data=data)
        assert socket.event("m") == {"requestPortalCode": True}
        assert eventually(lambda: asyncio.run(has_code()))
