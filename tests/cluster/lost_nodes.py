"""A node of a cluster hangs or is killed: its workspaces are refused, the others are served as always."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from sqlalchemy import text

from gateway.background.counts import write_counts
from storage.cluster import direct
from storage.cluster.nodes import GONE, UNCHANGEABLE
from storage.cluster.watching import CitusQuestions, find_unreached
from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from storage.retention.deletion import delete_ended
from storage.retention.rules import RULES
from tests.cluster.same_answers import LAST, order
from tests.support.callers.examples import EXAMPLES
from tests.support.callers.surfaces import GraphQL, Refused, Rest, Surface
from tests.support.callers.world import TOLD_WEBHOOK, World, world_of
from tests.support.measures.patience import eventually, until
from tests.support.servers.citus import Cluster
from tests.support.servers.gateways import Gateway, Tenant, bearer, make_tenant, run_gateway

# The node that is lost, and one that is not, by the numbers of their groups.
LOST, HEALTHY = 1, 2
COPIED_EVERYWHERE = {"copy_workspace", "create_workspace", "update_workspace"}
# They lock the workspace's row, of which each node has a copy.
LOCKING = {"create_webhook_endpoint"}
WAITING = "SELECT count(*) FROM metric_deltas WHERE workspace_id = $1"
DELIVERIES = "SELECT count(*) FROM webhook_deliveries WHERE workspace_id = $1 AND endpoint_id = $2"
USED = "SELECT count(*) FROM usage_counts WHERE workspace_id = $1"


@dataclass
class Spread:
    """A gateway on a cluster, with a workspace of one of each resource on two nodes for each surface."""

    gateway: Gateway
    citus: Cluster
    tenants: dict[tuple[int, str], Tenant]
    worlds: dict[tuple[int, str], World]

    def surface(self, kind: type[Surface], node: int) -> Surface:
        return kind(self.gateway.client, self.gateway.app, self.tenants[node, kind.name].token)

    @contextmanager
    def lost(self, how: str) -> Iterator[None]:
        """Stop or kill the node, until the block ends."""
        node = self.citus.nodes[LOST]
        if how == "hung":
            node.send(signal.SIGSTOP)
        else:
            node.kill()
            eventually(lambda: not node.processes())
        try:
            yield
        finally:
            if how == "hung":
                node.send(signal.SIGCONT)
            else:
                node.start()


@pytest_asyncio.fixture(scope="module")
async def spread(citus: Cluster, cluster_url: str, tmp_path_factory: Any) -> AsyncIterator[Spread]:
    async for gateway in run_gateway(cluster_url, tmp_path_factory.mktemp("lost")):
        tenants: dict[tuple[int, str], Tenant] = {}
        places = CitusQuestions(gateway.database)
        while len(tenants) < 4:
            tenant = await make_tenant(gateway)
            node = (await places.places())[UUID(tenant.id)].node
            names = [kind.name for kind in (Rest, GraphQL) if (node, kind.name) not in tenants]
            if names:
                tenants[node, names[0]] = tenant
        await places.end()
        worlds = {place: await world_of(gateway, tenant) for place, tenant in tenants.items()}
        yield Spread(gateway, citus, tenants, worlds)


async def refusal(spread: Spread, surface: type[Surface], node: int, name: str) -> Refused | None:
    """How the operation is refused on the workspace of this node, if it is."""
    example = EXAMPLES[name](spread.worlds[node, surface.name])
    sent = {key: value for key, value in example.items() if value is not None}
    try:
        await spread.surface(surface, node).ask(name, sent)
    except Refused as refused:
        return refused
    return None


@pytest.mark.parametrize("surface", [Rest, GraphQL], ids=["rest", "graphql"])
@pytest.mark.parametrize("how", ["hung", "killed"])
async def test_a_lost_node_concerns_its_workspaces_only(
    spread: Spread, surface: type[Surface], how: str
) -> None:
    endpoint = await make_endpoint(spread.surface(surface, HEALTHY))
    healthy = UUID(spread.tenants[HEALTHY, surface.name].id)
    with spread.lost(how):
        lost = [asyncio.create_task(refusal(spread, surface, LOST, "list_shares")) for _ in range(60)]
        # All of them at once, while nobody knows yet.
        assert await refusal(spread, surface, HEALTHY, "list_shares") is None
        for refused in await asyncio.gather(*lost):
            assert refused is not None
            assert refused.status == 503
        answer = await spread.gateway.client.get(
            "/api/shares/", headers=bearer(spread.tenants[LOST, surface.name].token)
        )
        assert (answer.status_code, answer.json()["detail"]) == (503, GONE)
        assert answer.headers["retry-after"] == "1"
        unavailable = set()
        for name in sorted(EXAMPLES.keys() - {LAST}, key=order):
            refused = await refusal(spread, surface, HEALTHY, name)
            if refused is not None and refused.status == 503:
                unavailable.add(name)
                assert UNCHANGEABLE in str(refused)
        assert unavailable == COPIED_EVERYWHERE | LOCKING
        await folded(spread, healthy)
        new = {"data": {"email": f"{uuid4().hex}@example.com"}}
        await spread.surface(surface, HEALTHY).ask("create_customer", new)
        await until(lambda: count(spread, DELIVERIES, healthy, endpoint))
        # Other tests may have left it more than it deletes at a time.
        while await delete_ended(spread.gateway.database, RULES):
            pass
        await write_counts(spread.gateway.app.state.services)
        assert await count(spread, USED, healthy)
    assert await until(lambda: is_served(spread, surface))


async def make_endpoint(surface: Surface) -> UUID:
    """A webhook endpoint that is told of new customers, at an address to which nothing is sent."""
    sent = {"data": {**TOLD_WEBHOOK, "kinds": ["customer.created"]}}
    made = (await surface.ask("create_webhook_endpoint", sent)).value
    return UUID(made["webhook_endpoint"]["id"])


async def folded(spread: Spread, id: UUID) -> None:
    """Wait until what the workspace wrote is in its metrics."""

    async def is_folded() -> bool:
        return await count(spread, WAITING, id) == 0

    await until(is_folded)


async def count(spread: Spread, statement: str, *ids: UUID) -> int:
    async with spread.gateway.database.read() as connection:
        return int((await connection.exec_driver_sql(statement, ids)).scalar_one())


async def is_served(spread: Spread, surface: type[Surface]) -> bool:
    return await refusal(spread, surface, LOST, "list_shares") is None


async def test_the_creator_of_a_workspace_is_told_why_it_cannot_be(spread: Spread) -> None:
    user = spread.tenants[HEALTHY, Rest.name].personal_token
    with spread.lost("killed"):
        for number in range(2):  # The first one may be what notices it.
            answer = await spread.gateway.client.post(
                "/api/workspaces/", headers=bearer(user), json={"name": "Acme", "slug": f"acme-{number}"}
            )
            assert (answer.status_code, answer.json()["detail"]) == (503, UNCHANGEABLE)
    assert await until(lambda: is_served(spread, Rest))


async def test_a_gateway_that_starts_while_a_node_hangs_serves_the_others(
    spread: Spread, cluster_url: str, tmp_path: Any
) -> None:
    with spread.lost("hung"):
        async for started in run_gateway(cluster_url, tmp_path):
            client = started.client
            answers = [
                await client.get("/api/shares/", headers=bearer(spread.tenants[node, Rest.name].token))
                for node in (HEALTHY, LOST)
            ]
            assert [answer.status_code for answer in answers] == [200, 503]
    assert await until(lambda: is_served(spread, Rest))


async def test_a_node_that_is_not_reached_is_asked_through_the_coordinator(
    spread: Spread, cluster_url: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = "SELECT groupid, nodename, 1 FROM pg_dist_node WHERE groupid > 0 ORDER BY groupid"
    monkeypatch.setattr(direct, "_ADDRESSES", Kept(text(nowhere)))
    assert await find_unreached(Database(cluster_url)) == ["127.0.0.1:1", "127.0.0.1:1"]
    async for started in run_gateway(cluster_url, tmp_path):
        headers = bearer(spread.tenants[LOST, Rest.name].token)
        assert (await started.client.get("/api/shares/", headers=headers)).status_code == 200
