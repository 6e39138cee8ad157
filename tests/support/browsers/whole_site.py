"""A running gateway with something to show on each page, and browsers in which somebody is signed in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from gateway.web.guide.contents import PAGES as GUIDE_PAGES
from storage.clock import now
from storage.rows.rows import insert_row, table_of, update_rows
from storage.tables.accounts.second_factors import PasskeyRow
from storage.tables.accounts.second_steps import SecondStepRow
from storage.tables.webhooks.deliveries import WebhookAttemptRow
from tests.support.browsers.browsing import PASSWORD, browsing
from tests.support.browsers.every_page import Visitor
from tests.support.callers.surfaces import Rest
from tests.support.callers.world import World, world_of
from tests.support.mails.mailed_links import (
    ask_for_a_link,
    ask_to_sign_up,
    latest_link,
    sign_in_unconfirmed,
    token_of,
)
from tests.support.servers.gateways import Gateway, Tenant, make_tenant, run_gateway, start_session
from tests.support.servers.live import serve
from tests.support.tenants.applications import make_application
from tests.support.tenants.dashboards import ADDRESS, make_activity
from tests.support.tenants.membership import make_user

NEW_ADDRESS = "new-address@example.com"


@dataclass(frozen=True)
class Site:
    """A running gateway, the ids and tokens of what there is in it, and the cookies of each visitor."""

    address: str
    texts: dict[str, str]
    cookies: dict[Visitor, dict[str, str]]

    def cookies_of(self, visitor: Visitor) -> list[Any]:
        """As a browser's context takes them."""
        place = f"{self.address}/{self.texts['slug']}/portal" if visitor is Visitor.CUSTOMER else self.address
        return [{"name": name, "value": value, "url": place} for name, value in self.cookies[visitor].items()]


@asynccontextmanager
async def running_site(folder: Path) -> AsyncIterator[Site]:
    """One of everything is made by a gateway without a socket, over whose database another one serves."""
    url = f"sqlite+aiosqlite:///{folder}/duograph.sqlite"
    async for gateway in run_gateway(url, folder / "objects"):
        tenant = await make_tenant(gateway, name="Harbour Prints")
        texts = await _furnish(gateway, tenant)
        cookies = await _sign_in(gateway, tenant)
        async with browsing(gateway) as browser:
            email = await sign_in_unconfirmed(gateway, browser)
            texts["confirmation"] = token_of(await latest_link(gateway, email))
            await ask_to_sign_up(browser, NEW_ADDRESS)
            texts["sign_up"] = token_of(await latest_link(gateway, NEW_ADDRESS))
            await browser.open("/account")
            await browser.press("Change email address", email=NEW_ADDRESS)
            texts["new_address"] = token_of(await latest_link(gateway, NEW_ADDRESS))
    cookies[Visitor.CUSTOMER] = {"duograph_portal": texts["customer_token"]}
    policies = {"privacy_url": "https://example.com/privacy", "terms_url": "https://example.com/terms"}
    with serve(url, folder / "objects", **policies) as (address, _):
        yield Site(address, texts, cookies)


async def _furnish(gateway: Gateway, tenant: Tenant) -> dict[str, str]:
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    settings = {"member_model_enabled": True, "analytics_compare": True}
    await workspace.update_workspace(id=tenant.id, data={"feature_settings": settings})
    await make_activity(workspace)
    world = await world_of(gateway, tenant)
    long = await _lengthen(gateway, workspace, world)
    application = await make_application(gateway, UUID(tenant.id), UUID(tenant.user_id))
    async with browsing(gateway) as browser:
        await ask_for_a_link(browser, tenant.user_email)
    return {
        **{name: value for name, value in vars(world).items() if isinstance(value, str)},
        **long,
        **{f"guide_{name}": name for name in GUIDE_PAGES},
        "activity": ADDRESS,
        "by": "share",
        "metric": "costs",
        "authorization": urlencode(application.query()),
        "new_password": token_of(await latest_link(gateway, tenant.user_email)),
    }


async def _lengthen(gateway: Gateway, workspace: Any, world: World) -> dict[str, str]:
    """Give records long texts and large amounts, which must not widen a page; the ids of new ones."""
    metadata = {"k" * 40: "v" * 200}
    price = {"amount_type": "fixed", "price_amount": 99999999, "price_currency": "brl"}
    share = {"name": "A" * 100, "prices": [price], "metadata": metadata}
    await workspace.update_share(id=world.share, data=share)
    team = {"name": "B" * 100, "email": f"team@{'long-' * 10}name.example"}
    await workspace.update_customer(id=world.team, data=team)
    sent = {"amount": 99999999, "currency": "chf"}
    payment = await workspace.record_payment(id=world.file_share_session, data=sent)
    event = {"name": "e" * 100, "customer_id": world.team, "metadata": metadata}
    events = await workspace.ingest_events(data={"events": [event]})
    passkey = "A passkey whose name is as long as those of passkeys may ever be"
    async with gateway.database.write() as connection:
        own = table_of(PasskeyRow).c.id == UUID(world.passkey)
        await update_rows(connection, PasskeyRow, own, name=passkey)
        await insert_row(
            connection,
            WebhookAttemptRow,
            workspace_id=UUID(world.workspace),
            delivery_id=UUID(world.webhook_delivery),
            milliseconds=12_345,
            status=503,
            request_headers={"webhook-signature": "v1," + "a" * 300},
            request_body='{"data": "' + "b" * 4000 + '"}',
            response_headers={"content-type": "text/plain"},
            response_body="Come back later. " * 100,
            scopes=["shares:read"],
        )
    return {"file_share_payment": payment["id"], "event": events["ids"][0]}


async def _sign_in(gateway: Gateway, tenant: Tenant) -> dict[Visitor, dict[str, str]]:
    """The cookies of browsers in which users are signed in, or halfway."""
    newcomer = await make_user(gateway)
    texts = [
        (await start_session(gateway, id, "Firefox on Linux")).text for id in (tenant.user_id, newcomer.id)
    ]
    async with browsing(gateway) as browser:
        await browser.sign_in(tenant.user_email, PASSWORD)
        second_step = browser.client.cookies["duograph_second_step"]
    # All looks at all pages take longer than somebody has to enter a code.
    async with gateway.database.write() as connection:
        of_user = table_of(SecondStepRow).c.user_id == UUID(tenant.user_id)
        await update_rows(connection, SecondStepRow, of_user, expires_at=now() + timedelta(hours=2))
    return {
        Visitor.ANYONE: {"duograph_second_step": second_step},
        Visitor.MEMBER: {"duograph_session": texts[0]},
        Visitor.NEWCOMER: {"duograph_session": texts[1]},
    }
