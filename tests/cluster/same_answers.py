"""Every operation on a cluster of databases answers as on plain PostgreSQL, to each credential.

Two gateways live through the same, one over each database. The cluster's log tells which statements asked
several shards: of one workspace, none may. With `CLUSTER_SHARE=0.5`, each credential calls half of the
operations on each surface, which the seed of the run draws.
"""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from tests.parity.likeness import Likeness
from tests.support.callers.examples import EXAMPLES
from tests.support.callers.surfaces import GraphQL, Refused, Rest, Surface
from tests.support.callers.world import World, world_of
from tests.support.servers.citus import Cluster, write_plainly
from tests.support.servers.gateways import Gateway, Tenant, bearer, make_tenant, run_gateway
from tests.support.statements.statement_check import StatementCheck
from tests.support.statements.statement_exceptions import may_ask_all_nodes
from tests.support.tenants.membership import join_too

OF_SEVERAL = "user of three workspaces"
CREDENTIALS = ("workspace", "user", OF_SEVERAL, "customer")
# Each link, of one object and of each item of a list.
LINKED = """query ($customer: ID!) {
  customer(id: $customer) { ...Customer }
  customers { meta { total } data { ...Customer } }
  shares { meta { total } data { name workspace { slug } prices { priceAmount } } }
  events { data { name customer { email } parent { name } children(limit: 1) { data { name } } childCount } }
  fileSharePayments { data { share { name medias { name } } customer { email } fileShareSession { status } } }
}
fragment Customer on Customer {
  email workspace { slug } members { email }
  events(limit: 1) { meta { total } data { name } } later: events(limit: 1, page: 2) { data { name } }
  fileShareSessions {
    data {
      share { name prices { priceAmount } } customer { email } downloads { meta { total } data { id } }
      payments { data { amount refunds { amount } } } refunds { data { amount } }
    }
  }
}"""
LISTS = {name for name in EXAMPLES if name.startswith("list_")}
# Of all workspaces of a user.
EVERYWHERE = {"workspace_id": None}
# What it ends is needed by all others.
LAST = "delete_workspace"
# Its answer counts what the background task has not sent by then. tests/webhooks run on a cluster too.
TIMED = "redeliver_webhook_endpoint"
# What asks several shards about one workspace, by module and function, and why it may.
ASKING_SEVERAL = {
    ("resolvers/portal/downloads.py", "_find_file"): (
        "Citus looks for payments and refunds of a session in all shards; once for each download."
    ),
}
SHARE = float(os.environ.get("CLUSTER_SHARE", "1"))


@dataclass
class Home:
    """A gateway with a workspace for each credential and use, so that each call meets the same rows."""

    gateway: Gateway
    worlds: dict[str, tuple[World, str]]


async def make_home(gateway: Gateway) -> Home:
    worlds = {}
    for credential in CREDENTIALS:
        for use in (Rest.name, GraphQL.name, "linked"):
            tenant = await make_tenant(gateway)
            world = await world_of(gateway, tenant)
            if credential == OF_SEVERAL:
                for other in [await make_tenant(gateway) for _ in range(2)]:
                    await world_of(gateway, other)
                    await join_too(gateway, tenant, other)
            worlds[f"{credential} {use}"] = (world, token_of(credential, tenant, world))
    return Home(gateway, worlds)


def token_of(credential: str, tenant: Tenant, world: World) -> str:
    if credential == "customer":
        return world.customer_token
    return tenant.token if credential == "workspace" else tenant.personal_token


@dataclass
class Twins:
    """Two homes, on plain PostgreSQL and on the cluster, and what corresponds to what in them."""

    homes: list[Home]
    # What was read past the coordinator.
    read_directly: list[str]
    likeness: Likeness = field(default_factory=Likeness)


@pytest_asyncio.fixture(scope="module")
async def twins(server_url: str, cluster_url: str, tmp_path_factory: Any) -> AsyncIterator[Twins]:
    async for plain in run_gateway(server_url, tmp_path_factory.mktemp("plain")):
        async for spread in run_gateway(cluster_url, tmp_path_factory.mktemp("spread")):
            twins = Twins([await make_home(plain), await make_home(spread)], [])
            for name in ("node 1", "node 2"):
                listeners = spread.database.pools[name].watching.listeners
                listeners.append(twins.read_directly.append)
            yield twins


async def outcome(home: Home, surface: type[Surface], credential: str, name: str, **page: Any) -> Any:
    """What the operation answers to its example, or to another page of the same list."""
    world, token = home.worlds[f"{credential} {surface.name}"]
    caller = surface(home.gateway.client, home.gateway.app, token)
    try:
        arguments = {**EXAMPLES[name](world), **page}
        sent = {key: value for key, value in arguments.items() if value is not None}
        return (await caller.ask(name, sent)).value
    except Refused as refused:
        return refused.written


def pages_of(first: dict[str, Any], answers: list[Any]) -> list[list[dict[str, Any]]]:
    """Which pages of a list to read, in each home, whose `first` pages are these."""
    pages = [[first] * len(answers), [{**first, "page": 2}] * len(answers)]
    cursors = [take_cursor(answer) for answer in answers]
    if None not in cursors:
        pages.append([{**first, "after": cursor} for cursor in cursors])
    return pages


def take_cursor(answer: Any) -> str | None:
    """The cursor of the next page, in whose place the answer then says that there is one."""
    meta = answer.get("meta") if isinstance(answer, dict) else None
    if not meta or meta["next_cursor"] is None:
        return None
    cursor, meta["next_cursor"] = meta["next_cursor"], "another page"
    return str(cursor)


@contextmanager
def asking_one_node(citus: Cluster, check: StatementCheck, credential: str) -> Iterator[None]:
    """Fail if a request in this block has asked several shards without a reason."""
    (coordinator, *_), begins = citus.nodes, citus.nodes[0].end_of_log()
    yield
    asking = {write_plainly(text): where for text, where in check.asking.items()}
    unexpected = []
    for text in coordinator.statements_of_several_shards(begins):
        module, function = asking.get(text, ("?", "?"))
        # A user has another workspace after `create_workspace`.
        of_several = credential in ("user", OF_SEVERAL) and "workspace_id = ANY (" in text
        is_expected = may_ask_all_nodes(module, function) or (module, function) in ASKING_SEVERAL
        if not (of_several or is_expected or module.startswith("tests/")):
            unexpected.append(f"{module}, {function}: {text}")
    assert unexpected == []


def drawn(seed: int, credential: str, surface: str) -> list[str]:
    """The operations to call, reads first: a change would leave less to read."""
    names = sorted(EXAMPLES.keys() - {LAST, TIMED})
    share = Random(f"{seed} {credential} {surface}").sample(names, round(len(names) * SHARE))
    return [*sorted(share, key=order), LAST]


@pytest.mark.parametrize("surface", [Rest, GraphQL], ids=["rest", "graphql"])
@pytest.mark.parametrize("credential", CREDENTIALS)
async def test_each_operation_answers_as_on_plain_postgresql(
    twins: Twins,
    citus: Cluster,
    statement_check: StatementCheck,
    surface: type[Surface],
    credential: str,
    pytestconfig: pytest.Config,
) -> None:
    names = drawn(pytestconfig.getoption("randomly_seed"), credential, surface.name)
    with asking_one_node(citus, statement_check, credential):
        assert await differences(twins, surface, credential, names) == []
    assert twins.read_directly


async def differences(twins: Twins, surface: type[Surface], credential: str, names: list[str]) -> list[str]:
    """Where the answers of the homes to these operations differ."""
    different = []
    for name in names:
        asked: list[list[dict[str, Any]]] = [[{}, {}]]
        for everywhere in [{}, EVERYWHERE] if name in LISTS else []:
            first = {**everywhere, "limit": 1}
            answers = [await outcome(home, surface, credential, name, **first) for home in twins.homes]
            asked += pages_of(first, answers)
        for pages in asked:
            answers = [
                await outcome(home, surface, credential, name, **page)
                for home, page in zip(twins.homes, pages, strict=True)
            ]
            for answer in answers:
                take_cursor(answer)
            different += [f"{name} {pages[0]}: {each}" for each in twins.likeness.differences(*answers)]
    return different


@pytest.mark.parametrize("credential", CREDENTIALS[:3])
async def test_links_lead_where_they_lead_on_plain_postgresql(
    twins: Twins, citus: Cluster, statement_check: StatementCheck, credential: str
) -> None:
    with asking_one_node(citus, statement_check, credential):
        for _ in range(2):  # A plan of the document answers from the second time on.
            answers = []
            for home in twins.homes:
                world, token = home.worlds[f"{credential} linked"]
                sent = {"query": LINKED, "variables": {"customer": world.team}}
                answer = await home.gateway.client.post("/graphql", json=sent, headers=bearer(token))
                answers.append(answer.json())
            assert "errors" not in answers[0]
            assert list(twins.likeness.differences(*answers)) == []


def order(name: str) -> tuple[bool, str]:
    """Reads come first: a change would leave less to read."""
    return not name.startswith(("get_", "list_")), name
