"""`duograph workspaces move` on a cluster: under writes, against the clock, killed, and refused."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest_asyncio

from tests.support.commands.command import Command
from tests.support.measures.patience import until
from tests.support.servers.citus import DATABASE, LEFT_BY_MOVES, Cluster, Node, read_directly
from tests.support.servers.gateways import Gateway, Tenant, bearer, make_tenant, run_gateway

INGEST = "mutation ($data: EventIngest!) { ingestEvents(data: $data) { inserted } }"
PLACE = """
    SELECT shardid, nodename || ':' || nodeport AS address
    FROM pg_dist_node JOIN pg_dist_placement USING (groupid)
    WHERE shardid = get_shard_id_for_distribution_column('customers', $1::uuid)
"""
PLAN = "EXPLAIN SELECT * FROM customers JOIN events USING (workspace_id) WHERE workspace_id = '{}'"
ROWS = "SELECT count(*) FROM {} WHERE workspace_id = $1 AND external_id = ANY ($2)"


@dataclass
class Home:
    """A gateway on a cluster with two workspaces in one shard, and a command for its database."""

    gateway: Gateway
    citus: Cluster
    command: Command
    database: asyncpg.Connection
    tenant: Tenant
    neighbour: Tenant

    async def address(self, tenant: Tenant) -> str:
        return str((await self.database.fetchrow(PLACE, UUID(tenant.id)))["address"])

    async def elsewhere(self, tenant: Tenant) -> str:
        """A node that does not have the workspace."""
        here = await self.address(tenant)
        return next(each for each in map(address_of, self.citus.nodes[1:]) if each != here)

    async def reconnect(self) -> None:
        await self.database.close()
        self.database = await asyncpg.connect(
            self.command.settings["DUOGRAPH_DATABASE_URL"].replace("+asyncpg", "")
        )

    def left(self) -> int:
        """How many things of moves are on the nodes."""
        return sum(int(node.psql(LEFT_BY_MOVES, DATABASE)) for node in self.citus.nodes)

    @asynccontextmanager
    async def open_change(self) -> AsyncIterator[None]:
        """A transaction that has changed a row of the neighbour and does not end."""
        other = await asyncpg.connect(self.command.settings["DUOGRAPH_DATABASE_URL"].replace("+asyncpg", ""))
        change = "UPDATE members SET role = role WHERE workspace_id = $1"
        try:
            async with other.transaction():
                await other.execute(change, UUID(self.neighbour.id))
                yield
        finally:
            await other.close()


def address_of(node: Node) -> str:
    return f"127.0.0.1:{node.port}"


@pytest_asyncio.fixture(scope="module")
async def home(citus: Cluster, cluster_url: str, tmp_path_factory: Any) -> AsyncIterator[Home]:
    folder = tmp_path_factory.mktemp("moving")
    database = await asyncpg.connect(cluster_url.replace("+asyncpg", ""))
    async for gateway in run_gateway(cluster_url, folder):
        shards: dict[int, Tenant] = {}
        while True:
            tenant = await make_tenant(gateway)
            shard = (await database.fetchrow(PLACE, UUID(tenant.id)))["shardid"]
            if shard in shards:
                break
            shards[shard] = tenant
        command = Command(folder, {"DUOGRAPH_DATABASE_URL": cluster_url})
        home = Home(gateway, citus, command, database, tenant, shards[shard])
        yield home
    await home.database.close()


@dataclass
class Writers:
    """Callers that create customers by REST and events by GraphQL without a pause."""

    gateway: Gateway
    tenant: Tenant
    kept: dict[str, list[str]] = field(default_factory=lambda: {"customers": [], "events": []})
    refused: list[str] = field(default_factory=list)
    is_going: bool = True

    async def create(self) -> None:
        while self.is_going:
            id = uuid4().hex
            sent = {"email": f"{id}@example.com", "external_id": id}
            answer = await self.gateway.client.post("/api/customers/", json=sent, headers=self.headers)
            if answer.status_code == 201:
                # From the node, whichever it is now.
                path = f"/api/customers/{answer.json()['id']}"
                answer = await self.gateway.client.get(path, headers=self.headers)
            self.note("customers", id, answer.text, answer.is_success)

    async def ingest(self) -> None:
        while self.is_going:
            id = uuid4().hex
            sent = {
                "query": INGEST,
                "variables": {"data": {"events": [{"name": "seen", "externalId": id}]}},
            }
            answer = await self.gateway.client.post("/graphql", json=sent, headers=self.headers)
            self.note("events", id, answer.text, "errors" not in answer.json())

    def note(self, table: str, id: str, said: str, is_kept: bool) -> None:
        if is_kept:
            self.kept[table].append(id)
        else:
            self.refused.append(said)

    @property
    def headers(self) -> dict[str, str]:
        return bearer(self.tenant.token)


@asynccontextmanager
async def writing(home: Home) -> AsyncIterator[Writers]:
    writers = Writers(home.gateway, home.tenant)
    tasks = [asyncio.create_task(work()) for work in (writers.create, writers.create, writers.ingest)]
    await until(lambda: have_written(writers, 20))
    yield writers
    before = sum(map(len, writers.kept.values()))
    await until(lambda: have_written(writers, before + 20))
    writers.is_going = False
    await asyncio.gather(*tasks)


async def have_written(writers: Writers, many: int) -> bool:
    return sum(map(len, writers.kept.values())) >= many


async def test_everything_that_was_acknowledged_is_there_and_served_from_the_new_node(home: Home) -> None:
    await check_move(home)
    await check_move(home, "--alone")


async def check_move(home: Home, *options: str) -> None:
    target, before = await home.elsewhere(home.tenant), await home.address(home.tenant)
    await read_directly(home.gateway.database, home.tenant.id)
    async with writing(home) as writers:
        moved = await asyncio.to_thread(
            home.command.json, "workspaces", "move", home.tenant.slug, target, *options
        )
    others = moved.pop("other_workspaces")
    assert moved == {"slug": home.tenant.slug, "from": before, "to": target}
    assert (others > 0) is not bool(options)
    assert writers.refused == []
    for table, ids in writers.kept.items():
        assert await home.database.fetchval(ROWS.format(table), UUID(home.tenant.id), ids) == len(ids)
    assert await home.address(home.tenant) == target
    assert await home.address(home.neighbour) == (before if options else target)
    plan = await home.database.fetch(PLAN.format(home.tenant.id))
    text = "\n".join(line for (line,) in plan)
    assert "Task Count: 1" in text
    assert f"port={target.partition(':')[2]} " in text
    for topic in ("metrics", "totals"):
        verify = (topic, "verify", "--workspace", home.tenant.slug)
        assert (await asyncio.to_thread(home.command.json, *verify))["differences"] == 0
    assert home.left() == 0


async def test_what_ends_early_leaves_nothing_behind_and_can_be_done_again(home: Home) -> None:
    target, before = await home.elsewhere(home.neighbour), await home.address(home.neighbour)
    move = ("workspaces", "move", home.neighbour.slug, target)
    async with home.open_change():
        refused = await asyncio.to_thread(home.command.refusal, *move, "--seconds", "3")
        assert "not ended within 3 seconds, and nothing was moved" in refused
        with home.command.start(*move, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stderr is not None
            while "waits for the process" not in (said := await asyncio.to_thread(process.stderr.readline)):
                assert said, "The command has ended."
            process.kill()
        await until(lambda: has_ended(home))
        doctor = await asyncio.to_thread(home.command.run, "doctor")
    assert "that moves of workspaces have left" not in doctor.stdout
    assert home.left() == 0
    assert await home.address(home.neighbour) == before
    await asyncio.to_thread(home.command.json, *move)
    assert await home.address(home.neighbour) == target
    assert home.left() == 0


async def has_ended(home: Home) -> bool:
    return await home.database.fetchval("SELECT count(*) = 0 FROM get_rebalance_progress()")


async def test_what_cannot_be_moved_is_refused(home: Home) -> None:
    def refused(node: str, slug: str = home.tenant.slug, **settings: str) -> str:
        return home.command.refusal("workspaces", "move", slug, node, **settings)

    target = await home.elsewhere(home.tenant)
    assert "no workspace with the slug nobody" in refused(target, slug="nobody")
    assert f"Workspaces can be on: {address_of(home.citus.nodes[1])}" in refused("nowhere:5432")
    assert "is on" in refused(await home.address(home.tenant))
    assert "add the port" in refused("127.0.0.1")
    assert "takes no workspaces" in refused(address_of(home.citus.nodes[0]))
    assert "DUOGRAPH_DATABASE_POOLER" in refused(target, DUOGRAPH_DATABASE_POOLER="transaction")
    await home.database.execute("CREATE ROLE guest LOGIN")
    await home.database.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest")
    as_guest = home.command.settings["DUOGRAPH_DATABASE_URL"].replace("postgres:@", "guest:@")
    assert "connect as postgres" in refused(target, DUOGRAPH_DATABASE_URL=as_guest)
    node = home.citus.nodes[2]
    node.psql("ALTER SYSTEM SET wal_level = replica")
    node.stop()
    assert f"{address_of(node)} does not answer" in refused(target)
    node.start()
    assert "wal_level = replica" in refused(target)
    node.psql("ALTER SYSTEM SET wal_level = logical")
    node.stop()
    node.start()
    # Sessions notice at their next statement that their connection to the node has ended.
    await home.reconnect()
    await until(lambda: is_served(home))


async def is_served(home: Home) -> bool:
    """Whether each of so many requests is answered as if no node had been away."""
    headers = bearer(home.tenant.token)
    answers = [await home.gateway.client.get("/api/customers/", headers=headers) for _ in range(20)]
    return all(answer.status_code == 200 for answer in answers)
