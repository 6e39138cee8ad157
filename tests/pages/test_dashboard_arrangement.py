"""How a member arranges the dashboard: kept for them in each workspace, wherever they sign in."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from sqlalchemy import select

from gateway.web.dashboard.arrangement import Arrangement
from gateway.web.dashboard.metrics.layout import GROUPS
from storage.rows.rows import table_of
from storage.tables.workspaces.workspaces import WorkspaceMemberRow
from tests.support.browsers.browsing import browsing, signed_in
from tests.support.callers.surfaces import Rest
from tests.support.servers.gateways import Gateway, Tenant
from tests.support.tenants.dashboards import charts_in, make_activity
from tests.support.tenants.membership import make_member

FIRST = [slug for group in GROUPS for slug in group.slugs]
MOST_BYTES = 2_000
_members = table_of(WorkspaceMemberRow)


async def press(browser: Any, tenant: Tenant, *presses: str) -> None:
    """Press buttons of the page, each on the page that the one before led to."""
    await browser.open(f"/{tenant.slug}/dashboard/arrange")
    for what in presses:
        await browser.press("Up", what=what)


async def charts_of(browser: Any, tenant: Tenant) -> list[str]:
    """The small charts in their order."""
    return charts_in((await browser.open(f"/{tenant.slug}/dashboard")).text)[1:]


async def test_a_members_order_is_theirs_in_every_browser_until_it_is_reset(
    gateway: Gateway, tenant: Tenant, rest: Rest
) -> None:
    await make_activity(rest)
    async with signed_in(gateway, tenant) as owner:
        assert await charts_of(owner, tenant) == FIRST
        await press(owner, tenant, "hide:costs", "up:usage", "down:file_share_avg_downloads", "hide:sessions")
        assert "autofocus" in owner.page.text
    money, _, usage = (list(group.slugs) for group in GROUPS)
    mine = [*money[1:], usage[1], usage[0], *usage[2:]]
    async with signed_in(gateway, tenant) as elsewhere:
        assert await charts_of(elsewhere, tenant) == mine
        await press(elsewhere, tenant, "hide:sessions", "up:usage", "hide:costs")
        _, sessions, _ = (list(group.slugs) for group in GROUPS)
        assert await charts_of(elsewhere, tenant) == [usage[1], usage[0], *usage[2:], *money, *sessions]
    colleague = await make_member(gateway, tenant)
    async with browsing(gateway) as another:
        await another.sign_in(colleague.email)
        assert await charts_of(another, tenant) == FIRST
        await press(another, tenant, *(f"hide:{group.key}" for group in GROUPS))
        assert await charts_of(another, tenant) == []
        await press(another, tenant, "reset:")
        assert await charts_of(another, tenant) == FIRST


async def test_what_is_kept_has_only_names_that_there_are(
    gateway: Gateway, tenant: Tenant, owner: Any
) -> None:
    presses = ["up:nothing", "hide:" + "x" * 5_000, "sideways:costs", "nothing", "", "up:money", "down:usage"]
    await press(owner, tenant, *presses)
    assert owner.page.status_code == 200
    assert Arrangement.of({"order": ["gone", "usage", "usage"], "hidden": ["gone"]}).kept() == {
        "order": ["usage"],
        "hidden": [],
    }
    await press(owner, tenant, "down:money", *(f"hide:{slug}" for slug in FIRST))
    async with gateway.database.snapshot() as connection:
        row = await connection.execute(
            select(_members.c.dashboard).where(_members.c.workspace_id == UUID(tenant.id))
        )
        kept = row.scalar()
    assert sorted(kept["order"]) == sorted([*FIRST, *(group.key for group in GROUPS)])
    assert sorted(kept["hidden"]) == sorted(FIRST)
    assert len(json.dumps(kept)) < MOST_BYTES


async def test_the_api_shows_no_change_of_the_member(owner: Any, tenant: Tenant, rest: Rest) -> None:
    before = await rest.list_workspace_members(workspace_id=[tenant.id])
    await press(owner, tenant, "hide:costs")
    assert await rest.list_workspace_members(workspace_id=[tenant.id]) == before
