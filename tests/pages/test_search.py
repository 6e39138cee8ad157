"""The search of a workspace: shares, customers, pages and guides by name, as a page and over any page."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.support.browsers.in_browser import opened, sign_in_unseen
from tests.support.callers.surfaces import Rest
from tests.support.servers.gateways import Tenant
from tests.support.servers.live import serve


def links_of(browser: Any) -> dict[str, str]:
    """The addresses of what was found, by the text of its link."""
    results = browser.page.text.partition('<div id="results">')[2].partition("</main>")[0]
    pieces = [piece.partition("</a>")[0] for piece in results.split('<a href="')[1:]]
    return {piece.partition('">')[2]: piece.partition('"')[0] for piece in pieces}


async def test_shares_and_customers_pages_and_guides_are_found_by_a_part_of_their_names(
    owner: Any, rest: Rest, tenant: Tenant
) -> None:
    share = await rest.create_share(data={"name": "Usage diary", "prices": [{"amount_type": "free"}]})
    customer = await rest.create_customer(data={"name": "Sage Usa", "email": "sage@example.com"})
    await owner.open(f"/{tenant.slug}/search?q=usa")
    found = links_of(owner)
    assert found["Usage diary"] == f"/{tenant.slug}/shares/{share['id']}"
    assert found["Sage Usa <span>sage@example.com</span>"] == f"/{tenant.slug}/customers/{customer['id']}"
    assert found["API usage"] == f"/workspaces/{tenant.slug}/usage"
    assert any(address.startswith("/docs/guide/") for address in found.values())


async def test_all_pages_are_listed_before_anything_is_asked(owner: Any, tenant: Tenant) -> None:
    await owner.open(f"/{tenant.slug}/search")
    found = links_of(owner)
    assert found["Dashboard"] == f"/{tenant.slug}/dashboard"
    for address in found.values():
        assert (await owner.open(address)).status_code != 404, address


async def test_a_list_with_more_leads_to_all_of_it(owner: Any, rest: Rest, tenant: Tenant) -> None:
    for number in range(6):
        await rest.create_customer(data={"name": f"Ada & {number}", "email": f"ada{number}@example.com"})
    await owner.open(f"/{tenant.slug}/search?q=ada+%26")
    await owner.open(links_of(owner)["All customers with this text"])
    assert "6 customers" in owner.text


async def test_what_another_workspace_has_is_not_found(
    owner: Any, tenant: Tenant, other_tenant: Tenant, rest: Rest
) -> None:
    await rest.with_token(other_tenant.token).create_customer(
        data={"name": "Zenobia", "email": "z@example.com"}
    )
    await owner.open(f"/{tenant.slug}/search?q=zenobia")
    assert "Nothing here matches “zenobia”" in owner.text
    await owner.open(f"/{other_tenant.slug}/search?q=zenobia")
    assert owner.page.status_code == 404


@pytest.mark.parametrize("question", ["%00", "%F0%9F%92%A9", "a" * 500, "%25_%5C", "<script>"])
async def test_any_text_can_be_asked(owner: Any, tenant: Tenant, question: str) -> None:
    await owner.open(f"/{tenant.slug}/search?q={question}")
    assert owner.page.status_code == 200
    assert "<script>" not in owner.page.text.partition('<div id="results">')[2]


async def test_keys_open_the_search_and_lead_to_pages(chromium: Browser, tmp_path: Any) -> None:
    running = serve(f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite", tmp_path / "objects")
    with running as (address, tenant):
        async with opened(chromium, address) as page:
            await sign_in_unseen(page, address, tenant)
            await page.goto(f"{address}/{tenant.slug}/shares")
            await page.keyboard.press("Control+k")
            await page.keyboard.type("custom fi")
            await expect(page.locator(".palette[open] .results a").first).to_have_text("Custom fields")
            await page.keyboard.press("Enter")
            await expect(page.get_by_role("heading", level=1)).to_have_text("Custom fields")
            # The heading can be seen before the scripts have run.
            await page.wait_for_load_state()
            await page.keyboard.press("Control+k")
            await page.keyboard.press("Escape")
            await expect(page.locator("dialog[open]")).to_have_count(0)
            await page.keyboard.press("g")
            await page.keyboard.press("c")
            await expect(page.get_by_role("heading", level=1)).to_have_text("Customers")
            await page.wait_for_load_state()
            await page.keyboard.press("/")
            await expect(page.get_by_label("Name, email or external ID")).to_be_focused()
            # In a field, keys are text.
            await page.keyboard.type("gd?")
            await expect(page.get_by_label("Name, email or external ID")).to_have_value("gd?")
            await page.keyboard.press("Tab")
            await page.keyboard.press("?")
            await page.get_by_label("Use keys without Ctrl").uncheck()
            await page.keyboard.press("Escape")
            await page.keyboard.press("g")
            await page.keyboard.press("d")
            await page.keyboard.press("Control+k")
            await expect(page.locator(".palette[open]")).to_be_visible()
            assert page.url.endswith(f"/{tenant.slug}/customers")
