"""The same call over both surfaces: the same values and headers, and the same problems in the same words.

Reads are asked of one workspace over both. Changes are made in two workspaces that live through the same, in
each over one of the surfaces, and are read over the other one.
"""

import os
import sys
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from resolvers.graph.root import NODES
from tests.parity.calls import Outcome, over_graphql, over_link, over_node, over_rest
from tests.parity.cases import OPERATIONS, Case, make_case
from tests.parity.homes import Home, make_home
from tests.parity.likeness import Likeness, unequal
from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.measures.cases import cases
from tests.support.servers.gateways import run_gateway
from tests.surfaces.test_read_back import UPDATES

pytestmark = pytest.mark.both_databases

SEED = int(os.environ.get("SEED", "1"))
READS = sorted(name for name, operation in OPERATIONS.items() if name.startswith(("get_", "list_")))
CHANGES = sorted(OPERATIONS.keys() - READS)
# Of each operation on each of two databases.
CASES = cases(3, 2 * len(OPERATIONS))
# What the gateway does with a delivery once it is asked for, at a time of its own.
ONGOING = {
    "redeliver_webhook_delivery": {"status", "attempt_count", "next_attempt_at", "ended_at", "attempts"}
}
# Reads that show it: an attempt may come between two of them.
ONGOING_READS = {"get_webhook_delivery", "list_webhook_deliveries"}


@dataclass
class Twins:
    """Two homes that live through the same, and what corresponds to what."""

    homes: list[Home]
    likeness: Likeness = field(default_factory=Likeness)


@pytest_asyncio.fixture(scope="session")
async def twins(database_url, tmp_path_factory):
    objects = tmp_path_factory.mktemp("objects")
    # Limits that no test reaches, so that each answer says what it was charged.
    limits = {"rate_limit": 10**9, "rate_limit_restricted": 10**9}
    async for gateway in run_gateway(database_url, objects, **limits):
        both = Twins([await make_home(gateway), await make_home(gateway)])
        first, second = ({"ids": home.ids, **vars(home.world)} for home in both.homes)
        assert list(both.likeness.differences(first, second)) == []
        yield both


def check_share(name: str, succeeded: int) -> None:
    """Cases that are nearly all refused would prove little; few cases may be refused by chance."""
    sys.stdout.write(f"{name}: {succeeded} of {CASES} cases succeeded\n")
    assert succeeded >= max(1, (CASES - 10) / 2)


@pytest.mark.parametrize("name", READS)
async def test_a_read_gives_the_same_over_both_surfaces(twins, name):
    succeeded = 0
    for number in range(CASES):
        home = twins.homes[number % 2]
        succeeded += await check_quiet_read(home, name, await make_case(home, name, SEED, number))
    check_share(name, succeeded)


async def check_quiet_read(home: Home, name: str, case: Case) -> bool:
    """As `check_read`, again where the gateway changed meanwhile what is read."""
    if name not in ONGOING_READS:
        return await check_read(home, name, case)
    before, _ = await read(home, name, case)
    try:
        return await check_read(home, name, case)
    except AssertionError:
        after, _ = await read(home, name, case)
        if not list(unequal(before.value, after.value)):
            raise
        return await check_quiet_read(home, name, case)


async def check_read(home: Home, name: str, case: Case) -> bool:
    """Compare the read over both surfaces, and what only GraphQL has with it; says whether it succeeded."""
    told, arguments = f"{name} {case.arguments}", case.arguments
    one, other = await read(home, name, case)
    assert list(unequal(one.value, other.value)) == [], told
    assert one.refused is other.refused, told
    if one.refused:
        return False
    if other.etag is not None:
        assert one.etag == other.etag, told
    if other.connection is not None:
        await check_connection(home, name, case, one.value, other.connection)
    graphql = home.caller(GraphQL, name, case.world)
    for sent in ways_to_ask(name, arguments):
        # The second request with the same document is answered by a plan.
        for _ in range(2):
            again = await over_graphql(graphql, OPERATIONS[name], sent, plain=True)
            assert list(unequal(one.value, again.value)) == [], told
            assert one.cost == again.cost, told
    if OPERATIONS[name] in NODES.values() and "id" in arguments:
        node = await over_node(graphql, OPERATIONS[name], one.value["id"])
        assert list(unequal(one.value, node)) == [], told
    return True


def ways_to_ask(name: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """The arguments, and how else GraphQL takes them."""
    ways = [arguments]
    if "limit" in arguments:
        rest = {key: value for key, value in arguments.items() if key != "limit"}
        ways.append({**rest, "first": arguments["limit"]})
    if arguments.get("group_by") == "currency" and "currency" not in arguments:
        rest = {key: value for key, value in arguments.items() if key != "group_by"}
        ways.append({**rest, "currency": None})
    return ways


async def read(home: Home, name: str, case: Case) -> list[Outcome]:
    return [
        await over(home.caller(surface, name, case.world), OPERATIONS[name], case.arguments)
        for surface, over in ((Rest, over_rest), (GraphQL, over_graphql))
    ]


async def check_connection(home: Home, name: str, case: Case, page: Any, connection: Any) -> None:
    """The edges are the page's items, and the cursor of each continues after it, on both surfaces."""
    told = f"{name} {case.arguments}"
    edges, info = connection["edges"], connection["pageInfo"]
    assert list(unequal([edge["node"] for edge in edges], page["data"])) == [], told
    assert info["hasNextPage"] is (page["meta"]["next_cursor"] is not None), told
    assert info["endCursor"] == (edges[-1]["cursor"] if edges else None), told
    if edges:
        place = case.chances.randrange(len(edges))
        arguments = {**case.arguments, "after": edges[place]["cursor"]}
        arguments.pop("page", None)
        one, other = await read(home, name, replace(case, arguments=arguments))
        assert list(unequal(one.value, other.value)) == [], told
        assert not one.refused, told
        assert one.value["data"][: len(edges) - place - 1] == page["data"][place + 1 :], told


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_does_the_same_over_both_surfaces(twins, name):
    succeeded = 0
    for number in range(CASES):
        succeeded += await check_change(twins, name, number)
    check_share(name, succeeded)


async def check_change(twins: Twins, name: str, number: int) -> bool:
    """Make the change in both homes, each over one surface; says whether it succeeded."""
    operation = OPERATIONS[name]
    homes = twins.homes if number % 2 else twins.homes[::-1]
    outcomes, reads, told = [], [], ""
    for home, surface, other in zip(homes, (Rest, GraphQL), (GraphQL, Rest), strict=True):
        case = await make_case(home, name, SEED, number)
        told = f"{name} {case.arguments}"
        caller = home.caller(surface, name, case.world)
        await add_condition(home, case, name)
        if case.chances.random() < 0.3 and surface is Rest and name in UPDATES:
            await send_back(home, case, name)
        over = over_rest if surface is Rest else over_graphql
        if operation.gives is not None and case.chances.random() < 0.15:
            caller = caller.with_headers(idempotency_key=f"{name}-{number}")
            first = await over(caller, operation, case.arguments)
            again = await over(caller, operation, case.arguments)
            assert again == replace(first, is_replayed=not first.refused), told
            outcomes.append(again)
        else:
            outcomes.append(await over(caller, operation, case.arguments))
        if not outcomes[-1].refused and operation.gives is not None:
            seen = await read_again(home, case, name, other, outcomes[-1])
            reads.append(seen)
    one, two = outcomes
    alike = twins.likeness if homes is twins.homes else twins.likeness.turned()
    assert one.refused is two.refused, f"{told} {one} {two}"
    assert list(alike.differences(one.value, two.value)) == [], told
    assert list(alike.differences(*reads or (None, None))) == [], told
    assert (one.is_replayed, one.cost) == (two.is_replayed, two.cost), told
    return not one.refused


async def add_condition(home: Home, case: Case, name: str) -> None:
    """Sometimes, let the change be made only to the present version of the resource, or to another one."""
    chance = case.chances.random()
    if not OPERATIONS[name].is_conditional or chance > 0.3:
        return
    present = await read_of(home, case, name, Rest, case.arguments.get("id"))
    case.arguments["if_match"] = present.etag if present.etag and chance > 0.05 else '"another"'


async def send_back(home: Home, case: Case, name: str) -> None:
    """Send the whole resource as REST gives it, with the changes in it."""
    present = await read_of(home, case, name, Rest, case.arguments["id"])
    if not present.refused and isinstance(case.arguments.get("data"), dict):
        case.arguments["data"] = present.value | case.arguments["data"]


async def read_again(home: Home, case: Case, name: str, surface: Any, changed: Outcome) -> Any:
    """What the other surface reads after a change, which is what the change has answered."""
    seen = await read_of(home, case, name, surface, changed.value.get("id"))
    told, ongoing = f"{name} {case.arguments}", ONGOING.get(name, set())
    one, other = (
        {key: value for key, value in each.value.items() if key not in ongoing} for each in (changed, seen)
    )
    assert list(unequal(one, other)) == [], told
    assert changed.etag, told
    assert changed.etag == seen.etag or ongoing, told
    return other


async def read_of(home: Home, case: Case, name: str, surface: Any, id: Any) -> Outcome:
    gives = OPERATIONS[name].compared
    read = "get_workspace" if gives.name == "get_created_workspace" else gives.name
    arguments = {"id": id} if gives.parameters else {}
    over = over_rest if surface is Rest else over_graphql
    return await over(home.caller(surface, name, case.world), OPERATIONS[read], arguments)


# A link to a list, and the list over REST that it is, by the filter that names the parent.
LINKS = {
    ("file_share_session", "payments"): ("list_file_share_payments", "file_share_session_id"),
    ("file_share_session", "refunds"): ("list_file_share_refunds", "file_share_session_id"),
    ("file_share_session", "downloads"): ("list_file_share_downloads", "file_share_session_id"),
    ("customer", "events"): ("list_events", "customer_id"),
    ("customer", "file_share_sessions"): ("list_file_share_sessions", "customer_id"),
}


@pytest.mark.parametrize(("parent", "link"), LINKS, ids=str)
async def test_a_linked_list_is_the_list_filtered_by_its_parent(twins, parent, link):
    listed, filtered = LINKS[parent, link]
    found = 0
    for number in range(CASES):
        home = twins.homes[number % 2]
        random = Random(f"{SEED} {number}")
        ids = home.ids["session" if parent == "file_share_session" else "customer"]
        asked = {"limit": random.choice([1, 2, 10, 100]), "page": random.choice([1, 1, 2])}
        id = ids[number % len(ids)]
        graphql, rest = (home.caller(surface, listed, home.world) for surface in (GraphQL, Rest))
        page = await over_rest(rest, OPERATIONS[listed], {**asked, filtered: [id]})
        linked = await over_link(graphql, OPERATIONS[listed], parent, link, id, asked)
        # The cursors of both continue the same list, however they write its place.
        cursors = [page.value["meta"].pop("next_cursor"), linked["meta"].pop("next_cursor")]
        assert list(unequal(page.value, linked)) == [], f"{parent} {id} {asked}"
        if cursors[0]:
            arguments = [{filtered: [id], "limit": asked["limit"], "after": cursor} for cursor in cursors]
            one, other = [await over_rest(rest, OPERATIONS[listed], each) for each in arguments]
            assert one.value["data"] == other.value["data"] != []
        assert cursors.count(None) != 1
        found += len(linked["data"])
    assert found >= 1
