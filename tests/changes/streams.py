"""Readers of the stream of changes, over real sockets."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx

from storage.engine.database import Database
from tests.support.measures.moved_loop import MovedLoop
from tests.support.measures.patience import PATIENCE_SECONDS
from tests.support.servers.gateways import Gateway, Tenant, start_session
from tests.support.tenants.applications import make_application
from tests.support.tenants.membership import TestUser, make_member

FREE = [{"amount_type": "free"}]
STALL_SECONDS = 600


class Event(dict[str, Any]):
    """The fields of one event, with its `data` as JSON."""


class Reader:
    """Reads one open stream block by block."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.iter_lines()

    def block(self) -> Event | None:
        """The next block, an event or not; None at the end."""
        fields = Event()
        for line in self._lines:
            if not line:
                return fields
            name, _, value = line.partition(":")
            fields[name] = json.loads(value) if name == "data" and value else value.strip()
        return None

    def event(self) -> Event:
        """The next event."""
        while (block := self.block()) is not None:
            if "data" in block:
                return block
        raise AssertionError("The stream has ended.")

    def rest(self) -> list[Event]:
        """All blocks until the end."""
        return list(iter(self.block, None))


class Live:
    """A gateway on a socket, whose clock only the tests move on."""

    def __init__(self, address: str, tenant: Tenant, clock: MovedLoop) -> None:
        self.address, self.tenant, self.clock = address, tenant, clock
        # The gateway closes idle connections when its clock moves on: a request may be on its way on one.
        limits = httpx.Limits(max_keepalive_connections=0)
        self.client = httpx.Client(base_url=f"{address}/api", timeout=PATIENCE_SECONDS, limits=limits)

    def send(self, method: str, path: str, token: str | None = None, **body: Any) -> Any:
        headers = {"Authorization": f"Bearer {token or self.tenant.token}"}
        answer = self.client.request(method, path, headers=headers, json=body or None)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def share(self) -> str:
        """The id of a new share."""
        id: str = self.send("POST", "/shares/", name=uuid4().hex, prices=FREE)["id"]
        return id

    def latest(self) -> str:
        position: str = self.send("GET", "/changes/latest")["position"]
        return position

    @contextmanager
    def stream(self, token: str | None = None, last: str | None = None, **query: Any) -> Iterator[Reader]:
        headers = {"Authorization": f"Bearer {token or self.tenant.token}"}
        if last is not None:
            headers["Last-Event-ID"] = last
        with self.client.stream("GET", "/changes/stream", headers=headers, params=query) as response:
            yield Reader(response)

    def refusal(self, **options: Any) -> tuple[int, Any]:
        with self.stream(**options) as reader:
            # What a stream that is served says has no end.
            assert not reader.response.is_success
            return reader.response.status_code, json.loads(reader.response.read())

    def token(self, *scopes: str, workspace_id: str | None = None) -> dict[str, Any]:
        """A new token of this or of the tenant's workspace."""
        owner, home = self.tenant.personal_token, workspace_id or self.tenant.id
        body = {"comment": "reader", "scopes": scopes, "workspace_id": home}
        made = self.send("POST", "/workspace-access-tokens/", owner, **body)
        return {"text": made["token"], "id": made["workspace_access_token"]["id"]}


@asynccontextmanager
async def beside(database_url: str) -> AsyncIterator[Gateway]:
    """The gateway as what makes rows beside it takes it: only its database is used."""
    database = Database(database_url)
    yield Gateway(None, None, database, Path())  # type: ignore[arg-type]
    await database.close()


async def joined(database_url: str, tenant: Tenant) -> TestUser:
    """A member who has joined the workspace."""
    async with beside(database_url) as gateway:
        return await make_member(gateway, tenant)


async def session_of(database_url: str, tenant: Tenant) -> str:
    """A session of the tenant's user in a browser."""
    async with beside(database_url) as gateway:
        return (await start_session(gateway, tenant.user_id)).text


async def application(live: Live, own_url: str) -> tuple[str, str]:
    """The id of an OAuth client, and a token that the tenant has given it."""
    async with beside(own_url) as gateway, httpx.AsyncClient(base_url=live.address) as client:
        own, tenant = replace(gateway, client=client), live.tenant
        made = await make_application(own, UUID(tenant.id), UUID(tenant.user_id))
        return str(made.id), (await made.tokens(tenant, scope="shares:read"))["access_token"]
