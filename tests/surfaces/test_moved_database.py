"""While a SQLite database is moved to another one, changes are refused however they are made."""

import pytest_asyncio

from resolvers.operations.outages import RETRY_AFTER_MOVE_SECONDS
from storage.copies.marks import Mark, State, set_mark
from tests.support.browsers.browsing import browsing
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import Rest
from tests.support.databases.own_databases import own_database
from tests.support.servers.gateways import make_tenant, run_gateway
from tests.support.tenants.applications import make_application

MOVING = "The data is being moved to another database."


@pytest_asyncio.fixture
async def moving(tmp_path):
    """A gateway whose database is being moved, a tenant of it, and an application."""
    url = await own_database("sqlite", tmp_path)
    async for gateway in run_gateway(url, tmp_path / "objects"):
        tenant, application = await make_tenant(gateway), await make_application(gateway)
        async with gateway.database.write() as connection:
            await set_mark(connection, Mark(State.MOVING, "postgresql://elsewhere/duograph"))
        yield gateway, tenant, application


async def test_operations_pages_and_the_protocol_say_when_to_try_again(moving):
    gateway, tenant, application = moving
    rest = Rest(gateway.client, gateway.app, tenant.token)
    assert (await rest.list_customers())["data"] == []
    failure = await refused(rest.create_customer(data={"email": "ada@example.com"}), 503, "unavailable")
    assert MOVING in failure.detail
    answer = await application.exchange("a code")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == str(RETRY_AFTER_MOVE_SECONDS)
    assert MOVING in answer.text
    async with browsing(gateway) as browser:
        assert (await browser.sign_in(tenant.user_email)).status_code == 503
        assert browser.page.headers["retry-after"] == str(RETRY_AFTER_MOVE_SECONDS)
