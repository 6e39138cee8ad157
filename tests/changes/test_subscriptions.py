"""GraphQL's subscriptions over WebSockets: what arrives, and what ends them."""

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gateway.http import sockets
from gateway.web.kit.cookies import SESSION
from resolvers.graph.execution.planned import streams
from resolvers.graph.http import transport_ws
from storage.changes import followers
from tests.changes.sockets import Socket, greeted, socket_to
from tests.changes.streams import FREE, Live, application, joined, session_of
from tests.support.measures.patience import eventually
from tests.support.servers.live import serve

pytestmark = pytest.mark.both_databases


def test_a_commit_arrives_with_its_resource_by_its_type(live: Live) -> None:
    with greeted(live) as socket:
        socket.subscribe("a", after=live.latest())
        id = live.share()
        change = socket.change("a")
        (told,) = live.send("GET", f"/changes/?resource_id={id}")["data"]
        assert change["position"] == told["position"]
        assert (change["kind"], change["resourceId"]) == ("SHARE_CREATED", id)
        share = live.send("GET", f"/shares/{id}")
        workspace = {"id": live.tenant.id}
        assert change["node"] == {"__typename": "Share", "name": share["name"], "workspace": workspace}


def test_a_subscription_goes_on_after_a_position(live: Live) -> None:
    last, made, read = live.latest(), [], []
    for _ in range(3):
        made += [live.share() for _ in range(2)]
        with greeted(live) as socket:
            socket.subscribe("a", after=last)
            change = socket.change("a")
            read.append(change["resourceId"])
            last = change["position"]
    with greeted(live) as socket:
        socket.subscribe("a", after=last)
        while len(read) < len(made):
            read.append(socket.change("a")["resourceId"])
    assert read == made


def test_kinds_choose_and_scopes_decide_what_is_read(live: Live) -> None:
    token = live.token("customers:read", "shares:read")["text"]
    query = "subscription { changes(kinds: [CUSTOMER_CREATED]) { change { kind node { id ... on Customer "
    query += "{ workspace { id } } } } } }"
    with greeted(live, token) as socket:
        query = query.replace("changes(", f'changes(after: "{live.latest()}" ')
        socket.subscribe("a", query)
        live.share()
        customer = live.send("POST", "/customers/", email=f"{uuid4().hex}@example.com")
        message = socket.receive()
        node = message["payload"]["data"]["changes"]["change"]["node"]
        assert node == {"id": customer["id"], "workspace": None}
        assert message["payload"]["errors"][0]["extensions"]["code"] == "insufficient_scope"
        socket.subscribe("b", kinds=["MEMBER_CREATED"])
        assert socket.refusal() == "insufficient_scope"


def test_what_is_gone_and_what_was_ingested_have_no_node(live: Live) -> None:
    after = live.latest()
    customer = live.send("POST", "/customers/", email=f"{uuid4().hex}@example.com")
    live.send("DELETE", f"/customers/{customer['id']}")
    live.send("POST", "/events/ingest", events=[{"name": "a", "external_customer_id": "c"}])
    with greeted(live) as socket:
        socket.subscribe("a", after=after)
        assert [socket.change("a")["node"] for _ in range(3)] == [None, None, None]


def test_other_documents_run_as_a_post_does(live: Live) -> None:
    with greeted(live) as socket:
        socket.subscribe("q", "{ viewer { id } latestChange { position } nothing }")
        assert socket.refusal() == "invalid"
        socket.subscribe("q", "{ latestChange { position } }")
        assert socket.event("q")["latestChange"]["position"] == live.latest()
        assert socket.receive() == {"type": "complete", "id": "q"}
        mutation = "mutation($data: ShareCreate!) { createShare(data: $data) { name } }"
        prices = [{"amountType": "FREE"}]
        socket.subscribe("m", mutation, data={"name": "By socket", "prices": prices})
        assert socket.event("m") == {"createShare": {"name": "By socket"}}
        assert socket.receive() == {"type": "complete", "id": "m"}
        socket.send("ping")
        assert socket.receive() == {"type": "pong"}


def test_a_document_is_limited_as_by_post(live: Live) -> None:
    deep = (
        "{ changes { change { node { ... on Share " + "{ workspace " * 20 + "{ id }" + "} " * 20 + "} } } }"
    )
    with greeted(live) as socket:
        socket.subscribe("a", "subscription " + deep)
        assert socket.refusal() == "too_complex"
        socket.subscribe("a", "subscription { changes { change { id } } metricsChanged { firstDay } }")
        assert socket.refusal() == "invalid"
        socket.subscribe("a", after="7")
        assert socket.refusal() == "invalid"
        socket.subscribe("a", after="9" * 18 + "0")
        assert socket.refusal() == "gone"
    with greeted(live) as socket:
        socket.connection.send('"' + "x" * 300_000 + '"')
        assert socket.end()[0] == 1009


def test_metrics_that_change_are_told_with_their_first_local_day(live: Live) -> None:
    owner, slug = live.tenant.personal_token, f"w-{uuid4().hex}"
    body = {"name": "Far east", "slug": slug, "timezone": "Pacific/Kiritimati"}
    workspace = live.send("POST", "/workspaces/", owner, **body)["id"]
    token = live.token("shares:write", "events:write", workspace_id=workspace)["text"]
    asked = f'(workspaceId: "{workspace}")'
    moments = ["2026-02-03T00:00:00Z", "2026-01-31T11:00:00Z", "2026-04-01T00:00:00Z"]
    reported = [{"name": "a", "external_customer_id": "c", "timestamp": moment} for moment in moments]

    def told(socket: Socket) -> Any:
        live.send("POST", "/shares/", token, name="No fact", prices=FREE)
        live.send("POST", "/events/ingest", token, events=reported)
        live.clock.advance(1)
        return socket.receive_soon()

    with greeted(live, owner) as socket:
        socket.subscribe("m", f"subscription {{ metricsChanged{asked} {{ workspaceId firstDay }} }}")
        # It begins with what changes once it has begun.
        message = eventually(lambda: told(socket))
        change = message["payload"]["data"]["metricsChanged"]
        assert change == {"workspaceId": workspace, "firstDay": "2026-02-01"}
    with greeted(live, live.token("shares:read")["text"]) as socket:
        socket.subscribe("m", "subscription { metricsChanged { firstDay } }")
        assert socket.refusal() == "insufficient_scope"


def test_the_protocol_is_kept(live: Live) -> None:
    """Each breach of it has its close code."""
    assert closed(live, lambda socket: socket.connection.send("{")) == 4400
    assert closed(live, lambda socket: socket.connection.send(b"{}")) == 4400
    assert closed(live, lambda socket: socket.send("start")) == 4400
    assert closed(live, lambda socket: socket.send("connection_init", payload=[])) == 4400
    assert closed(live, lambda socket: socket.subscribe("a")) == 4401
    wrong = {"authorization": "Bearer nothing"}
    assert closed(live, lambda socket: socket.send("connection_init", payload=wrong)) == 4401
    assert closed(live, lambda _: live.clock.advance(transport_ws.SECONDS_TO_INITIALISE)) == 4408
    right = {"Authorization": f"Bearer {live.tenant.token}"}
    twice = closed(live, lambda socket: [socket.send("connection_init", payload=right) for _ in range(2)])
    assert twice == 4429
    with greeted(live) as socket:
        socket.subscribe("a")
        socket.subscribe("a")
        assert socket.end() == (4409, "Subscriber for a already exists")
    with socket_to(live, protocol="graphql-ws") as socket:
        assert socket.end()[0] == 4406
    with pytest.raises(InvalidStatus), socket_to(Live(f"{live.address}/api", live.tenant, live.clock)):
        pass


def closed(live: Live, do: Any) -> int:
    with socket_to(live) as socket:
        do(socket)
        return socket.end()[0]


def test_the_log_has_nothing_that_a_client_sent(live: Live, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"), socket_to(live, query="?token=secret") as socket:
        socket.greet(live.tenant.token)
    assert "secret" not in caplog.text


def test_the_header_of_the_handshake_is_a_credential_too(live: Live) -> None:
    headers = {"Authorization": f"Bearer {live.tenant.token}"}
    with socket_to(live, additional_headers=headers) as socket:
        socket.greet()
        socket.subscribe("a", "{ latestChange { position } }")
        assert socket.event("a")
    assert closed(live, lambda socket: socket.send("connection_init")) == 4401


def test_connections_of_a_caller_are_counted_while_they_are_open(
    live: Live, own_url: str, monkeypatch: Any
) -> None:
    # A caller of its own: one that other tests have closed may not have given back its place yet.
    _, token = asyncio.run(application(live, own_url))
    monkeypatch.setattr(sockets, "MOST_CONNECTIONS_OF_ONE", 1)
    with greeted(live, token), socket_to(live) as second:
        second.send("connection_init", payload={"authorization": f"Bearer {token}"})
        assert second.end()[0] == 1013


def test_a_cookie_counts_on_pages_of_our_own_only(live: Live, own_url: str) -> None:
    cookie = {"Cookie": f"{SESSION}={asyncio.run(session_of(own_url, live.tenant))}"}
    with socket_to(live, origin=live.address, additional_headers=cookie) as socket:
        socket.greet()
    with socket_to(live, origin="https://elsewhere.example", additional_headers=cookie) as socket:
        socket.send("connection_init")
        assert socket.end()[0] == 4401


def test_pages_of_other_origins_connect_as_cors_says(own_url: str, tmp_path: Path) -> None:
    with serve(own_url, tmp_path, cors_origins="https://app.example.com") as (address, tenant):
        live = Live(address, tenant, None)  # type: ignore[arg-type]  # No test moves its clock.
        for origin in ("https://app.example.com", address):
            with socket_to(live, origin=origin) as socket:
                socket.greet(tenant.token)
        with pytest.raises(InvalidStatus) as refused, socket_to(live, origin="https://elsewhere.example"):
            pass
        assert refused.value.response.status_code == 403
        live.client.close()


def test_a_credential_that_loses_access_ends_its_subscriptions(live: Live, own_url: str) -> None:
    owner = live.tenant.personal_token
    revoked, narrowed = live.token("shares:read"), live.token("shares:read", "customers:read")
    member = asyncio.run(joined(own_url, live.tenant))
    client_id, given = asyncio.run(application(live, own_url))
    tokens = (revoked["text"], narrowed["text"], given, member.token)
    with ExitStack() as stack:
        one, two, three, four = sockets = [stack.enter_context(greeted(live, token)) for token in tokens]
        before = live.latest()
        live.share()
        for socket in sockets:
            socket.subscribe("a", workspaceId=live.tenant.id, after=before)
            socket.change("a")
        live.send("DELETE", f"/workspace-access-tokens/{revoked['id']}", owner)
        path = f"/workspace-access-tokens/{narrowed['id']}"
        live.send("PATCH", path, owner, scopes=["customers:read"])
        live.send("DELETE", f"/oauth2/clients/{client_id}", owner)
        live.send("DELETE", f"/workspace-members/{member.member_id}", owner)
        live.clock.advance(4)
        assert [each.end()[0] for each in (one, two, three)] == [4401, 4403, 4401]
        while (message := four.receive())["type"] == "next":
            pass
        assert message["payload"][0]["extensions"]["code"] == "not_found"


def test_a_credential_that_ends_amid_a_page_reads_no_further_resource(live: Live, monkeypatch: Any) -> None:
    """A client that reads slowly keeps a page in the making for as long as it likes."""
    token, after = live.token("shares:read"), live.latest()
    for _ in range(3):
        live.share()
    read = streams._resource

    async def read_slowly(*arguments: Any) -> Any:
        monkeypatch.setattr(streams, "_resource", read)
        path = f"/workspace-access-tokens/{token['id']}"
        await asyncio.to_thread(live.send, "DELETE", path, live.tenant.personal_token)
        await asyncio.to_thread(live.clock.advance, 4)
        return await read(*arguments)

    monkeypatch.setattr(streams, "_resource", read_slowly)
    with greeted(live, token["text"]) as socket:
        socket.subscribe("a", after=after)
        socket.change("a")
        with pytest.raises(ConnectionClosed) as closed:
            socket.receive()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401


def test_subscriptions_are_streams_of_their_caller(live: Live, own_url: str, monkeypatch: Any) -> None:
    # A caller of its own: streams that other tests have left may not have given back their places yet.
    _, token = asyncio.run(application(live, own_url))
    monkeypatch.setattr(followers, "MOST_OF_ONE", 1)
    with greeted(live, token) as socket:
        after = live.latest()
        live.share()
        socket.subscribe("a", after=after)
        socket.change("a")
        socket.subscribe("b")
        assert socket.refusal() == "rate_limited"
        assert live.refusal(token=token)[0] == 429
        socket.send("complete", id="a")
        eventually(lambda: is_followed(socket, after))
    assert eventually(lambda: live.refusal(token=token, after="0" * 18 + "x")[0] == 422)


def is_followed(socket: Socket, after: str) -> bool:
    socket.subscribe("c", after=after)
    return socket.receive()["type"] == "next"


def test_a_server_that_stops_ends_its_connections(own_url: str, tmp_path: Path) -> None:
    with serve(own_url, tmp_path) as (address, tenant):
        live = Live(address, tenant, None)  # type: ignore[arg-type]  # No test moves its clock.
        context = greeted(live)
        socket = context.__enter__()
        after = live.latest()
        live.share()
        socket.subscribe("a", after=after)
        socket.change("a")
    assert socket.end()[0] == 1012
    context.__exit__(None, None, None)
    live.client.close()
