"""Deliveries: each change is told to each endpoint, signed, in order, until the receiver accepts it."""

import asyncio
from collections import defaultdict
from uuid import UUID

import pytest
from aiohttp import web
from sqlalchemy import select, update
from standardwebhooks.webhooks import WebhookVerificationError

from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.webhooks.deliveries import WebhookAttemptRow, WebhookDeliveryRow
from storage.tables.webhooks.endpoints import WebhookEndpointRow
from tests.support.callers.examples import FREE
from tests.support.measures.patience import until
from tests.support.servers.receiver import Receiver, accept

_deliveries, _attempts = table_of(WebhookDeliveryRow), table_of(WebhookAttemptRow)
_endpoints = table_of(WebhookEndpointRow)


async def add_endpoint(workspace, receiver, *kinds):
    data = {"url": receiver.url, "kinds": list(kinds) or ["*"]}
    return await workspace.create_webhook_endpoint(data=data)


async def create_share(workspace, name="A report"):
    return await workspace.create_share(data={"name": name, "prices": FREE})


async def deliveries_of(sender, made):
    """The endpoint's deliveries in the order of their changes."""
    endpoint = made["webhook_endpoint"]
    own = (
        _deliveries.c.workspace_id == UUID(endpoint["workspace_id"]),
        _deliveries.c.endpoint_id == UUID(endpoint["id"]),
    )
    async with sender.database.read() as connection:
        return (
            await connection.execute(select(_deliveries).where(*own).order_by(_deliveries.c.position))
        ).all()


async def attempts_of(sender, delivery):
    own = (
        _attempts.c.workspace_id == delivery.workspace_id,
        _attempts.c.delivery_id == delivery.id,
    )
    async with sender.database.read() as connection:
        return (
            await connection.execute(select(_attempts).where(*own).order_by(_attempts.c.created_at))
        ).all()


async def change(sender, table, row, **values):
    own = (table.c.workspace_id == row.workspace_id) & (table.c.id == row.id)
    async with sender.database.write() as connection:
        await connection.execute(update(table).where(own).values(values))


async def rewind(sender, made):
    """Have the endpoint be told the whole log at once."""
    endpoint = made["webhook_endpoint"]
    own = (_endpoints.c.workspace_id == UUID(endpoint["workspace_id"])) & (
        _endpoints.c.id == UUID(endpoint["id"])
    )
    async with sender.database.write() as connection:
        await connection.execute(update(_endpoints).where(own).values(position=0))


def when(sender, made, condition):
    """Waits until the deliveries meet the condition; returns them."""

    async def read():
        rows = await deliveries_of(sender, made)
        return rows if rows and condition(rows) else None

    return until(read)


def every(status):
    return lambda rows: all(row.status == status for row in rows)


def when_attempted(sender, made):
    """Waits until an attempt of the first delivery is recorded; returns both."""

    async def read():
        for delivery in (await deliveries_of(sender, made))[:1]:
            attempts = await attempts_of(sender, delivery)
            return (delivery, attempts[-1]) if attempts else None
        return None

    return until(read)


async def test_a_change_is_told_signed_as_standard_webhooks_and_recorded(sender, workspace, receiver):
    made = await add_endpoint(workspace, receiver, "share.created")
    share = await create_share(workspace)
    (delivery,) = await when(sender, made, every("succeeded"))
    (received,) = receiver.received
    content = received.verified(made["secret"])
    assert content["type"] == "share.created"
    assert content["data"] == await workspace.get_share(id=share["id"])
    assert content["resource_id"] == share["id"]
    (logged,) = (await workspace.get_changes(resource_id=share["id"]))["data"]
    assert (received.id, content["timestamp"]) == (logged["id"], logged["at"])
    assert received.headers["user-agent"] == "Duograph-Webhooks"
    assert received.headers["content-type"] == "application/json"
    (attempt,) = await attempts_of(sender, delivery)
    assert (attempt.status, attempt.code, attempt.response_body) == (200, None, "thank you")
    assert attempt.request_body == received.body.decode()[:4096]
    assert attempt.request_headers["webhook-id"] == received.id


async def test_what_is_gone_is_told_by_its_id(sender, workspace, receiver):
    customer = await workspace.create_customer(data={"email": "ada@example.com"})
    made = await add_endpoint(workspace, receiver, "customer.deleted")
    await workspace.delete_customer(id=customer["id"])
    await when(sender, made, every("succeeded"))
    (received,) = receiver.received
    assert (received.content["resource_id"], received.content["data"]) == (customer["id"], None)


async def test_only_kinds_that_were_chosen_are_told_and_none_from_before(sender, workspace, receiver):
    before = await create_share(workspace)
    made = await add_endpoint(workspace, receiver, "share.archived")
    share = await create_share(workspace)
    for each in (share, before):
        await workspace.update_share(id=each["id"], data={"is_archived": True})
    await when(sender, made, lambda rows: len(rows) == 2 and every("succeeded")(rows))
    assert [each.content["type"] for each in receiver.received] == ["share.archived"] * 2


async def test_both_secrets_sign_for_a_day_after_a_rotation(sender, workspace, receiver):
    made = await add_endpoint(workspace, receiver, "share.created")
    rotated = await workspace.rotate_webhook_endpoint_secret(id=made["webhook_endpoint"]["id"])
    await create_share(workspace)
    await when(sender, made, every("succeeded"))
    (received,) = receiver.received
    assert received.verified(made["secret"]) == received.verified(rotated["secret"])
    with pytest.raises(WebhookVerificationError):
        received.verified("whsec_" + "A" * 44)


async def test_a_failed_delivery_is_tried_again_with_the_same_id(sender, workspace, receiver):
    statuses = [500, 204]

    async def answer(received):
        return web.Response(status=statuses.pop(0))

    receiver.answer = answer
    made = await add_endpoint(workspace, receiver, "share.created")
    await create_share(workspace)
    delivery, _ = await when_attempted(sender, made)
    assert delivery.status == "pending"
    await change(sender, _deliveries, delivery, due_at=now())
    (delivery,) = await when(sender, made, every("succeeded"))
    first, second = receiver.received
    assert first.id == second.id
    assert [each.status for each in await attempts_of(sender, delivery)] == [500, 204]


async def test_one_resource_that_fails_keeps_its_order_and_holds_up_no_other(sender, workspace, receiver):
    failing = set()

    async def answer(received):
        return web.Response(status=500 if received.content["data"]["name"] in failing else 200)

    receiver.answer = answer
    made = await add_endpoint(workspace, receiver, "share.created", "share.updated")
    failing.add("bad")
    bad = await create_share(workspace, "bad")
    await when_attempted(sender, made)
    await workspace.update_share(id=bad["id"], data={"description": "later"})
    good = await create_share(workspace, "good")
    await when(sender, made, lambda rows: len(rows) == 3 and rows[2].status == "succeeded")
    assert [row.status for row in await deliveries_of(sender, made)] == ["pending", "pending", "succeeded"]
    failing.clear()
    for row in (await deliveries_of(sender, made))[:2]:
        await change(sender, _deliveries, row, due_at=now())
    await when(sender, made, every("succeeded"))
    told = defaultdict(list)
    for each in receiver.received:
        told[each.content["data"]["id"]].append(each.content["type"])
    assert told[bad["id"]] == ["share.created", "share.created", "share.updated"]
    assert told[good["id"]] == ["share.created"]


async def test_a_410_of_the_url_before_says_nothing_of_the_new_one(sender, workspace, receiver):
    """Whoever moves a receiver has the old place answer so, to what is on its way there too."""
    begun, moved, old = asyncio.Event(), asyncio.Event(), await Receiver().start()

    async def answer(received):
        begun.set()
        await moved.wait()
        return web.Response(status=410)

    old.answer = answer
    made = await add_endpoint(workspace, old, "share.created")
    await create_share(workspace)
    await begun.wait()
    id = made["webhook_endpoint"]["id"]
    await workspace.update_webhook_endpoint(id=id, data={"url": receiver.url})
    moved.set()
    delivery, _ = await when_attempted(sender, made)
    assert (await workspace.get_webhook_endpoint(id=id))["is_enabled"]
    await change(sender, _deliveries, delivery, due_at=now())
    await when(sender, made, every("succeeded"))
    await old.stop()


async def test_a_receiver_that_answers_410_is_told_no_more(sender, workspace, receiver):
    async def answer(received):
        return web.Response(status=410)

    receiver.answer = answer
    made = await add_endpoint(workspace, receiver, "share.created")
    await create_share(workspace)

    async def disabled():
        endpoint = await workspace.get_webhook_endpoint(id=made["webhook_endpoint"]["id"])
        return None if endpoint["is_enabled"] else endpoint

    endpoint = await until(disabled)
    assert "410" in endpoint["disabled_reason"]
    assert [row.status for row in await deliveries_of(sender, made)] == ["skipped"]
    receiver.answer = accept
    enabled = await workspace.update_webhook_endpoint(id=endpoint["id"], data={"is_enabled": True})
    assert enabled["disabled_reason"] is None
    await create_share(workspace)
    await when(sender, made, lambda rows: rows[-1].status == "succeeded")


async def test_a_redirect_is_not_followed(sender, workspace, receiver):
    async def answer(received):
        return web.Response(status=302, headers={"location": "/elsewhere"})

    receiver.answer = answer
    made = await add_endpoint(workspace, receiver, "share.created")
    await create_share(workspace)
    _, attempt = await when_attempted(sender, made)
    assert attempt.code == "redirect"
    assert [each.path for each in receiver.received] == ["/hooks"]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        *((f"https://{host}/", "blocked") for host in ("169.254.169.254", "[::1]", "[::ffff:10.0.0.1]")),
        *((f"https://{host}/", "blocked") for host in ("[64:ff9b::7f00:1]", "10.0.0.1", "0xa.0.0.1")),
        *(
            ("https://100.64.0.1/", "blocked"),
            ("https://224.0.0.1/", "blocked"),
            ("https://0.0.0.0/", "blocked"),
        ),
        *(("https://no-such-host.invalid/", "dns"), ("http://127.0.0.1:1/", "refused")),
    ],
)
async def test_what_prevents_an_attempt_is_recorded_by_a_code(sender, workspace, receiver, url, code):
    receiver.url = url
    made = await add_endpoint(workspace, receiver, "share.created")
    await create_share(workspace)
    _, attempt = await when_attempted(sender, made)
    assert (attempt.status, attempt.code) == (None, code)
