"""The stream of changes over real sockets: what arrives, where it goes on, and what ends it."""

import asyncio
import socket
import tempfile
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
from structlog.testing import capture_logs

from storage.changes import followers
from tests.changes.streams import FREE, STALL_SECONDS, Live, Reader, application, joined
from tests.support.measures.patience import PATIENCE_SECONDS, eventually
from tests.support.servers.gateways import Tenant
from tests.support.servers.live import serve
from tests.support.servers.pooler import every_test_is_pooled
from tests.support.servers.rate_limiting import redis_server

pytestmark = pytest.mark.both_databases


def test_a_commit_arrives_as_the_feed_tells_it(live: Live) -> None:
    before = live.latest()
    with live.stream() as reader:
        assert reader.response.headers["content-type"] == "text/event-stream"
        # Where it begins is known before anything happens.
        assert reader.block() == {"retry": "1000", "id": before}
        id = live.share()
        event = reader.event()
    (change,) = live.send("GET", f"/changes/?after={before}")["data"]
    assert event == {"id": change["position"], "event": "share.created", "data": change}
    assert change["resource_id"] == id


def test_a_reader_that_is_cut_again_and_again_misses_nothing(live: Live) -> None:
    last, made, read = live.latest(), [], []
    for number in range(6):
        made += [live.share() for _ in range(3)]
        with live.stream(last=last, after="0" * 19) as reader:
            for _ in range(number % 3 + 1):
                event = reader.event()
                read.append(event["data"]["resource_id"])
                last = event["id"]
    with live.stream(after=last) as reader:
        while len(read) < len(made):
            read.append(reader.event()["data"]["resource_id"])
    assert read == made


def test_pages_follow_each_other(live: Live) -> None:
    after = live.latest()
    event = {"name": "a", "external_customer_id": "c"}
    for _ in range(60):
        live.send("POST", "/events/ingest", events=[event])
    with live.stream(after=after) as reader:
        positions = [int(reader.event()["id"]) for _ in range(60)]
    assert positions == list(range(int(after) + 1, int(after) + 61))


def test_filters_choose_and_the_position_goes_on_without_an_event(live: Live) -> None:
    with live.stream(kind="customer.created") as reader:
        reader.block()
        live.share()
        end = live.latest()
        assert eventually_placed(live, reader) == end
        live.send("POST", "/customers/", email=f"{uuid4().hex}@example.com")
        assert reader.event()["event"] == "customer.created"


def eventually_placed(live: Live, reader: Reader) -> str:
    """The position in the next comment that follows 15 quiet seconds."""
    live.clock.advance(15)
    block = reader.block()
    assert block is not None
    assert block.keys() == {"", "id"}
    return str(block["id"])


def test_another_workspace_is_never_told(live: Live) -> None:
    owner, slug = live.tenant.personal_token, f"w-{uuid4().hex}"
    other = live.send("POST", "/workspaces/", owner, name="Other", slug=slug)
    with live.stream() as reader:
        theirs = {"workspace_id": other["id"], "name": "Theirs", "prices": FREE}
        live.send("POST", "/shares/", owner, **theirs)
        id = live.share()
        assert reader.event()["data"]["resource_id"] == id
    status, body = live.refusal(workspace_id=other["id"])
    assert (status, body["error"]) == (404, "not_found")
    status, body = live.refusal(token=owner)
    assert (status, body["detail"][0]["loc"]) == (422, ["query", "workspace_id"])


def test_a_credential_is_told_what_it_may_read(live: Live) -> None:
    token = live.token("customers:read")
    with live.stream(token["text"]) as reader:
        live.share()
        live.send("POST", "/customers/", email=f"{uuid4().hex}@example.com")
        assert reader.event()["event"] == "customer.created"
    status, body = live.refusal(token=token["text"], kind="share.created")
    assert (status, body["error"]) == (403, "insufficient_scope")
    status, body = live.refusal(token="no token")
    assert (status, body["error"]) == (401, "invalid_token")


def test_what_is_no_position_is_refused(live: Live) -> None:
    for last in ("7", ""):
        # A reader that has lost its position would miss what happened since, without a sign of it.
        status, body = live.refusal(last=last)
        assert (status, body["detail"][0]["loc"]) == (422, ["header", "Last-Event-ID"])
    assert live.refusal(after="7")[0] == 422
    assert live.refusal(after="9" * 18 + "0")[0] == 410


def test_a_revoked_token_ends_its_stream(live: Live) -> None:
    token = live.token("shares:read")
    with live.stream(token["text"]) as reader:
        reader.block()
        live.send("DELETE", f"/workspace-access-tokens/{token['id']}", live.tenant.personal_token)
        assert ended(live, reader) == "invalid_token"


def test_a_narrowed_token_ends_its_stream(live: Live) -> None:
    token = live.token("shares:read", "customers:read")
    with live.stream(token["text"]) as reader:
        reader.block()
        path, scopes = f"/workspace-access-tokens/{token['id']}", ["customers:read"]
        live.send("PATCH", path, live.tenant.personal_token, scopes=scopes)
        assert ended(live, reader) == "insufficient_scope"


def test_a_removed_member_s_stream_ends(live: Live, own_url: str) -> None:
    member = asyncio.run(joined(own_url, live.tenant))
    with live.stream(member.token, workspace_id=live.tenant.id) as reader:
        reader.block()
        live.send("DELETE", f"/workspace-members/{member.member_id}", live.tenant.personal_token)
        assert ended(live, reader) == "not_found"


def test_the_deletion_of_the_workspace_ends_the_stream(live: Live) -> None:
    owner = live.tenant.personal_token
    workspace = live.send("POST", "/workspaces/", owner, name="Left", slug=f"w-{uuid4().hex}")
    with live.stream(owner, workspace_id=workspace["id"]) as reader:
        reader.block()
        live.send("DELETE", f"/workspaces/{workspace['id']}", owner)
        assert ended(live, reader) == "not_found"


def ended(live: Live, reader: Reader) -> str:
    """The error with which a stream ends within five seconds."""
    live.clock.advance(4)
    error, retry = reader.rest()[-2:]
    assert (error["event"], retry) == ("error", {"retry": "1000"})
    return str(error["data"]["error"])


def test_streams_of_a_caller_are_counted_while_they_are_open(
    live: Live, own_url: str, monkeypatch: Any
) -> None:
    # A caller of its own: streams that other tests have left may not have given back their places yet.
    _, token = asyncio.run(application(live, own_url))
    monkeypatch.setattr(followers, "MOST_OF_ONE", 1)
    with live.stream(token) as reader:
        reader.block()
        status, body = live.refusal(token=token)
        assert (status, body["error"]) == (429, "rate_limited")
    # The place of one that has gone is free at once.
    eventually(lambda: is_served(live, token))
    monkeypatch.setattr(followers, "MOST_OF_ALL", 0)
    status, body = eventually(lambda: refused_by_process(live, token))
    assert (status, body["error"]) == (503, "unavailable")


def is_served(live: Live, token: str) -> bool:
    with live.stream(token) as reader:
        return reader.response.status_code == 200


def refused_by_process(live: Live, token: str) -> tuple[int, Any] | None:
    status, body = live.refusal(token=token)
    return None if status == 429 else (status, body)


def test_a_reader_that_does_not_read_is_cut(live: Live) -> None:
    after = live.latest()
    share = live.share()
    for number in range(80):
        live.send("PATCH", f"/shares/{share}", description=f"{number}" + "x" * 60_000)
    host, port = urlsplit(live.address).netloc.split(":")
    with socket.create_connection((host, int(port))) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        head = f"GET /api/changes/stream?after={after} HTTP/1.1\r\nHost: x\r\n"
        slow.sendall(f"{head}Authorization: Bearer {live.tenant.token}\r\n\r\n".encode())
        slow.settimeout(PATIENCE_SECONDS)
        slow.recv(1)
        with capture_logs() as lines:
            eventually(lambda: is_cut(live, lines))


def is_cut(live: Live, lines: list[Any]) -> bool:
    """Whether a connection was cut, after a quarter of the gateway's patience more."""
    live.clock.advance(STALL_SECONDS / 4)
    return "answer not read" in {line["event"] for line in lines}


def test_a_server_that_stops_ends_its_streams(own_url: str, tmp_path: Path) -> None:
    with serve(own_url, tmp_path) as (address, tenant):
        headers = {"Authorization": f"Bearer {tenant.token}"}
        client = httpx.Client(timeout=PATIENCE_SECONDS)
        response = client.send(
            client.build_request("GET", f"{address}/api/changes/stream", headers=headers), stream=True
        )
        reader = Reader(response)
        reader.block()
    # The server has stopped, and waited for no stream.
    assert reader.rest() == [{"retry": "1000"}]
    client.close()


def test_clients_that_leave_before_their_stream_begins_keep_no_place(own_url: str, tmp_path: Path) -> None:
    with serve(own_url, tmp_path) as (address, tenant):
        headers = {"Authorization": f"Bearer {tenant.token}"}
        lines = [
            "GET /api/changes/stream HTTP/1.1",
            "Host: gateway",
            f"Authorization: {headers['Authorization']}",
        ]
        request = "\r\n".join([*lines, "", ""]).encode()
        for _ in range(2 * followers.MOST_OF_ONE):
            with socket.create_connection((urlsplit(address).hostname, urlsplit(address).port)) as connection:
                connection.sendall(request)

        def has_room() -> bool:
            with httpx.stream("GET", f"{address}/api/changes/stream", headers=headers) as response:
                return response.status_code == 200

        assert eventually(has_room)
    # The server has stopped, and waited for none of them.


def test_head_is_answered_at_once(live: Live) -> None:
    headers = {"Authorization": f"Bearer {live.tenant.token}"}
    answer = live.client.head("/changes/stream", headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream")


def test_what_another_process_commits_arrives(own_url: str, live: Live, tmp_path: Path) -> None:
    with live.stream() as reader, serve(own_url, tmp_path) as (address, _):
        reader.block()
        data = {"name": "Elsewhere", "prices": FREE}
        headers = {"Authorization": f"Bearer {live.tenant.token}"}
        made = httpx.post(f"{address}/api/shares/", headers=headers, json=data, timeout=PATIENCE_SECONDS)
        assert reader.event()["data"]["resource_id"] == made.json()["id"]


def test_other_processes_commits_arrive_before_anybody_looks(
    own_url: str, tmp_path: Path, monkeypatch: Any
) -> None:
    if every_test_is_pooled() and own_url.startswith("postgresql"):
        pytest.skip("Behind a pooler nothing is heard.")
    # An hour later, it is looked into the logs.
    monkeypatch.setattr(followers, "SECONDS_BETWEEN_LOOKS", 3600)
    with serve(own_url, tmp_path) as (here, tenant), serve(own_url, tmp_path) as (there, _):
        assert arrives(here, there, tenant)


def test_redis_tells_processes_of_each_other(postgresql_url: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(followers, "SECONDS_BETWEEN_LOOKS", 3600)
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder) / "redis.sock"):
        options = {"redis_url": f"unix://{folder}/redis.sock"}
        with (
            serve(postgresql_url, tmp_path, **options) as (here, tenant),
            serve(postgresql_url, tmp_path, **options) as (there, _),
        ):
            assert arrives(here, there, tenant)


def arrives(here: str, there: str, tenant: Tenant) -> bool:
    """Whether what is committed at one address is told at the other, where somebody begins to listen."""
    follower = Live(here, tenant, None)  # type: ignore[arg-type]  # No test moves its clock.
    writer, is_told = Live(there, tenant, None), Event()  # type: ignore[arg-type]

    def write() -> None:
        while not is_told.wait(0.05):
            writer.share()

    writing = Thread(target=write)
    with follower.stream() as reader:
        reader.block()
        writing.start()
        event = reader.event()
    is_told.set()
    writing.join()
    for each in (follower, writer):
        each.client.close()
    return event["event"] == "share.created"
