"""What became of deliveries, and sending them again."""

from datetime import datetime
from uuid import UUID

import pytest
from aiohttp import web
from sqlalchemy import update

from oauth.scopes import Scope
from resolvers.webhooks.redelivery import MOST_ATTEMPTS
from storage.rows.rows import table_of
from storage.tables.webhooks.deliveries import WebhookDeliveryRow
from tests.support.callers.refusals import UNKNOWN_ID, refusal, refused
from tests.support.measures.patience import until
from tests.support.measures.spans import span
from tests.support.servers.gateways import make_tenant, make_token
from tests.support.servers.receiver import accept
from tests.webhooks.test_deliveries import add_endpoint, create_share, every, when, when_attempted

_deliveries = table_of(WebhookDeliveryRow)
LONG_AGO = "2026-01-31T09:00:00Z"


async def refuse(received):
    return web.Response(status=503, text="come back later", headers={"x-reason": "maintenance"})


def succeeded(workspace, id):
    """Waits until the delivery has succeeded; returns it."""

    async def read():
        delivery = await workspace.get_webhook_delivery(id=id)
        return delivery if delivery["status"] == "succeeded" else None

    return until(read)


async def set_delivery(sender, delivery, **values):
    own = (
        _deliveries.c.workspace_id == UUID(delivery["workspace_id"]),
        _deliveries.c.id == UUID(delivery["id"]),
    )
    async with sender.database.write() as connection:
        await connection.execute(update(_deliveries).where(*own).values(values))


async def test_a_delivery_shows_both_sides_of_each_attempt(sender, workspace, receiver):
    receiver.answer = refuse
    made = await add_endpoint(workspace, receiver, "share.created")
    with span() as creating:
        share = await create_share(workspace)
    await when_attempted(sender, made)
    (listed,) = (await workspace.list_webhook_deliveries())["data"]
    assert "attempts" not in listed
    delivery = await workspace.get_webhook_delivery(id=listed["id"])
    assert delivery["endpoint_id"] == made["webhook_endpoint"]["id"]
    assert (delivery["kind"], delivery["resource_id"]) == ("share.created", share["id"])
    assert (delivery["status"], delivery["attempt_count"], delivery["ended_at"]) == ("pending", 1, None)
    assert delivery["next_attempt_at"] > delivery["created_at"]
    assert datetime.fromisoformat(delivery["at"]) in creating
    (attempt,) = delivery["attempts"]
    (received,) = receiver.received
    assert (attempt["status"], attempt["code"], attempt["scopes"]) == (503, None, ["shares:read"])
    assert attempt["duration"] >= 0
    assert attempt["request_body"] == received.body.decode()
    assert attempt["request_headers"]["webhook-id"] == delivery["change_id"]
    assert attempt["response_headers"]["x-reason"] == "maintenance"
    assert attempt["response_body"] == "come back later"


async def test_deliveries_are_listed_newest_first_and_filtered(sender, workspace, receiver):
    made = await add_endpoint(workspace, receiver, "share.created", "share.archived")
    other = await add_endpoint(workspace, receiver, "share.created")
    share = await create_share(workspace)
    await when(sender, made, every("succeeded"))
    await workspace.update_share(id=share["id"], data={"is_archived": True})
    await when(sender, made, lambda rows: len(rows) == 2 and every("succeeded")(rows))
    await when(sender, other, every("succeeded"))
    own = made["webhook_endpoint"]["id"]

    async def kinds(**filters):
        return [each["kind"] for each in (await workspace.list_webhook_deliveries(**filters))["data"]]

    assert await kinds(endpoint_id=[own]) == ["share.archived", "share.created"]
    assert await kinds(endpoint_id=[own], sorting=["created_at"]) == ["share.created", "share.archived"]
    assert len(await kinds(kind=["share.created"])) == 2
    assert len(await kinds(resource_id=[share["id"]], status=["succeeded"])) == 3
    assert await kinds(status=["pending", "failed", "skipped"]) == []
    assert await kinds(endpoint_id=[UNKNOWN_ID]) == []


async def test_a_credential_sees_the_kinds_that_it_reads(sender, sending_tenant, workspace, receiver):
    made = await add_endpoint(workspace, receiver, "customer.created")
    await workspace.create_customer(data={"email": "ada@example.com"})
    await when(sender, made, every("succeeded"))
    (delivery,) = (await workspace.list_webhook_deliveries())["data"]
    narrow = workspace.with_token(
        await make_token(sender, sending_tenant, Scope.WEBHOOKS_WRITE, Scope.SHARES_READ)
    )
    assert (await narrow.list_webhook_deliveries())["data"] == []
    assert (await narrow.list_webhook_deliveries(kind=["customer.created"]))["data"] == []
    await refused(narrow.get_webhook_delivery(id=delivery["id"]), 404, "not_found")
    await refused(narrow.redeliver_webhook_delivery(id=delivery["id"]), 404, "not_found")
    whole = {"id": delivery["endpoint_id"], "data": {"since": LONG_AGO, "status": ["succeeded"]}}
    assert await narrow.redeliver_webhook_endpoint(**whole) == {"redelivered": 0, "has_more": False}
    stranger = workspace.with_token((await make_tenant(sender)).token)
    await refused(stranger.get_webhook_delivery(id=delivery["id"]), 404, "not_found")
    await refused(stranger.redeliver_webhook_delivery(id=delivery["id"]), 404, "not_found")
    await refused(stranger.redeliver_webhook_endpoint(**whole), 404, "not_found")
    await refused(stranger.test_webhook_endpoint(id=delivery["endpoint_id"]), 404, "not_found")


async def test_a_delivery_is_sent_again_with_the_same_id_and_what_is_there_now(sender, workspace, receiver):
    made = await add_endpoint(workspace, receiver, "share.created")
    share = await create_share(workspace)
    await when(sender, made, every("succeeded"))
    await workspace.update_share(id=share["id"], data={"name": "Renamed"})
    (delivery,) = (await workspace.list_webhook_deliveries())["data"]
    again = await workspace.redeliver_webhook_delivery(id=delivery["id"])
    assert (again["status"], again["ended_at"]) == ("pending", None)
    delivery = await succeeded(workspace, delivery["id"])
    assert delivery["attempt_count"] == len(delivery["attempts"]) == 2
    first, second = receiver.received
    assert first.id == second.id
    assert [each.content["data"]["name"] for each in (first, second)] == ["A report", "Renamed"]


async def test_a_redelivered_one_is_retried_like_a_new_one(sender, workspace, receiver):
    made = await add_endpoint(workspace, receiver, "share.created")
    await create_share(workspace)
    await when(sender, made, every("succeeded"))
    (delivery,) = (await workspace.list_webhook_deliveries())["data"]
    await set_delivery(sender, delivery, status="failed", attempts=17)
    receiver.answer = refuse
    with span() as redelivering:
        await workspace.redeliver_webhook_delivery(id=delivery["id"])
        (row,) = await when(sender, made, lambda rows: rows[0].attempts == 18)
    attempted = await until(lambda: attempts_of(workspace, delivery["id"], 2))
    assert attempted["status"] == "pending"
    # After the first pause, and not after six hours.
    assert row.first_due_at in redelivering
    assert (row.attempts, row.attempts_before) == (18, 17)


async def attempts_of(workspace, id, number):
    delivery = await workspace.get_webhook_delivery(id=id)
    return delivery if len(delivery["attempts"]) == number else None


async def test_what_did_not_arrive_is_sent_again_by_one_call(sender, workspace, receiver):
    made = await add_endpoint(workspace, receiver, "share.created")
    for _ in range(3):
        await create_share(workspace)
    await when(sender, made, lambda rows: len(rows) == 3 and every("succeeded")(rows))
    listed = (await workspace.list_webhook_deliveries())["data"]
    await set_delivery(sender, listed[0], status="failed")
    await set_delivery(sender, listed[1], status="skipped")
    id = made["webhook_endpoint"]["id"]
    none = await workspace.redeliver_webhook_endpoint(
        id=id, data={"since": LONG_AGO, "until": "2026-02-01T00:00:00Z"}
    )
    assert none == {"redelivered": 0, "has_more": False}
    some = await workspace.redeliver_webhook_endpoint(id=id, data={"since": LONG_AGO})
    assert some == {"redelivered": 2, "has_more": False}
    await when(sender, made, every("succeeded"))
    assert len(receiver.received) == 5
    ids = {each["change_id"] for each in listed}
    assert {each.id for each in receiver.received} == ids


async def test_a_span_ends_after_it_begins(workspace, receiver):
    made = await add_endpoint(workspace, receiver, "share.created")
    asked = workspace.redeliver_webhook_endpoint(
        id=made["webhook_endpoint"]["id"], data={"since": LONG_AGO, "until": LONG_AGO}
    )
    assert await refusal(asked) == {("until",): "order"}


async def test_nothing_is_sent_again_to_an_endpoint_that_is_disabled_or_gone(sender, workspace, receiver):
    made = await add_endpoint(workspace, receiver, "share.created")
    await create_share(workspace)
    await when(sender, made, every("succeeded"))
    (delivery,) = (await workspace.list_webhook_deliveries())["data"]
    id = made["webhook_endpoint"]["id"]
    await workspace.update_webhook_endpoint(id=id, data={"is_enabled": False})
    disabled = await refused(workspace.redeliver_webhook_delivery(id=delivery["id"]), 422, "invalid")
    assert "disabled" in str(disabled.detail)
    whole = workspace.redeliver_webhook_endpoint(id=id, data={"since": LONG_AGO})
    assert "disabled" in str((await refused(whole, 422, "invalid")).detail)
    await workspace.delete_webhook_endpoint(id=id)
    gone = await refused(workspace.redeliver_webhook_delivery(id=delivery["id"]), 422, "invalid")
    assert "deleted" in str(gone.detail)
    assert (await workspace.get_webhook_delivery(id=delivery["id"]))["status"] == "succeeded"


async def test_a_delivery_is_attempted_at_most_so_often(sender, workspace, receiver):
    made = await add_endpoint(workspace, receiver, "share.created")
    await create_share(workspace)
    await when(sender, made, every("succeeded"))
    (delivery,) = (await workspace.list_webhook_deliveries())["data"]
    await set_delivery(sender, delivery, attempts=MOST_ATTEMPTS)
    problem = await refused(workspace.redeliver_webhook_delivery(id=delivery["id"]), 422, "invalid")
    assert str(MOST_ATTEMPTS) in str(problem.detail)


@pytest.mark.parametrize("is_enabled", [True, False])
async def test_a_test_is_sent_at_once_and_answers_the_attempt(sender, workspace, receiver, is_enabled):
    made = await add_endpoint(workspace, receiver, "share.created")
    id = made["webhook_endpoint"]["id"]
    await workspace.update_webhook_endpoint(id=id, data={"is_enabled": is_enabled})
    attempt = await workspace.test_webhook_endpoint(id=id)
    assert (attempt["status"], attempt["response_body"]) == (200, "thank you")
    (received,) = receiver.received
    content = received.verified(made["secret"])
    assert (content["type"], content["data"]) == ("webhook.test", {"endpoint_id": id})
    assert attempt["request_body"] == received.body.decode()
    receiver.answer = refuse
    assert (await workspace.test_webhook_endpoint(id=id))["status"] == 503
    receiver.answer = accept
    assert (await workspace.list_webhook_deliveries())["data"] == []


async def test_a_repeated_test_answers_what_the_first_one_did(workspace, receiver):
    made = await add_endpoint(workspace, receiver, "share.created")
    retried = workspace.with_headers(idempotency_key="test-1")
    first = await retried.test_webhook_endpoint(id=made["webhook_endpoint"]["id"])
    assert await retried.test_webhook_endpoint(id=made["webhook_endpoint"]["id"]) == first
    assert len(receiver.received) == 1
