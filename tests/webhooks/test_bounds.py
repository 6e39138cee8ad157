"""What a workspace keeps of its changes and deliveries, however many it makes."""

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import monotonic
from uuid import UUID, uuid4

import pytest
from aiohttp import web
from sqlalchemy import select

from gateway.webhooks import delivery
from gateway.webhooks.recording import record
from schema.webhooks.services import Attempt
from storage.clock import now
from storage.queues import backlog
from storage.queues import webhooks as queue
from storage.retention.trimming import BOUNDS, trim
from storage.rows.rows import insert_row, insert_rows, table_of
from storage.tables.changes import ChangeRow
from storage.tables.webhooks.deliveries import WebhookAttemptRow, WebhookDeliveryRow
from storage.tables.webhooks.endpoints import WebhookEndpointRow
from tests.support.callers.refusals import refused
from tests.support.measures.patience import until
from tests.support.servers.receiver import accept
from tests.support.statements.statements import noted
from tests.webhooks.test_deliveries import add_endpoint, create_share, deliveries_of, every, when

pytestmark = pytest.mark.both_databases
FEW = {ChangeRow: 5, WebhookDeliveryRow: 5, WebhookAttemptRow: 5}


class Undone(Exception):
    """Has a transaction leave nothing."""


@asynccontextmanager
async def undone(database):
    """A transaction that is rolled back, so that no worker finds what it makes."""
    with suppress(Undone):
        async with database.write() as connection:
            yield connection
            raise Undone


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


async def test_what_waits_for_a_receiver_that_fails_is_no_backlog_of_the_operator(sender, sending_tenant):
    home, long_ago = UUID(sending_tenant.id), datetime(2020, 1, 1, tzinfo=UTC)
    found = []
    for failing_since in (None, long_ago):
        async with undone(sender.database) as connection:
            endpoint = {"url": "https://a.example", "kinds": ["*"], "scopes": [], "maker_kind": "none"}
            made = await insert_row(
                connection, WebhookEndpointRow, workspace_id=home, failing_since=failing_since, **endpoint
            )
            values = {"workspace_id": home, "endpoint_id": made.id, "change_id": uuid4(), "position": 1}
            moments = dict.fromkeys(("at", "first_due_at", "due_at"), long_ago)
            await insert_row(connection, WebhookDeliveryRow, kind="share.created", **values, **moments)
            row = (await connection.execute(backlog._BACKLOG, {"moment": now()})).one()
            found.append(row[-1] == long_ago)
    assert found == [True, False]


async def test_what_fails_together_is_planned_together_and_holds_back_later_changes_alone(
    sender, sending_tenant
):
    home, moment = UUID(sending_tenant.id), now() - timedelta(minutes=1)
    # Of no endpoint, so that no worker claims them: two of each of three shares, and two batches.
    key, shares = queue.EndpointKey(home, uuid4()), [uuid4() for _ in range(3)]
    rows = [
        {
            **dict.fromkeys(("at", "first_due_at", "due_at"), moment),
            "workspace_id": home,
            "endpoint_id": key.id,
            "change_id": uuid4(),
            "position": position,
            "kind": "share.updated",
            "resource_id": resource_id,
        }
        for position, resource_id in enumerate([*shares, None, *shares, None])
    ]
    async with sender.database.write() as connection:
        await insert_rows(connection, WebhookDeliveryRow, rows)
        claimed = await queue.claim_deliveries(connection, key, 4)
        with noted(sender.database) as statements:
            failed = [(each, Attempt(now(), 1, status=500)) for each in claimed]
            await record(connection, None, failed, now(), "")
    left = sorted(await rows_of(sender, sending_tenant, WebhookDeliveryRow), key=lambda row: row.position)
    assert [row.attempts for row in left] == [1, 1, 1, 1, 0, 0, 0, 0]
    assert len({row.due_at for row in left[:7]}) == 1
    assert left[7].due_at == moment
    assert len(statements) == 3


async def test_a_quick_receiver_is_claimed_more_for_and_what_is_not_begun_in_time_is_claimed_again(
    sender, workspace, receiver, monkeypatch
):
    claimed, asked_at_once, late = [], [0, 0], 0.0
    everything_is_there = asyncio.Event()

    async def claim(connection, key, most):
        claimed.append((str(key.id), most))
        return await queue.claim_deliveries(connection, key, most)

    async def answer(received):
        nonlocal late
        late += 100 if len(receiver.received) >= 10 else 0
        asked_at_once[0] += 1
        asked_at_once[1] = max(asked_at_once)
        await everything_is_there.wait()
        asked_at_once[0] -= 1
        return await accept(received)

    monkeypatch.setattr(delivery, "claim_deliveries", claim)
    monkeypatch.setattr(delivery, "monotonic", lambda: monotonic() + late)
    for name, value in {"AT_A_TIME": 2, "MOST_CLAIMED": 8, "QUICK_SECONDS": 1e9}.items():
        monkeypatch.setattr(delivery, name, value)
    receiver.answer = answer
    made = await add_endpoint(workspace, receiver, "share.created")
    for _ in range(20):
        await create_share(workspace)
    await when(sender, made, lambda rows: len(rows) == 20)
    everything_is_there.set()
    rows = await when(sender, made, lambda rows: len(rows) == 20 and every("succeeded")(rows))
    own = [most for id, most in claimed if id == made["webhook_endpoint"]["id"]]
    assert own[:4] == [2, 4, 8, 2]
    assert asked_at_once[1] <= 2
    assert len(receiver.received) == len({each.id for each in receiver.received}) == 20
    # What was claimed in vain counts for no pause.
    assert {row.attempts - row.attempts_before for row in rows} == {1}
    assert max(row.attempts for row in rows) > 1
