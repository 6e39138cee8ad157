"""By which indexes an endpoint's deliveries are found, among many that have ended and many that wait."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
import pytest_asyncio

from storage.clock import now
from storage.engine.database import Database
from storage.queues import webhooks as queue
from storage.rows.rows import insert_rows
from storage.tables.webhooks.deliveries import WebhookDeliveryRow
from tests.support.databases.ended_rows import Rows
from tests.support.databases.own_databases import own_database
from tests.support.statements.plans import plan_of
from tests.support.statements.statements import noted

pytestmark = pytest.mark.both_databases
# To each endpoint; every tenth is pending, and three each are about one resource.
DELIVERIES = 300


@pytest_asyncio.fixture
async def filled(database_url, tmp_path):
    """A database with these deliveries alone, and up-to-date statistics."""
    database = Database(await own_database(database_url, tmp_path))
    home = (await Rows(database).begin()).workspaces[0]
    endpoints = [uuid4() for _ in range(10)]
    resources = [uuid4() for _ in range(DELIVERIES // 3)]
    rows = [
        {
            **dict.fromkeys(("at", "first_due_at", "due_at"), now() + timedelta(seconds=number)),
            "workspace_id": home,
            "endpoint_id": endpoint,
            "change_id": uuid4(),
            "position": number,
            "kind": "share.updated",
            "resource_id": resources[number % len(resources)],
            "status": "succeeded" if number % 10 else "pending",
        }
        for endpoint in endpoints
        for number in range(DELIVERIES)
    ]
    async with database.write() as connection:
        await insert_rows(connection, WebhookDeliveryRow, rows)
        await connection.exec_driver_sql("ANALYZE")
    yield database, queue.EndpointKey(home, endpoints[0])
    await database.close()


async def test_pending_deliveries_are_found_by_their_indexes_whatever_plan_is_kept(filled):
    database, key = filled
    with noted(database) as statements:
        async with database.write() as connection:
            await queue.endpoints_with_work(connection, None, besides=[uuid4()])
            await queue.has_work(connection, key)
            await queue.claim_deliveries(connection, key, 10)
    plans = ["\n".join(await plan_of(database, each)) for each in statements if "WHERE" in each]
    found = [re.findall(r"ix_webhook_deliveries_(\w+)", plan) for plan in plans]
    # The last one finds what is due, and for each of it whether something earlier waits.
    assert found == [["due"], ["due"], ["due", "order"]]
    assert [plan for plan in plans if re.search("SCAN webhook_deliveries|Seq Scan", plan)] == []
