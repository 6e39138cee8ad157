"""Pages of the stream of changes that are large or fail, and streams of browsers."""

import asyncio
from collections import defaultdict
from typing import Any

import pytest
from sqlalchemy import update

from gateway.web.kit.cookies import SESSION
from oauth.credentials import digest
from resolvers.changes import changes, following
from resolvers.operations.limits import answer_size
from storage.clock import now
from storage.engine.outages import DatabaseUnreachable
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from tests.changes.sockets import socket_to
from tests.changes.streams import FREE, Live, beside, session_of

MANY = 12
_credentials = table_of(CredentialRow)


# What is patched here: no caller is told how many changes a page may have, pages as large as the gateway's
# would take thousands of shares, and the database fails for all tests at once or not at all.
@pytest.fixture
def limits(monkeypatch: Any) -> defaultdict[str, list[int]]:
    """How many changes each page may have that is read from now on, by the credential's id."""
    noted, run = defaultdict(list), following.run

    def noting(operation: Any, ctx: Any, arguments: Any) -> Any:
        noted[str(ctx.principal.credential_id)].append(arguments["filters"].limit)
        return run(operation, ctx, arguments)

    monkeypatch.setattr(following, "run", noting)
    return noted


def long_shares(live: Live) -> tuple[str, list[str]]:
    """The position before some shares of more than 2 KB each, and their ids."""
    before, long = live.latest(), {"description": "x" * 2000, "prices": FREE}
    return before, [live.send("POST", "/shares/", name=f"Share {n}", **long)["id"] for n in range(MANY)]


def read(live: Live, token: str, after: str) -> list[str]:
    with live.stream(token, after=after) as reader:
        return [reader.event()["data"]["resource_id"] for _ in range(MANY)]


def test_after_a_page_of_many_bytes_the_next_have_fewer_changes(
    live: Live, limits: dict[str, list[int]], monkeypatch: Any
) -> None:
    monkeypatch.setattr(following, "MOST_BYTES", 1)
    monkeypatch.setattr(following, "FOLLOWED_AT_A_TIME", 4)
    token = live.token("shares:read")
    before, ids = long_shares(live)
    assert read(live, token["text"], before) == ids
    assert limits[token["id"]][:6] == [4, 2, 1, 1, 1, 1]


def test_a_page_that_is_too_large_is_read_again_with_fewer_changes(
    live: Live, limits: dict[str, list[int]], monkeypatch: Any
) -> None:
    monkeypatch.setattr(following, "FOLLOWED_AT_A_TIME", 8)
    token = live.token("shares:read")
    before, ids = long_shares(live)
    monkeypatch.setattr(answer_size, "MOST_READ", 3 * 2000)
    assert read(live, token["text"], before) == ids
    assert limits[token["id"]][:4] == [8, 4, 2, 2]
    # Alone it would be no shorter.
    monkeypatch.setattr(answer_size, "MOST_READ", 2000)
    status, body = live.refusal(after=before)
    assert (status, body["detail"][0]["type"]) == (422, "answer_too_large")


@pytest.mark.parametrize(
    ("error", "code"),
    [(ValueError("broken"), "internal"), (DatabaseUnreachable("away"), "unavailable")],
    ids=["an error", "an outage"],
)
def test_a_stream_that_cannot_go_on_says_so_and_ends(
    live: Live, monkeypatch: Any, error: Exception, code: str
) -> None:
    async def fail(*_: Any, **__: Any) -> Any:
        raise error

    with live.stream() as reader:
        reader.block()
        monkeypatch.setattr(changes, "read_log", fail)
        live.share()
        failed, retry = reader.rest()
        assert (failed["event"], failed["data"]["error"], retry) == ("error", code, {"retry": "1000"})


def test_a_subscription_of_a_browser_ends_with_its_session(live: Live, own_url: str) -> None:
    session = asyncio.run(session_of(own_url, live.tenant))

    async def end() -> None:
        async with beside(own_url) as gateway, gateway.database.write() as connection:
            own = _credentials.c.hash == digest(session)
            await connection.execute(update(_credentials).where(own).values(revoked_at=now()))

    cookie = {"Cookie": f"{SESSION}={session}"}
    with socket_to(live, origin=live.address, additional_headers=cookie) as socket:
        socket.greet()
        socket.subscribe("a", workspaceId=live.tenant.id, after=live.latest())
        for _ in range(2):
            id = live.share()
            assert socket.change("a")["resourceId"] == id
            # It is looked up again, and found.
            live.clock.advance(4)
        asyncio.run(end())
        live.clock.advance(4)
        assert socket.end()[0] == 4401
