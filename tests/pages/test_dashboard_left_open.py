"""A dashboard that is left open in a real browser: it renews itself, also over midnight."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, Page, expect

from gateway.web.dashboard import page as dashboard
from gateway.web.dashboard.metrics import question
from gateway.web.dashboard.parts import Part
from schema.errors import Unavailable
from storage.clock import now
from tests.support.browsers.dashboard_site import Site, enter, served
from tests.support.browsers.in_browser import opened
from tests.support.servers.gateways import bearer
from tests.support.tenants.dashboards import ADDRESS


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with served(tmp_path_factory.mktemp("site")) as served_site:
        yield served_site


@pytest.mark.parametrize("opened_before", [timedelta(), timedelta(days=1)], ids=["today", "the day before"])
async def test_the_running_period_moves_by_itself(
    chromium: Browser, site: Site, monkeypatch: pytest.MonkeyPatch, opened_before: timedelta
) -> None:
    address, tenant = site
    moment = now()
    monkeypatch.setattr(question, "now", lambda: moment - opened_before)
    async with opened(chromium, address) as page:
        # Once it is answered, the page is told of everything.
        async with page.expect_response(lambda response: "metricsChanged" in response.url):
            await enter(page, site, "range=today")
        monkeypatch.setattr(question, "now", lambda: moment)
        total = page.locator("#tab-active_user_by_event strong")
        before = await total.text_content()
        async with httpx.AsyncClient(base_url=f"{address}/api", headers=bearer(tenant.token)) as client:
            seen = {"name": "seen", "timestamp": moment.isoformat()}
            # The numbers of two days differ, even if it was midnight since the other case.
            people = [f"new {opened_before} {number}" for number in range(1 + opened_before.days)]
            events = [seen | {"external_customer_id": person} for person in people]
            await client.post("/events/ingest", json={"events": events})
        await expect(total).not_to_have_text(before or "")
        await expect(page.locator("#connection")).to_be_hidden()
        await page.route("**/graphql?*", lambda route: route.abort())
        await page.reload()
        await expect(page.get_by_role("status").filter(has_text="No connection")).to_be_visible()


@asynccontextmanager
async def opened_before_midnight(
    chromium: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Page, list[str]]]:
    """The page of today a second before midnight, with its time stopped, and the dashboards it asks for."""
    midnight = now().replace(hour=0, minute=0, second=0, microsecond=0)
    monkeypatch.setattr(question, "now", lambda: midnight - timedelta(seconds=1))
    async with opened(chromium, site[0]) as page:
        await page.clock.install(time=midnight - timedelta(hours=1))
        await page.clock.pause_at(midnight)
        await enter(page, site, "range=today")
        asked: list[str] = []
        page.on("request", lambda sent: asked.append(sent.url) if "/dashboard?" in sent.url else None)
        yield page, asked


async def test_days_until_today_move_on_at_midnight_even_if_nothing_happens_and_the_pointer_rests(
    chromium: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened_before_midnight(chromium, site, monkeypatch) as (page, asked):
        legend = page.locator(".results .legend").first
        yesterday = await legend.text_content()
        monkeypatch.undo()
        await page.locator(".chart").first.hover()
        await page.clock.run_for("04:00")
        assert asked == []
        await page.clock.run_for("02:00")
        await expect(legend).not_to_have_text(yesterday or "")


async def test_charts_beside_a_question_that_is_refused_stay_when_they_were_about_to_be_renewed(
    chromium: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened_before_midnight(chromium, site, monkeypatch) as (page, asked):
        await page.get_by_text("Filters", exact=True).click()
        await page.locator("#tab-file_share_sessions").hover()
        await page.clock.run_for("00:10")
        await page.get_by_label("Time zone").fill("Mars")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("alert")).to_contain_text("Time zone")
        asked.clear()
        await page.clock.run_for("10:00")
        await page.evaluate("1")
        assert asked == []
        await expect(page.locator("#file_share_revenue .drawing").first).to_be_visible()


async def test_charts_that_could_not_be_read_are_tried_again(
    chromium: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(answer: Coroutine[Any, Any, Any]) -> Part[Any]:
        answer.close()
        return Part(None, Unavailable("The database does not answer."))

    monkeypatch.setattr(dashboard, "attempt", fail)
    async with opened(chromium, site[0]) as page:
        await page.clock.install()
        await enter(page, site, ADDRESS)
        await expect(page.locator(".results .refusal").first).to_be_visible()
        monkeypatch.undo()
        await page.clock.run_for("01:10")
        await expect(page.locator("#file_share_revenue .drawing").first).to_be_visible()
