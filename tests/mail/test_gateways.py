"""Whole gateways with a mail server: what a change writes arrives, at once and once."""

import asyncio

import pytest

from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.servers.gateways import make_tenant, run_gateway

pytestmark = pytest.mark.both_databases


@pytest.fixture
def gateways(post, server, tmp_path, monkeypatch):
    """Any number of gateways on one database, which look for mails only when they are woken."""
    monkeypatch.setattr("gateway.mail.task.LOOKS_EVERY_SECONDS", 3600)
    url = post.database.engine.url.render_as_string(hide_password=False)
    options = {"smtp_url": f"smtp://127.0.0.1:{server.port}", "mail_from": "Shop <shop@example.com>"}
    return lambda: run_gateway(url, tmp_path, **options)


@pytest.mark.parametrize("surface", [GraphQL, Rest])
async def test_a_change_wakes_the_delivery_of_its_mails(gateways, server, surface):
    async for gateway in gateways():
        tenant = await make_tenant(gateway, status="active")
        caller = surface(gateway.client, gateway.app, tenant.personal_token)
        await caller.invite_workspace_member(data={"email": "grace@example.com"})
        (mail,) = await server.wait_for(1)
        assert (mail["From"], mail["To"]) == ("Shop <shop@example.com>", "grace@example.com")


async def test_two_gateways_send_what_both_were_woken_for_once(gateways, server, post):
    async for first in gateways():
        async for second in gateways():
            tenant = await make_tenant(first, status="active")
            callers = [Rest(each.client, each.app, tenant.personal_token) for each in (first, second)]
            addresses = [f"m{number}@example.com" for number in range(10)]
            await asyncio.gather(
                *(
                    callers[number % 2].invite_workspace_member(data={"email": address})
                    for number, address in enumerate(addresses)
                )
            )
            await server.wait_for(len(addresses))
            for each in (first, second):
                each.app.state.services.wake_delivery()
    assert sorted(server.recipients) == sorted(addresses)
    await post.delivery(server).run()
    assert len(server.mails) == len(addresses)
