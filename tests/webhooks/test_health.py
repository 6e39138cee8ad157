"""Endpoints that fail: owners are told, and at last nothing is sent. A killed gateway loses nothing."""

from datetime import timedelta
from ipaddress import ip_network as parse_network
from uuid import UUID

import pytest
from aiohttp import web
from sqlalchemy import select, update

from gateway.webhooks.addresses import parse_address
from gateway.webhooks.connections import Connections
from gateway.webhooks.sending import Message, send
from resolvers.webhooks.health import DISABLED_AFTER, WARNED_AFTER
from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.accounts.users import UserRow
from storage.tables.webhooks.endpoints import WebhookEndpointRow
from tests.support.mails.mailed import mails_to
from tests.support.measures.patience import until
from tests.support.servers.gateways import run_gateway
from tests.support.servers.receiver import accept
from tests.webhooks.test_deliveries import (
    _deliveries,
    add_endpoint,
    change,
    create_share,
    deliveries_of,
    every,
    when,
    when_attempted,
)

_endpoints, _users = table_of(WebhookEndpointRow), table_of(UserRow)

MANY = 12


async def confirm(sender, tenant):
    """Confirm the address of the tenant's user, to which no mail would go otherwise."""
    own = _users.c.id == UUID(tenant.user_id)
    async with sender.database.write() as connection:
        await connection.execute(update(_users).where(own).values(email_verified_at=now()))


async def refuse(received):
    return web.Response(status=500)


async def endpoint_row(sender, made):
    endpoint = made["webhook_endpoint"]
    own = _endpoints.c.workspace_id == UUID(endpoint["workspace_id"]), _endpoints.c.id == UUID(endpoint["id"])
    async with sender.database.read() as connection:
        return (await connection.execute(select(_endpoints).where(*own))).one()


async def fail_since(sender, workspace, receiver, ago):
    """An endpoint that has failed for so long, and fails again."""
    receiver.answer = refuse
    made = await add_endpoint(workspace, receiver, "share.created")
    await create_share(workspace)
    delivery, _ = await when_attempted(sender, made)
    row = await endpoint_row(sender, made)
    assert row.failing_since is not None
    await change(sender, _endpoints, row, failing_since=row.failing_since - ago)
    await change(sender, _deliveries, delivery, due_at=now())
    return made


async def test_owners_are_told_once_after_an_hour_of_failures(sender, sending_tenant, workspace, receiver):
    await confirm(sender, sending_tenant)
    made = await fail_since(sender, workspace, receiver, WARNED_AFTER)

    async def warned():
        return (await endpoint_row(sender, made)).warned_at

    await until(warned)
    (mail,) = await mails_to(sender, sending_tenant.user_email)
    assert mail.subject == "Webhook deliveries of Acme are failing"
    assert receiver.url in mail.text
    (delivery,) = await deliveries_of(sender, made)
    receiver.answer = accept
    await change(sender, _deliveries, delivery, due_at=now())
    await when(sender, made, every("succeeded"))
    row = await endpoint_row(sender, made)
    assert (row.failing_since, row.warned_at, row.is_enabled) == (None, None, True)


async def test_after_three_days_of_failures_an_endpoint_is_disabled(
    sender, sending_tenant, workspace, receiver
):
    await confirm(sender, sending_tenant)
    made = await fail_since(sender, workspace, receiver, DISABLED_AFTER)

    async def disabled():
        endpoint = await workspace.get_webhook_endpoint(id=made["webhook_endpoint"]["id"])
        return None if endpoint["is_enabled"] else endpoint

    assert "3 days" in (await until(disabled))["disabled_reason"]
    (mail,) = await mails_to(sender, sending_tenant.user_email)
    assert mail.subject == "A webhook endpoint of Acme was disabled"
    assert [row.status for row in await deliveries_of(sender, made)] == ["skipped"]


async def test_a_delivery_is_given_up_after_three_days(sender, workspace, receiver):
    receiver.answer = refuse
    made = await add_endpoint(workspace, receiver, "share.created")
    await create_share(workspace)
    delivery, _ = await when_attempted(sender, made)
    await change(sender, _deliveries, delivery, first_due_at=now() - timedelta(days=3), due_at=now())
    await when(sender, made, every("failed"))


async def test_a_batch_of_events_that_was_refused_is_tried_again(sender, workspace, receiver):
    receiver.answer = refuse
    made = await add_endpoint(workspace, receiver, "events.ingested")
    await workspace.ingest_events(data={"events": [{"name": "opened"}]})
    delivery, attempt = await when_attempted(sender, made)
    assert (delivery.status, delivery.resource_id, attempt.status) == ("pending", None, 500)
    receiver.answer = accept
    await change(sender, _deliveries, delivery, due_at=now())
    await when(sender, made, every("succeeded"))


async def test_what_was_sent_and_not_recorded_is_sent_again_with_the_same_id(sender, workspace, receiver):
    made = await add_endpoint(workspace, receiver, "share.created")
    await create_share(workspace)
    (delivery,) = await when(sender, made, every("succeeded"))
    # As a process that was killed after its claim leaves the row, once the lease is over.
    await change(sender, _deliveries, delivery, status="pending", due_at=now())
    await when(sender, made, lambda rows: rows[0].status == "succeeded" and rows[0].attempts == 2)
    assert len({each.id for each in receiver.received}) == 1
    assert len(receiver.received) == 2


async def test_kinds_that_are_no_longer_chosen_end_their_open_deliveries(sender, workspace, receiver):
    receiver.answer = refuse
    made = await add_endpoint(workspace, receiver, "share.created", "share.updated")
    await create_share(workspace)
    await when_attempted(sender, made)
    id = made["webhook_endpoint"]["id"]
    await workspace.update_webhook_endpoint(id=id, data={"kinds": ["share.updated"]})
    assert [row.status for row in await deliveries_of(sender, made)] == ["skipped"]


@pytest.mark.parametrize(
    ("addresses", "code"),
    [
        *((["127.0.0.1", "10.0.0.1"], "blocked"), (["127.0.0.1"], None), ([], "dns")),
        *((["93.184.215.14", "10.0.0.1"], "blocked"), (["10.0.0.1", "93.184.215.14"], "blocked")),
        *(
            ([address], "blocked")
            for address in ("169.254.169.254", "::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1")
        ),
    ],
)
async def test_a_name_is_resolved_once_and_each_of_its_addresses_counts(receiver, addresses, code):
    # Whoever owns a name may have it answer otherwise the next time.
    answers, asked = [addresses, ["169.254.169.254"]], []

    async def resolve(host, port):
        asked.append(host)
        return [parse_address(address) for address in answers.pop(0)]

    connections = Connections([parse_network("127.0.0.0/8")], resolve)
    url = receiver.url.replace("127.0.0.1", "hooks.example.com")
    attempt = await send(connections, Message(url, "an id", b"{}", [b"secret"]))
    connections.close()
    assert (attempt.code, asked) == (code, ["hooks.example.com"])
    assert len(receiver.received) == (1 if code is None else 0)


async def test_a_name_of_this_machine_is_blocked_unless_an_operator_allows_it(receiver):
    connections = Connections([])
    for host in ("localhost", "127.0.0.1", "2130706433", "0177.0.0.1", "0x7f000001"):
        url = receiver.url.replace("127.0.0.1", host)
        assert (await send(connections, Message(url, "an id", b"{}", [b"secret"]))).code == "blocked"
    assert receiver.received == []


async def test_an_answer_is_read_to_4_kib(receiver):
    async def answer(received):
        return web.Response(text="a" * 100_000)

    receiver.answer = answer
    connections = Connections([parse_network("127.0.0.0/8")])
    attempt = await send(connections, Message(receiver.url, "an id", b"{}", [b"secret"]))
    connections.close()
    assert attempt.is_success
    assert attempt.response_body == "a" * 4096


async def test_a_receiver_that_speaks_no_tls_is_told_nothing(receiver):
    connections = Connections([parse_network("127.0.0.0/8")])
    url = receiver.url.replace("http:", "https:")
    attempt = await send(connections, Message(url, "an id", b"{}", [b"secret"]))
    connections.close()
    assert (attempt.status, attempt.code) == (None, "tls")
    assert receiver.received == []


async def test_two_gateways_send_each_change_once(sender, workspace, receiver, tmp_path):
    url = sender.database.engine.url.render_as_string(hide_password=False)
    async for _ in run_gateway(url, tmp_path, webhook_allow="127.0.0.0/8"):
        made = await add_endpoint(workspace, receiver, "share.created")
        for _ in range(MANY):
            await create_share(workspace)
        await when(sender, made, lambda rows: len(rows) == MANY and every("succeeded")(rows))
    assert len(receiver.received) == MANY
    assert len({each.id for each in receiver.received}) == MANY
