"""One tenant's slow work is its own: others get their connections, and it pays for the time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from storage.dialects.sqlite import reader
from storage.engine import payers, pool
from storage.engine.payers import Payer
from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.measures.patience import until
from tests.support.servers.gateways import Gateway, Tenant, make_tenant, run_gateway

pytestmark = pytest.mark.both_databases

POOL, SHARE = 8, 2
SURFACES = [Rest, GraphQL]
LIMIT = 20


@pytest_asyncio.fixture
async def gateway(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Gateway]:
    # Short reads of SQLite need no connection.
    monkeypatch.setattr(reader, "MOST_SECONDS", 0)
    monkeypatch.setattr(reader, "STEPS", 1)
    # Clocks that stand still: a busy machine costs no caller of these tests anything.
    monkeypatch.setattr(payers, "monotonic", float)
    monkeypatch.setattr(payers, "thread_time", float)
    monkeypatch.setattr(pool, "monotonic", float)
    settings = {"rate_limit": LIMIT, "rate_limit_milliseconds": 100, "database_pool_size": POOL}
    async for running in run_gateway(database_url, tmp_path, **settings):
        yield running


@pytest_asyncio.fixture
async def slow(gateway: Gateway) -> Tenant:
    return await make_tenant(gateway)


@pytest_asyncio.fixture
async def quick(gateway: Gateway) -> Tenant:
    return await make_tenant(gateway)


async def shares_of(gateway: Gateway, tenant: Tenant, surface: Any = Rest) -> dict[str, str]:
    """The headers of the answer to a list of shares."""
    answer = await surface(gateway.client, gateway.app, tenant.token).ask("list_shares", {})
    return dict(answer.headers)


async def are_waiting(gateway: Gateway, many: int) -> bool:
    pool = gateway.database.pools["primary"]
    return pool.waiting + pool.long_work.waiting == many


@pytest.mark.parametrize("surface", SURFACES)
async def test_a_tenant_whose_statements_do_not_end_keeps_no_other_waiting(
    gateway: Gateway, slow: Tenant, quick: Tenant, surface: Any
) -> None:
    async with AsyncExitStack() as statements:
        for _ in range(SHARE):
            payer = Payer(f"workspace:{slow.id}")
            await statements.enter_async_context(gateway.database.read(payer))
        # As many requests as there are connections, and more.
        asked = [asyncio.create_task(shares_of(gateway, slow, surface)) for _ in range(POOL + 2)]
        await until(lambda: are_waiting(gateway, len(asked)))
        for _ in range(3):
            await shares_of(gateway, quick, surface)
        assert not any(task.done() for task in asked)
    await asyncio.gather(*asked)


@pytest.mark.parametrize("surface", SURFACES)
async def test_filters_wait_for_each_other_and_keep_neither_quick_lists_nor_others_waiting(
    gateway: Gateway, slow: Tenant, quick: Tenant, surface: Any
) -> None:
    def filtered(tenant: Tenant) -> Any:
        caller = surface(gateway.client, gateway.app, tenant.token)
        return caller.ask("list_events", {"metadata": [{"key": "key", "value": "1"}]})

    # On PostgreSQL the third one reads its credential in the same statement, like all that follow.
    for _ in range(3):
        await shares_of(gateway, slow, surface)
    long_work = gateway.database.pools["primary"].long_work
    async with long_work.turn(f"workspace:{slow.id}", is_new=True):
        asked = [asyncio.create_task(filtered(slow)) for _ in range(POOL + 2)]
        await until(lambda: are_waiting(gateway, len(asked)))
        await shares_of(gateway, slow, surface)
        await filtered(quick)
        assert not any(task.done() for task in asked)
    await asyncio.gather(*asked)


@pytest.mark.parametrize("surface", SURFACES)
async def test_the_time_of_the_database_is_charged_after_the_answer(
    gateway: Gateway, slow: Tenant, quick: Tenant, monkeypatch: pytest.MonkeyPatch, surface: Any
) -> None:
    before = await shares_of(gateway, slow, surface)
    assert before["ratelimit-cost"] == "1"
    moments = count()
    # Each unit of work takes 0.65 seconds: the first call covers 0.1, and 0.55 cost one for each full 0.1.
    monkeypatch.setattr(pool, "monotonic", lambda: next(moments) * 0.65)
    charged = await shares_of(gateway, slow, surface)
    monkeypatch.setattr(pool, "monotonic", float)
    assert charged["ratelimit-cost"] == "6"
    assert int(charged["ratelimit-remaining"]) == int(before["ratelimit-remaining"]) - 6
    assert (await shares_of(gateway, quick, surface))["ratelimit-cost"] == "1"


async def test_a_budget_may_fall_below_zero_and_then_refuses_the_next_calls(
    gateway: Gateway, slow: Tenant, quick: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = count()
    monkeypatch.setattr(pool, "monotonic", lambda: next(moments) * 10)
    headers = {"Authorization": f"Bearer {slow.token}"}
    answer = await gateway.client.get("/api/shares/", headers=headers)
    monkeypatch.setattr(pool, "monotonic", float)
    assert answer.status_code == 200
    assert (answer.headers["ratelimit-cost"], answer.headers["ratelimit-remaining"]) == ("100", "0")
    refused = await gateway.client.get("/api/shares/", headers=headers)
    assert refused.status_code == 429
    await shares_of(gateway, quick)


async def test_the_cost_of_the_time_is_in_a_graphql_answer_that_asks_for_it(
    gateway: Gateway, slow: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = count()
    monkeypatch.setattr(pool, "monotonic", lambda: next(moments) * 0.65)
    body = {"query": "{ shares { data { id } } }", "extensions": {"cost": True}}
    headers = {"Authorization": f"Bearer {slow.token}"}
    answer = await gateway.client.post("/graphql", json=body, headers=headers)
    assert answer.json()["extensions"]["cost"] == {"requested": 6, "limit": LIMIT, "remaining": LIMIT - 6}
    assert answer.headers["ratelimit-cost"] == "6"


# Each with a part that no other request has.
FORMS = {
    "a list": ("GET", "/api/shares/?sorting=name&sorting=-modified_at&limit=37", None),
    "a document": ("POST", "/graphql", {"query": "{ shares(limit: 37) { data { id new: name } } }"}),
    "an invalid document": ("POST", "/graphql", {"query": "{ nothing }"}),
}


@pytest.mark.parametrize("form", FORMS)
async def test_what_is_made_for_a_new_form_is_charged_and_costs_no_more_once_it_is_kept(
    gateway: Gateway, slow: Tenant, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    method, path, body = FORMS[form]
    headers = {"Authorization": f"Bearer {slow.token}"}
    await gateway.client.get("/api/customers/", headers=headers)
    moments = count()
    # Each thing that is made takes the processor 0.25 seconds.
    monkeypatch.setattr(payers, "thread_time", lambda: next(moments) * 0.25)
    costs = []
    for _ in range(2):
        answer = await gateway.client.request(method, path, json=body, headers=headers)
        costs.append(int(answer.headers["ratelimit-cost"]))
    assert costs[0] > 1
    # What is invalid is not kept.
    assert (costs[1] == 1) == ("errors" not in answer.json())
