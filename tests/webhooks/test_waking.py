"""Changes are told as soon as they are committed, not at the next look."""

import asyncio

import pytest
import pytest_asyncio

from gateway.webhooks import delivery, task
from tests.support.callers.surfaces import Rest
from tests.support.databases.own_databases import own_database
from tests.support.servers.gateways import make_tenant, run_gateway
from tests.webhooks.test_deliveries import add_endpoint, create_share, every, when
from tests.webhooks.test_redelivery import succeeded

pytestmark = pytest.mark.both_databases


@pytest.fixture
def reading(monkeypatch):
    """Two events: a look has read which workspaces have endpoints, and looks may go on."""
    read, has_read, ends = delivery.workspaces_told, asyncio.Event(), asyncio.Event()

    async def read_slowly(connection):
        told = await read(connection)
        has_read.set()
        await ends.wait()
        return told

    monkeypatch.setattr(delivery, "workspaces_told", read_slowly)
    yield has_read, ends
    # The looks of other gateways wait, too.
    ends.set()


@pytest_asyncio.fixture
async def idle(database_url, tmp_path, monkeypatch):
    """A gateway that looks for webhooks once, and then only when it is woken."""
    for module in (task, delivery):
        monkeypatch.setattr(module, "LOOKS_EVERY_SECONDS", 3600)
    url = await own_database(database_url, tmp_path)
    async for running in run_gateway(url, tmp_path, webhook_allow="127.0.0.0/8"):
        yield running


@pytest_asyncio.fixture
async def own(idle):
    tenant = await make_tenant(idle)
    return Rest(idle.client, idle.app, tenant.token)


async def test_a_commit_wakes_the_worker(idle, own, receiver):
    made = await add_endpoint(own, receiver, "share.created")
    for number in range(1, 4):
        await create_share(own)
        await when(idle, made, lambda rows, number=number: len(rows) == number and every("succeeded")(rows))
    assert len(receiver.received) == 3


async def test_many_commits_at_once_leave_nothing_to_the_next_look(idle, own, receiver):
    made = await add_endpoint(own, receiver, "share.created")
    for _ in range(25):
        await create_share(own)
    await when(idle, made, lambda rows: len(rows) == 25 and every("succeeded")(rows))


async def test_a_redelivery_wakes_the_worker(idle, own, receiver):
    made = await add_endpoint(own, receiver, "share.created")
    await create_share(own)
    await when(idle, made, every("succeeded"))
    (delivery,) = (await own.list_webhook_deliveries())["data"]
    await own.redeliver_webhook_delivery(id=delivery["id"])
    await succeeded(own, delivery["id"])
    assert len(receiver.received) == 2


async def test_an_endpoint_that_a_look_has_just_missed_is_woken_too(reading, idle, own, receiver):
    has_read, ends = reading
    await has_read.wait()
    made = await add_endpoint(own, receiver, "share.created")
    ends.set()
    await create_share(own)
    await when(idle, made, every("succeeded"))
    assert len(receiver.received) == 1
