"""The guides in a real browser: turning pages, search and copying, with and without JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from gateway.web.guide.contents import GUIDE_PATH, PAGES
from gateway.web.guide.search import search
from tests.support.browsers.in_browser import opened
from tests.support.servers.live import serve

START, FIRST = GUIDE_PATH, next(iter(PAGES.values())).path


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    with serve(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects") as (address, _):
        yield address


@pytest.mark.long
async def test_a_reader_can_turn_the_pages_from_the_first_to_the_last(
    chromium: Browser, address: str
) -> None:
    async with opened(chromium, address) as page:
        await page.goto(address + FIRST)
        titles = []
        while True:
            titles.append(await page.locator("h1").inner_text())
            following = page.locator("a[rel=next]")
            if not await following.count():
                break
            await following.click()
            await expect(page.locator("h1")).not_to_have_text(titles[-1])
        assert titles == [each.title for each in PAGES.values()]


async def results(page: Page) -> list[str]:
    return [str(await link.get_attribute("href")) for link in await page.locator(".results a").all()]


@pytest.mark.parametrize("question", ["idempotency key", "refund", "tag changed", "sign in"])
async def test_search_as_you_type_finds_what_the_server_finds(
    chromium: Browser, address: str, question: str
) -> None:
    async with opened(chromium, address, quiet_console=True) as page:
        await page.goto(address + FIRST)
        await page.get_by_role("searchbox").press_sequentially(question)
        expected = [result.section.address for result in search(question)][:8]
        await expect(page.locator(".results a")).to_have_count(len(expected))
        await expect(page.locator(".guide-search [role=status]")).to_have_text(
            re.compile(rf"^{len(expected)} results?$")
        )
        assert await results(page) == expected
        await page.keyboard.press("Tab")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.wait_for_url(address + expected[0])


async def test_escape_closes_the_results_and_a_lost_connection_is_told(
    chromium: Browser, address: str
) -> None:
    async with opened(chromium, address) as page:
        await page.goto(address + FIRST)
        await page.route("**/docs/guide/*.json*", lambda route: route.abort())
        await page.get_by_role("searchbox").fill("metric")
        await expect(page.locator(".results")).to_have_text("The search cannot be reached. Try again.")
        await page.unroute_all()
        await page.get_by_role("searchbox").fill("metrics")
        await expect(page.locator(".results a").first).to_be_visible()
        await expect(page.locator(".results")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.locator(".results")).to_be_hidden()
        await expect(page.get_by_role("searchbox")).to_be_focused()


async def test_without_javascript_search_and_pages_work(chromium: Browser, address: str) -> None:
    async with opened(chromium, address, scripts=False) as page:
        await page.goto(address + START)
        await page.get_by_role("searchbox").fill("idempotency key")
        await page.get_by_role("button", name="Search").click()
        await page.locator(".found a").first.click()
        await expect(page.get_by_role("heading", name="An Idempotency-Key")).to_be_visible()
        await expect(page.get_by_role("button", name="Copy").first).to_be_hidden()


async def test_the_copy_button_copies_a_command_without_its_colours(chromium: Browser, address: str) -> None:
    async with opened(chromium, address) as page:
        await page.goto(f"{address}{START}/authentication")
        await page.get_by_role("button", name="Copy").first.click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied: Any = await page.evaluate("navigator.clipboard.readText()")
        assert copied.splitlines() == [f"export DUOGRAPH={address}", "export TOKEN=dg_wat_..."]


async def test_on_a_narrow_screen_a_link_leads_to_all_guides(chromium: Browser, address: str) -> None:
    async with opened(chromium, address, width=390) as page:
        await page.goto(address + FIRST)
        await page.get_by_role("link", name="All guides").click()
        await expect(page.get_by_role("navigation", name="Guides")).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_diagram_is_shown_and_described(chromium: Browser, address: str, scheme: str) -> None:
    async with opened(chromium, address, scheme=scheme) as page:
        await page.goto(f"{address}{START}/concepts")
        diagram = page.get_by_role("img")
        assert await diagram.evaluate("(image) => image.complete && image.naturalWidth") == 600
        described = str(await diagram.get_attribute("alt")).lower()
        words = ["share", "price", "session", "payment", "customer", "member", "event", "metric"]
        assert [word for word in words if word not in described] == []
