"""The dashboard in a real browser: by mouse and by keyboard, with and without JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.async_api import Browser, expect

from tests.support.browsers.dashboard_site import Site, enter, served
from tests.support.browsers.in_browser import opened, sign_in
from tests.support.servers.gateways import bearer
from tests.support.tenants.dashboards import ADDRESS, RANGE

SESSIONS = "#file_share_sessions"
WITH_SESSIONS = f"{ADDRESS}&metric=file_share_sessions"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with served(tmp_path_factory.mktemp("site")) as served_site:
        yield served_site


async def totals_of(site: Site, **asked: str) -> dict[str, float]:
    address, tenant = site
    async with httpx.AsyncClient(base_url=f"{address}/api", headers=bearer(tenant.token)) as client:
        answer = await client.get("/metrics/", params=asked)
        totals: dict[str, float] = answer.json()["totals"]
        return totals


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_from_the_sign_in_to_other_dates_and_a_share(
    chromium: Browser, site: Site, scripts: bool
) -> None:
    async with opened(chromium, site[0], scripts=scripts) as page:
        await sign_in(page, *site)
        await page.wait_for_url(f"**/{site[1].slug}/dashboard")
        await page.get_by_text("Custom", exact=True).click()
        await page.get_by_label("First date").fill(RANGE["start_date"])
        await page.get_by_label("Last date").fill(RANGE["end_date"])
        await page.get_by_role("button", name="Show dates").click()
        totals = await totals_of(site, **RANGE, interval="day")
        shown = page.locator("#tab-file_share_sessions strong")
        await expect(shown).to_have_text(str(totals["file_share_sessions"]))
        await expect(page.locator("#tab-file_share_revenue strong")).to_have_text("$15.00")
        assert "start_date=2026-01-26" in page.url
        await page.get_by_text("Filters", exact=True).click()
        await page.get_by_label("Share", exact=True).select_option("Field guide")
        if not scripts:
            await page.get_by_role("button", name="Apply").last.click()
        await page.wait_for_url("**share_id=**")
        await expect(shown).to_have_text("2")
        assert "start_date=2026-01-26" in page.url
        await page.go_back()
        await expect(page.get_by_label("Share", exact=True)).to_have_value("")


async def test_a_change_replaces_the_dashboard_and_leaves_the_page(chromium: Browser, site: Site) -> None:
    async with opened(chromium, site[0]) as page:
        await enter(page, site, ADDRESS)
        await page.evaluate("window.stayed = true")
        await page.get_by_role("button", name="7 days").click()
        await page.wait_for_url("**range=7d**")
        await expect(page.get_by_role("button", name="7 days")).to_have_attribute("aria-current", "true")
        await expect(page.get_by_role("button", name="7 days")).to_be_focused()
        await page.get_by_text("Filters", exact=True).click()
        await page.get_by_label("Time zone").fill("Mars")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("alert")).to_contain_text("Time zone: Enter an IANA time zone name")
        # What was asked before is still answered, and the next question is helped by suggestions, too.
        await expect(page.locator("#file_share_revenue .drawing").first).to_be_visible()
        await expect(page.get_by_label("Customer", exact=True)).to_have_attribute(
            "list", re.compile("suggestions")
        )
        assert await page.evaluate("window.stayed")


async def test_a_reload_that_fails_offers_another(chromium: Browser, site: Site) -> None:
    async with opened(chromium, site[0]) as page:
        await enter(page, site, ADDRESS)
        await page.route("**range=90d**", lambda route: route.abort())
        await page.get_by_role("button", name="90 days").click()
        await expect(page.get_by_role("link", name="Try again")).to_be_visible()
        assert await page.locator("#file_share_revenue").is_visible()


async def test_values_are_read_by_the_pointer_and_by_arrow_keys(chromium: Browser, site: Site) -> None:
    async with opened(chromium, site[0]) as page:
        await enter(page, site, WITH_SESSIONS)
        chart = page.locator(f"{SESSIONS} .chart")
        box = await page.locator(f"{SESSIONS} .drawing").bounding_box()
        assert box is not None
        await page.mouse.move(box["x"] + box["width"] * 5.5 / 7, box["y"] + 40)
        await expect(chart.locator(".reading")).to_contain_text("Sat 31 Jan 2026")
        await expect(chart.locator(".reading")).to_contain_text("Sat 24 Jan 2026: 0")
        await page.mouse.move(0, 0)
        await expect(chart.locator(".reading")).to_have_count(0)
        await chart.focus()
        await page.keyboard.press("Home")
        await expect(chart).to_have_attribute("aria-valuetext", "Mon 26 Jan 2026: 0, Mon 19 Jan 2026: 0")
        await page.keyboard.press("End")
        await page.keyboard.press("ArrowLeft")
        await expect(chart).to_have_attribute("aria-valuetext", "Sat 31 Jan 2026: 1, Sat 24 Jan 2026: 0")
        await expect(chart.locator(".reading strong")).to_have_text("1")


async def test_a_tap_shows_a_value_until_the_next_tap_elsewhere(chromium: Browser, site: Site) -> None:
    async with opened(chromium, site[0], width=390, touch=True) as page:
        await enter(page, site, WITH_SESSIONS)
        drawing = page.locator(f"{SESSIONS} .drawing")
        await drawing.scroll_into_view_if_needed()
        box = await drawing.bounding_box()
        assert box is not None
        await page.touchscreen.tap(box["x"] + box["width"] * 5.5 / 7, box["y"] + 40)
        await expect(page.locator(".reading")).to_contain_text("Sat 31 Jan 2026")
        await page.touchscreen.tap(box["x"] + box["width"] * 4.5 / 7, box["y"] + 40)
        await expect(page.locator(".reading")).to_contain_text("Fri 30 Jan 2026")
        await page.get_by_role("heading", name="Sessions", exact=True).first.tap()
        await expect(page.locator(".reading")).to_have_count(0)


async def test_the_legend_hides_the_compared_range_and_shows_it_again(chromium: Browser, site: Site) -> None:
    async with opened(chromium, site[0]) as page:
        await enter(page, site, WITH_SESSIONS)
        compared = page.locator(f"{SESSIONS} .drawing .compared")
        entry = page.get_by_role("button", name="Dashed: 19 January 2026 to 25 January 2026")
        # The line is flat, so a browser takes it for hidden.
        await expect(compared).not_to_have_css("display", "none")
        await entry.click()
        await expect(compared).to_have_css("display", "none")
        await expect(entry).to_have_attribute("aria-pressed", "false")
        await entry.click()
        await expect(compared).not_to_have_css("display", "none")


async def test_a_chart_is_kept_as_a_picture_as_a_file_and_as_a_query(chromium: Browser, site: Site) -> None:
    async with opened(chromium, site[0]) as page:
        await enter(page, site, WITH_SESSIONS)
        metric = page.locator(SESSIONS)
        await metric.locator("summary").click()
        async with page.expect_download() as saved:
            await metric.get_by_role("button", name="PNG").click()
        picture = await saved.value
        assert picture.suggested_filename.startswith("Sessions of ")
        assert picture.suggested_filename.endswith(", 2026-01-26 to 2026-02-01.png")
        assert (await picture.path()).read_bytes().startswith(b"\x89PNG")
        async with page.expect_download() as saved:
            await metric.get_by_role("link", name="CSV").click()
        file = await saved.value
        assert file.suggested_filename == picture.suggested_filename.replace(".png", ".csv")
        await page.keyboard.press("Escape")
        await expect(metric.locator(".menu")).not_to_have_attribute("open", "")
        await metric.locator("summary").click()
        await metric.get_by_role("link", name="Query").click()
        await page.get_by_role("button", name="Copy as curl").click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("curl --get")
        assert "$TOKEN" in copied
        await page.keyboard.press("Escape")
        await expect(metric.locator("summary")).to_be_focused()
        await page.keyboard.press("Enter")
        await metric.get_by_role("link", name="Table").click()
        dialog = page.get_by_role("dialog", name="Table of Sessions")
        await expect(dialog.locator("tfoot")).to_contain_text("In all")
        await dialog.get_by_role("button", name="Close").click()
        await expect(dialog).to_be_hidden()
        await expect(metric.locator("summary")).to_be_focused()
        await metric.locator(".chart").focus()
        await page.keyboard.press("End")
        await page.keyboard.press("ArrowLeft")
        reading = "Sat 31 Jan 2026: 1, Sat 24 Jan 2026: 0"
        await expect(metric.locator(".chart")).to_have_attribute("aria-valuetext", reading)
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/sessions?*&start_date=2026-01-31&end_date=2026-01-31")
        await expect(page.locator(".count")).to_have_text("1 session")


async def test_tabs_and_the_switch_change_the_charts_and_keep_the_page(chromium: Browser, site: Site) -> None:
    async with opened(chromium, site[0]) as page:
        await enter(page, site, ADDRESS)
        await page.evaluate("window.stayed = true")
        await page.locator("#tab-file_share_sessions").click()
        await expect(page.locator("#tab-file_share_sessions")).to_have_attribute("aria-current", "true")
        await expect(page.locator("#tab-file_share_sessions")).to_be_focused()
        await expect(page.locator(SESSIONS)).to_be_visible()
        await page.get_by_role("switch", name="Cumulative").check()
        await expect(page.locator("#cumulative_file_share_sessions")).to_be_visible()
        await expect(page.locator("#cumulative_costs")).to_be_visible()
        await expect(page.get_by_role("switch", name="Cumulative")).to_be_focused()
        assert "metric=file_share_sessions" in page.url
        assert "start_date=2026-01-26" in page.url
        await page.go_back()
        await expect(page.get_by_role("switch", name="Cumulative")).not_to_be_checked()
        assert await page.evaluate("window.stayed")


async def test_slow_lists_come_after_the_page(chromium: Browser, site: Site) -> None:
    async with opened(chromium, site[0]) as page:
        await enter(page, site, ADDRESS)
        await expect(page.locator("#top-share")).to_contain_text("$15.00")
        await page.locator("#top-customer").get_by_role("link", name="Grace").click()
        await expect(page.get_by_label("Customer", exact=True)).to_have_value("grace@example.com")
        await page.route("**/top/event**", lambda route: route.abort())
        await page.reload()
        await expect(page.locator("#top-event")).to_contain_text("This could not be loaded.")


async def test_the_switcher_leads_to_other_workspaces_by_keyboard(chromium: Browser, site: Site) -> None:
    async with opened(chromium, site[0]) as page:
        await enter(page, site)
        await page.locator(".switcher summary").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("link", name="All workspaces and new")).to_be_visible()
