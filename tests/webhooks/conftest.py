"""Gateways that may send to this machine, and receivers."""

import pytest
import pytest_asyncio

from tests.support.callers.surfaces import Rest
from tests.support.databases.own_databases import own_database
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


@pytest_asyncio.fixture
async def receiver():
    running = await Receiver().start()
    yield running
    await running.stop()
