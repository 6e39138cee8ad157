"""What subscribers of a process cost it: idle ones in memory, told ones in the time of other requests.

`python -m bench.live.subscribers`. On each database, 2,000 clients follow 100 workspaces over WebSockets,
while nothing changes. Then those of 50 are told of changes at a steady rate, beside lists of shares of
another workspace. Exits with 1 if a target is missed.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle
from statistics import median
from threading import Event, Thread
from time import monotonic, sleep
from typing import NamedTuple
from uuid import uuid4

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from bench.kit import servers
from bench.kit.client import Client
from bench.kit.processes import memory_mib
from bench.kit.report import Check
from bench.kit.servers import Server, Site
from bench.live.delays import report
from bench.live.following import QUERY
from bench.neighbours import p99, times_of
from oauth.scopes import USER_SCOPES, WORKSPACE_SCOPES
from resolvers.accounts.users import create_user
from resolvers.credentials.tokens import issue_token
from resolvers.workspaces.administration import insert_workspace
from storage.changes.followers import MOST_OF_ONE
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.enums import CredentialKind

WORKSPACES, CHANGING = 100, 50
OPENING_AT_A_TIME = 50
SECONDS_IDLE = 20
LISTED = "/api/shares/"
MOST_MIB, MOST_RATIO = 150, 2.0


class Asked(NamedTuple):
    """On what to measure, with how many changes a second, and for how long."""

    database: str
    rate: int
    seconds: float


class Subscribers:
    """Clients of one process, in an event loop of their own; `told` counts what reached them."""

    def __init__(self, server: Server, tokens: Sequence[str]) -> None:
        self.told = 0
        self._url = server.address.replace("http", "ws", 1) + "/graphql"
        self._tokens = tokens
        self._open, self._close = Event(), Event()
        self._thread = Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def __enter__(self) -> "Subscribers":
        self._thread.start()
        self._open.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._close.set()
        self._thread.join()

    async def _run(self) -> None:
        turns = asyncio.Semaphore(OPENING_AT_A_TIME)

        async def opened(token: str) -> ClientConnection:
            async with turns:
                return await _subscribed(self._url, token)

        try:
            sockets = await asyncio.gather(*map(opened, self._tokens))
        finally:
            self._open.set()
        reading = [asyncio.create_task(self._count(each)) for each in sockets]
        await asyncio.to_thread(self._close.wait)
        await asyncio.gather(*(each.close() for each in sockets), *reading)

    async def _count(self, socket: ClientConnection) -> None:
        with suppress(ConnectionClosed):
            while True:
                message = orjson.loads(await socket.recv())
                if message["type"] == "error":
                    raise SystemExit(f"A subscription failed: {message}")
                self.told += message["type"] == "next"


async def _subscribed(url: str, token: str) -> ClientConnection:
    socket = await connect(url, subprotocols=["graphql-transport-ws"], ping_interval=None, compression=None)  # type: ignore[list-item]
    hello = {"type": "connection_init", "payload": {"Authorization": f"Bearer {token}"}}
    await socket.send(orjson.dumps(hello).decode())
    await socket.recv()
    await socket.send(orjson.dumps({"type": "subscribe", "id": "a", "payload": {"query": QUERY}}).decode())
    return socket


def make_workspaces(site: Site) -> list[list[str]]:
    """Two tokens for each workspace, of its own and of its owner, which are two callers."""

    async def make() -> list[list[str]]:
        database = Database(site.database_url, pool_size=1)
        async with database.write() as connection:
            made = [await _tokens(connection, f"follow-{number}") for number in range(WORKSPACES)]
        await database.close()
        return made

    return asyncio.run(make())


async def _tokens(connection: Connection, name: str) -> list[str]:
    user = await create_user(connection, f"{name}@example.com", "a long password", "Ada")
    workspace = await insert_workspace(connection, user, name=name, slug=name)
    own, _ = await issue_token(
        connection,
        CredentialKind.WORKSPACE_TOKEN,
        WORKSPACE_SCOPES,
        workspace_id=workspace.id,
        maker_user_id=user.id,
    )
    owners, _ = await issue_token(connection, CredentialKind.PERSONAL_TOKEN, USER_SCOPES, user_id=user.id)
    return [own.text, owners.text]


def streams_of(workspaces: Sequence[Sequence[str]]) -> list[str]:
    """The token of each stream: as many as every caller may have."""
    return [token for tokens in workspaces for token in tokens for _ in range(MOST_OF_ONE)]


@contextmanager
def changing(server: Server, tokens: Sequence[str], rate: int) -> Iterator[list[int]]:
    """Create `rate` customers a second, in each workspace in its turn; counts them."""
    stop, made = Event(), [0]
    clients = [Client(server.address, token) for token in tokens]

    def change() -> None:
        due = monotonic()
        for client in cycle(clients):
            if stop.is_set():
                return
            client.post("/api/customers/", {"email": f"{uuid4().hex}@example.com"})
            made[0] += 1
            # What was late is not made up for.
            due = max(due + 1 / rate, monotonic())
            sleep(max(0.0, due - monotonic()))

    thread = Thread(target=change, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        stop.set()
        thread.join()
        for client in clients:
            client.close()


def measure(database: str, rate: int, seconds: float) -> Iterator[Check]:
    with servers.site(database) as site:
        tokens = make_workspaces(site)
        with servers.gateway(site) as server:
            yield from _idle(server, site, database, tokens)
        with servers.gateway(site) as server:
            yield from _told(server, site, tokens[:CHANGING], Asked(database, rate, seconds))


def _idle(server: Server, site: Site, database: str, tokens: Sequence[Sequence[str]]) -> Iterator[Check]:
    times_of(server, site.token, LISTED, 1)
    with Subscribers(server, tokens[0][:1]):
        sleep(1)
    before, streams = memory_mib(server.pid), streams_of(tokens)
    with Subscribers(server, streams):
        sleep(SECONDS_IDLE)
        more = memory_mib(server.pid) - before
    yield Check(f"{len(streams):,} idle, MiB", database, [more], most=MOST_MIB)


def _told(server: Server, site: Site, tokens: Sequence[Sequence[str]], asked: Asked) -> Iterator[Check]:
    def taken() -> list[float]:
        return times_of(server, site.token, LISTED, asked.seconds)

    with changing(server, [own for own, _ in tokens], asked.rate) as made:
        times_of(server, site.token, LISTED, 2)
        alone = taken()
        with Subscribers(server, streams_of(tokens)) as subscribers:
            sleep(2)
            made[0], subscribers.told, begun = 0, 0, monotonic()
            beside = taken()
            passed = monotonic() - begun
            where = (
                f"{asked.database}, {made[0] / passed:.0f} changes/s, {subscribers.told / passed:,.0f} told/s"
            )
    yield Check("median of a list beside / alone", where, [median(beside) / median(alone)])
    yield Check("p99 of a list beside / alone", where, [p99(beside) / p99(alone)], most=MOST_RATIO)


if __name__ == "__main__":
    report(__doc__, measure, rate=50)
