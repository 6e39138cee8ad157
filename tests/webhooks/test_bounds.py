"""What a workspace keeps of its changes and deliveries, however many it makes."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from aiohttp import web
from sqlalchemy import select

from storage.clock import now
from storage.retention.trimming import BOUNDS, trim
from storage.rows.rows import insert_rows, table_of
from storage.tables.changes import ChangeRow
from storage.tables.webhooks.deliveries import WebhookAttemptRow, WebhookDeliveryRow
from storage.webhooks import queue
from tests.support.callers.refusals import refused
from tests.support.measures.patience import until
from tests.webhooks.test_deliveries import add_endpoint, create_share, deliveries_of, every, when

pytestmark = pytest.mark.both_databases
FEW = {ChangeRow: 5, WebhookDeliveryRow: 5, WebhookAttemptRow: 5}


async def rows_of(sender, tenant, model):
    table = table_of(model)
    async with sender.database.read() as connection:
        own = select(table).where(table.c.workspace_id == UUID(tenant.id))
        return (await connection.execute(own)).all()


async def test_the_newest_rows_stay_and_what_is_pending(sender, sending_tenant, workspace):
    home, begun = UUID(sending_tenant.id), now() - timedelta(hours=1)
    for number in range(8):
        share = await create_share(workspace, f"Share {number}")
    moments = [begun + timedelta(minutes=number) for number in range(8)]
    values = {"workspace_id": home, "endpoint_id": uuid4(), "kind": "share.created"}
    later = dict.fromkeys(("at", "first_due_at", "due_at"), now() + timedelta(days=1))
    deliveries = [
        {
            **values,
            **later,
            "created_at": moment,
            "change_id": uuid4(),
            "position": number,
            "status": "pending" if number == 0 else "succeeded",
        }
        for number, moment in enumerate(moments)
    ]
    sides = {"request_headers": {}, "response_headers": {}, "request_body": "", "response_body": ""}
    attempts = [
        {"workspace_id": home, "delivery_id": uuid4(), "created_at": moment, "milliseconds": 1, **sides}
        for moment in moments
    ]
    async with sender.database.write() as connection:
        await insert_rows(connection, WebhookDeliveryRow, deliveries)
        await insert_rows(connection, WebhookAttemptRow, attempts)
    # Reading the log gives its changes their positions.
    await workspace.get_latest_change()
    await trim(sender.database, [replace(bound, most=FEW[bound.model]) for bound in BOUNDS])
    kept = await rows_of(sender, sending_tenant, WebhookDeliveryRow)
    assert sorted(row.position for row in kept) == [0, 3, 4, 5, 6, 7]
    assert {row.created_at for row in await rows_of(sender, sending_tenant, WebhookAttemptRow)} == set(
        moments[3:]
    )
    page = await workspace.get_changes()
    assert len(page["data"]) == 5
    assert page["data"][-1]["resource_id"] == share["id"]
    await refused(workspace.get_changes(after=f"{1:019}"), 410, "gone")


async def test_an_endpoint_that_is_full_goes_on_with_the_log_when_it_has_room(
    sender, workspace, receiver, monkeypatch
):
    monkeypatch.setattr(queue, "MOST_PENDING", 2)
    monkeypatch.setattr(queue, "CHANGES_AT_A_TIME", 2)
    made = await add_endpoint(workspace, receiver, "share.created")
    for _ in range(7):
        await create_share(workspace)
    await when(sender, made, lambda rows: len(rows) == 7 and every("succeeded")(rows))
    assert len(receiver.received) == 7


async def test_a_receiver_that_refuses_everything_fills_no_more_than_its_room(
    sender, workspace, receiver, monkeypatch
):
    async def refuse(received):
        return web.Response(status=500)

    monkeypatch.setattr(queue, "MOST_PENDING", 2)
    monkeypatch.setattr(queue, "CHANGES_AT_A_TIME", 2)
    receiver.answer = refuse
    made = await add_endpoint(workspace, receiver, "share.created")
    for _ in range(5):
        await create_share(workspace)

    async def looked():
        rows = await deliveries_of(sender, made)
        return rows if len(rows) >= 2 and all(row.attempts for row in rows) else None

    assert len(await until(looked)) <= 3
