"""A gateway with a workspace that compares, and with activity at the end of January 2026."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.async_api import Page

from tests.support.browsers.in_browser import sign_in_unseen
from tests.support.callers.surfaces import Rest
from tests.support.servers.gateways import Tenant
from tests.support.servers.live import serve
from tests.support.tenants.dashboards import make_activity

Site = tuple[str, Tenant]


@contextmanager
def served(folder: Path) -> Iterator[Site]:
    with serve(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects") as (address, tenant):
        asyncio.run(_fill(address, tenant))
        yield address, tenant


async def _fill(address: str, tenant: Tenant) -> None:
    async with httpx.AsyncClient(base_url=address) as client:
        rest = Rest(client, None, tenant.token)  # type: ignore[arg-type]
        await make_activity(rest)
        await rest.update_workspace(id=tenant.id, data={"feature_settings": {"analytics_compare": True}})


async def enter(page: Page, site: Site, query: str = "") -> None:
    address, tenant = site
    await sign_in_unseen(page, address, tenant)
    await page.goto(f"{address}/{tenant.slug}/dashboard?{query}")
