"""Gateways that may send to this machine, and receivers."""

import pytest
import pytest_asyncio

from gateway.webhooks import retries, sending
from tests.support.callers.surfaces import Rest
from tests.support.databases.own_databases import own_database
from tests.support.measures.patience import PATIENCE_SECONDS
from tests.support.servers.gateways import make_tenant, run_gateway
from tests.support.servers.receiver import Receiver


@pytest_asyncio.fixture(scope="session")
async def sender(database_url, tmp_path_factory):
    """A gateway with a database of its own, whose webhooks no other gateway sends."""
    folder = tmp_path_factory.mktemp("webhooks")
    url = await own_database(database_url, folder)
    async for running in run_gateway(url, folder, webhook_allow="127.0.0.0/8"):
        yield running


@pytest_asyncio.fixture
async def sending_tenant(sender):
    return await make_tenant(sender)


@pytest.fixture
def workspace(sender, sending_tenant):
    return Rest(sender.client, sender.app, sending_tenant.token)


@pytest.fixture(autouse=True)
def attempts_take_their_time(monkeypatch):
    """However busy the machine is, no attempt ends before its answer has come."""
    monkeypatch.setattr(sending, "SECONDS", PATIENCE_SECONDS)


@pytest_asyncio.fixture
async def receiver(monkeypatch):
    """What it refuses is tried again when the test lets it be due, and not after five seconds."""
    monkeypatch.setattr(retries, "SECONDS_BEFORE", [3600] * len(retries.SECONDS_BEFORE))
    running = await Receiver().start()
    yield running
    await running.stop()
