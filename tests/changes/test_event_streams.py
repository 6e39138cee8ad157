"""Documents of GraphQL as event streams: what arrives, and what ends a subscription."""

import asyncio
from collections import Counter
from contextlib import ExitStack
from typing import Any

import pytest

from resolvers.changes import changes
from resolvers.graph.execution.planned.nodes import PlannedNode
from storage.changes import shared_reads
from storage.changes.reading import read_log
from tests.changes.sockets import CHANGES, greeted
from tests.changes.streams import Live, Reader, application
from tests.support.measures.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.both_databases

EVENTS = {"Accept": "text/event-stream"}


def test_an_event_stream_has_the_same_results(live: Live) -> None:
    after = live.latest()
    id = live.share()
    with events(live, CHANGES, after=after) as response:
        reader = Reader(response)
        assert reader.block() == {"retry": "1000"}
        event = reader.event()
        assert (event["event"], event["data"]["data"]["changes"]["change"]["resourceId"]) == ("next", id)
    with events(live, "{ latestChange { position } }") as response:
        body = response.read().decode()
        assert body.startswith("event: next\ndata: ")
        assert body.endswith("event: complete\ndata:\n\n")
    for query, status in (("subscription { nothing }", 400), (CHANGES.replace("$after,", '"7",'), 400)):
        with events(live, query) as response:
            assert response.status_code == status
    with live.client.stream("POST", f"{live.address}/graphql", json={"query": CHANGES}) as response:
        assert "text/event-stream" in response.read().decode()


def test_an_event_stream_ends_with_its_credential(live: Live) -> None:
    token = live.token("shares:read")
    with events(live, CHANGES, token["text"]) as response:
        reader = Reader(response)
        reader.block()
        live.send("DELETE", f"/workspace-access-tokens/{token['id']}", live.tenant.personal_token)
        live.clock.advance(4)
        refusal, complete = reader.rest()
    assert refusal["data"]["errors"][0]["extensions"]["code"] == "invalid_token"
    assert complete == {"event": "complete", "data": ""}


def test_a_document_that_is_taken_off_the_allow_list_tells_nothing_more(live: Live, own_url: str) -> None:
    client_id, token = asyncio.run(application(live, own_url))
    path, owner = f"/oauth2/clients/{client_id}", live.tenant.personal_token
    (document,) = live.send("POST", f"{path}/documents", owner, documents=[{"text": CHANGES}])["data"]
    live.send("PATCH", path, owner, document_mode="enforce")
    with events(live, CHANGES, token) as response:
        reader = Reader(response)
        reader.block()
        live.share()
        assert reader.event()["data"]["data"]["changes"]["change"]["kind"] == "SHARE_CREATED"
        live.send("DELETE", f"/oauth2/documents/{document['id']}", owner)
        live.clock.advance(4)
        live.share()
        refusal, complete = reader.rest()
    assert refusal["data"]["errors"][0]["extensions"]["code"] == "document_not_registered"
    assert complete == {"event": "complete", "data": ""}


def events(live: Live, query: str, token: str | None = None, **variables: Any) -> Any:
    headers = {"Authorization": f"Bearer {token or live.tenant.token}", **EVENTS}
    body = {"query": query, "variables": variables}
    return live.client.stream("POST", f"{live.address}/graphql", headers=headers, json=body)


def test_streams_that_are_told_together_share_what_they_read(live: Live, monkeypatch: Any) -> None:
    reads = Counter[int]()

    async def counted(*arguments: Any, after: int, **others: Any) -> Any:
        reads[after] += 1
        return await read_log(*arguments, after=after, **others)

    monkeypatch.setattr(changes, "read_log", counted)
    monkeypatch.setattr(shared_reads, "SECONDS_KEPT", PATIENCE_SECONDS)
    home, tokens = live.tenant.id, [live.tenant.token, live.tenant.personal_token]
    with ExitStack() as opened:
        readers = [opened.enter_context(live.stream(token, workspace_id=home)) for token in tokens * 3]
        begun = {int(reader.block()["id"]) for reader in readers}
        reads.clear()
        id = live.share()
        assert {reader.event()["data"]["resource_id"] for reader in readers} == {id}
    # A look into the log, each second, may wake again who has not read yet.
    assert sum(reads[position] for position in begun) < len(readers)


def test_equal_callers_share_the_resource_of_a_change_and_others_do_not(live: Live, monkeypatch: Any) -> None:
    readers, read = [], PlannedNode.read

    async def noted(self: PlannedNode, answering: Any, *arguments: Any) -> Any:
        readers.append(len(answering.ctx.principal.scopes))
        return await read(self, answering, *arguments)

    monkeypatch.setattr(PlannedNode, "read", noted)
    monkeypatch.setattr(shared_reads, "SECONDS_KEPT", PATIENCE_SECONDS)
    narrow = live.token("shares:read")["text"]
    with ExitStack() as opened:
        own = [opened.enter_context(greeted(live)) for _ in range(4)]
        other = opened.enter_context(greeted(live, narrow))
        for socket in (*own, other):
            socket.subscribe("a", after=live.latest())
        live.share()
        nodes = [socket.change("a")["node"] for socket in own]
        assert nodes == [nodes[0]] * len(own)
        assert nodes[0]["workspace"] == {"id": live.tenant.id}
        message = other.receive()
        assert message["payload"]["data"]["changes"]["change"]["node"]["workspace"] is None
        assert message["payload"]["errors"][0]["extensions"]["code"] == "insufficient_scope"
    # A look into the log, each second, may wake again who has not read yet.
    assert len([scopes for scopes in readers if scopes > 1]) < len(own)
    assert readers.count(1) == 1
