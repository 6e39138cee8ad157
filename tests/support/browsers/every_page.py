"""Every page of the gateway with who opens it, and a site that has something to show on each."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from gateway.app import create_app
from gateway.settings.settings import Settings
from gateway.web.guide.contents import PAGES as GUIDE_PAGES
from storage.clock import now
from storage.rows.rows import insert_row, table_of, update_rows
from storage.tables.accounts.second_factors import PasskeyRow
from storage.tables.accounts.second_steps import SecondStepRow
from storage.tables.webhooks.deliveries import WebhookAttemptRow
from tests.support.browsers.browsing import PASSWORD, browsing
from tests.support.callers.surfaces import Rest
from tests.support.callers.world import World, world_of
from tests.support.mails.mailed_links import (
    ask_for_a_link,
    ask_to_sign_up,
    latest_link,
    sign_in_unconfirmed,
    token_of,
)
from tests.support.servers.gateways import SECRET, Gateway, Tenant, make_tenant, run_gateway, start_session
from tests.support.servers.live import serve
from tests.support.tenants.applications import make_application
from tests.support.tenants.dashboards import ADDRESS, make_activity
from tests.support.tenants.membership import make_user

NEW_ADDRESS = "new-address@example.com"
# What else answers GET: the API, machine-readable documents, files, and redirects to other pages.
NOT_PAGES = re.compile(
    r"/(api/.*|\.well-known/.*|media/.*|objects|health|ready|graphql/|openapi\.json|schema\.graphql|llms\.txt)"
    r"|/dashboard|/\{slug\}/files/\{id\}/download|/\{slug\}/dashboard/metric/\{metric\}/csv|/\{slug\}/amounts|/\{slug\}/suggestions/\{kind\}"
)


class Visitor(StrEnum):
    """Who opens a page."""

    ANYONE = "anyone"
    NEWCOMER = "a user without a workspace"
    MEMBER = "member"
    CUSTOMER = "customer"


@dataclass(frozen=True)
class Page:
    """A page by its route's template, in which `id` names a text of the site, as `{...}` in `query` does.

    Its content is there when there is something that the selector `ready` fits.
    """

    template: str
    id: str = ""
    query: str = ""
    visitor: Visitor = Visitor.MEMBER
    ready: str = "h1"

    def path(self, texts: dict[str, str]) -> str:
        path = self.template.replace("{slug}", texts["slug"])
        path = re.sub(r"\{[^}]+\}", lambda _: texts[self.id], path)
        return f"{path}?{self.query.format_map(texts)}" if self.query else path


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


def templates() -> set[str]:
    """The templates of all routes that answer GET with a page."""
    app = create_app(Settings(secret_key=SECRET))
    routes = {route.path for route in app.routes if "GET" in (getattr(route, "methods", None) or ())}
    return {path for path in routes if not NOT_PAGES.fullmatch(path)}


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


ANYONE, NEWCOMER, CUSTOMER = Visitor.ANYONE, Visitor.NEWCOMER, Visitor.CUSTOMER

ENTRANCE = [
    Page("/", visitor=ANYONE),
    Page("/sign-in", visitor=ANYONE),
    Page("/sign-up", visitor=ANYONE),
    Page("/sign-up/account", query="token={sign_up}", visitor=ANYONE),
    Page("/sign-in/second-step", visitor=ANYONE),
    Page("/forgotten-password", visitor=ANYONE),
    Page("/new-password", query="token={new_password}", visitor=ANYONE),
    Page("/confirm-address", query="token={confirmation}", visitor=ANYONE),
    Page("/confirm-new-address", query="token={new_address}", visitor=ANYONE),
    Page("/confirm-password"),
    Page("/oauth2/authorize", query="{authorization}"),
]
ACCOUNT = [
    Page("/"),
    Page("/workspaces"),
    Page("/account"),
    Page("/account/authorized-applications"),
    Page("/account/browser-sessions"),
    Page("/account/invitations"),
    Page("/account/personal-access-tokens"),
    Page("/account/security"),
    Page("/workspaces", visitor=NEWCOMER),
    Page("/account/invitations", visitor=NEWCOMER),
    Page("/account/security", visitor=NEWCOMER),
    Page("/account/security/authenticator-app", visitor=NEWCOMER),
    Page("/workspaces/{slug}"),
    Page("/workspaces/{slug}/access-tokens"),
    Page("/workspaces/{slug}/members"),
    Page("/workspaces/{slug}/members/{id}/remove", "workspace_member"),
    Page("/workspaces/{slug}/oauth-clients"),
    Page("/workspaces/{slug}/oauth-clients/{id}", "oauth_client"),
    Page("/workspaces/{slug}/webhooks"),
    Page("/workspaces/{slug}/webhooks/{id}", "told_endpoint"),
    Page("/workspaces/{slug}/webhook-deliveries/{id}", "webhook_delivery"),
    Page("/workspaces/{slug}/usage"),
]
DASHBOARD = [
    Page("/{slug}/dashboard"),
    Page("/{slug}/dashboard", query="{activity}"),
    Page("/{slug}/dashboard/top/{by}", "by", query="{activity}"),
    Page("/{slug}/dashboard/metric/{metric}", "metric", query="{activity}"),
    Page("/{slug}/dashboard/arrange"),
]
TOOLS = [
    Page("/docs", visitor=ANYONE, ready="#reference h1"),
    Page("/graphql", ready=".graphiql-query-editor .view-lines"),
]
GUIDES = [
    Page("/docs/guide", visitor=ANYONE),
    Page("/docs/guide", query="q=token", visitor=ANYONE),
    Page("/docs/guide", query="q=nothing+has+this", visitor=ANYONE),
    *(Page("/docs/guide/{name}", f"guide_{name}", visitor=ANYONE) for name in GUIDE_PAGES),
]
RECORDS = [
    Page("/{slug}/search"),
    Page("/{slug}/search", query="q=report"),
    Page("/{slug}/shares"),
    Page("/{slug}/shares", query="query=nothing"),
    Page("/{slug}/shares/new"),
    Page("/{slug}/shares/{id}", "share"),
    Page("/{slug}/shares/{id}/edit", "share"),
    Page("/{slug}/customers"),
    Page("/{slug}/customers/new"),
    Page("/{slug}/customers/{id}", "team"),
    Page("/{slug}/customers/{id}/edit", "team"),
    Page("/{slug}/customers/{id}/portal-link", "team"),
    Page("/{slug}/customer-members/new", query="customer_id={team}"),
    Page("/{slug}/customer-members/{id}", "member"),
    Page("/{slug}/customer-members/{id}/edit", "member"),
    Page("/{slug}/sessions"),
    Page("/{slug}/sessions/{id}", "file_share_session"),
    Page("/{slug}/sessions/{id}/download", "file_share_session"),
    Page("/{slug}/sessions/{id}/payment", "file_share_session"),
    Page("/{slug}/downloads/{id}", "file_share_download"),
    Page("/{slug}/payments"),
    Page("/{slug}/payments/{id}", "file_share_payment"),
    Page("/{slug}/payments/{id}/refund", "file_share_payment"),
    Page("/{slug}/refunds/{id}", "file_share_refund"),
    Page("/{slug}/events"),
    Page("/{slug}/events/{id}", "event"),
    Page("/{slug}/files"),
    Page("/{slug}/files/{id}", "download"),
    Page("/{slug}/custom-fields"),
    Page("/{slug}/custom-fields/new"),
    Page("/{slug}/custom-fields/{id}", "custom_field"),
    Page("/{slug}/custom-fields/{id}/edit", "custom_field"),
]
PORTAL = [
    Page("/{slug}/portal", visitor=ANYONE),
    Page("/{slug}/portal", query="customer_session_token={customer_token}", visitor=ANYONE),
    Page("/{slug}/portal/code", visitor=ANYONE),
    Page("/{slug}/portal/enter", visitor=ANYONE),
    Page("/{slug}/portal/continue", visitor=ANYONE),
    Page("/{slug}/portal", visitor=CUSTOMER),
    Page("/{slug}/portal/purchases/{id:uuid}", "file_share_session", visitor=CUSTOMER),
    Page("/{slug}/portal/shares", visitor=CUSTOMER),
    Page("/{slug}/portal/shares/{id:uuid}", "share", visitor=CUSTOMER),
    Page("/{slug}/portal/profile", visitor=CUSTOMER),
    Page("/{slug}/portal/members", visitor=CUSTOMER),
    Page("/{slug}/portal/members/{id:uuid}", "member", visitor=CUSTOMER),
]
PAGES: dict[str, list[Page]] = {
    "entrance": ENTRANCE,
    "account and settings": ACCOUNT,
    "dashboard": DASHBOARD,
    "explorer and reference": TOOLS,
    "guides": GUIDES,
    "records": RECORDS,
    "portal": PORTAL,
}
