"""How the dashboard fits screens: its controls, its labels and what opens over it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.async_api import Browser, expect

from tests.support.browsers.dashboard_site import Site, enter, served
from tests.support.browsers.in_browser import lightness, opened, overflows
from tests.support.tenants.dashboards import ADDRESS

SESSIONS = "#file_share_sessions"
WITH_SESSIONS = f"{ADDRESS}&metric=file_share_sessions"
# Whether the controls are over what has the focus.
IS_COVERED = """() => {
    const bar = document.querySelector(".question");
    const focused = document.activeElement;
    const isElsewhere = focused === document.body || focused.closest("header, .sidebar, .question");
    return !isElsewhere && focused.getBoundingClientRect().top < bar.getBoundingClientRect().bottom - 1;
}"""
# The labels that touch others or leave their card.
LABELS = """() => {
    const faults = [];
    for (const drawing of document.querySelectorAll(".drawing")) {
        const card = drawing.closest(".metric").getBoundingClientRect();
        const labels = [...drawing.querySelectorAll("text.tick")]
            .filter((label) => getComputedStyle(label).display !== "none")
            .map((label) => [label.textContent, label.getBoundingClientRect()]);
        labels.forEach(([text, box], index) => {
            if (box.left < card.left || box.right > card.right) faults.push(`${text} is outside`);
            for (const [other, its] of labels.slice(index + 1)) {
                const isBeside = box.left >= its.right + 4 || its.left >= box.right + 4;
                const isAbove = box.top + 1 >= its.bottom || its.top + 1 >= box.bottom;
                if (!isBeside && !isAbove) faults.push(`${text} touches ${other}`);
            }
        });
    }
    return faults;
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with served(tmp_path_factory.mktemp("site")) as served_site:
        yield served_site


async def test_paper_has_what_was_found_in_dark_text_over_its_whole_width(
    chromium: Browser, site: Site
) -> None:
    async with opened(chromium, site[0], scheme="dark") as page:
        await enter(page, site, ADDRESS)
        await page.emulate_media(media="print")
        for without in (".question", ".sidebar", ".menu", "nav.pages"):
            await expect(page.locator(without).first).to_be_hidden()
        width = await page.evaluate("document.querySelector('main').clientWidth / document.body.clientWidth")
        assert width > 0.95
        assert await lightness(page) == 765


@pytest.mark.parametrize("width", [1280, 390])
async def test_controls_stay_in_view_and_hide_nothing_that_has_the_focus(
    chromium: Browser, site: Site, width: int
) -> None:
    async with opened(chromium, site[0], width=width) as page:
        await enter(page, site, ADDRESS)
        await page.evaluate("scrollTo(0, document.body.scrollHeight)")
        await expect(page.get_by_role("button", name="30 days")).to_be_in_viewport()
        for _ in range(12):
            await page.keyboard.press("Shift+Tab")
            covered = await page.evaluate(IS_COVERED)
            assert not covered
        bar = await page.locator(".question").bounding_box()
        assert bar is not None
        assert bar["height"] < 120


@pytest.mark.long
@pytest.mark.parametrize(
    "query",
    [
        "range=today",
        "range=7d",
        "range=7d&interval=hour",
        "range=30d",
        "range=90d",
        "range=90d&interval=week",
        "range=12m",
        "range=12m&interval=week",
        "range=12m&interval=day",
        "start_date=2020-01-01&end_date=2026-02-01&interval=quarter",
        "start_date=2020-01-01&end_date=2026-02-01&interval=year",
    ],
)
async def test_labels_of_charts_never_touch(chromium: Browser, site: Site, query: str) -> None:
    async with opened(chromium, site[0]) as page:
        await enter(page, site, query)
        await expect(page.locator(".drawing").first).to_be_visible()
        for width in (320, 360, 390, 480, 640, 768, 900, 1024, 1280, 1600, 1920):
            await page.set_viewport_size({"width": width, "height": 900})
            assert await page.evaluate(LABELS) == [], width
            assert not await overflows(page), width


@pytest.mark.parametrize("width", [1600, 1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_it_fits_the_screen_and_follows_light_and_dark(
    chromium: Browser, site: Site, scheme: str, width: int
) -> None:
    async with opened(chromium, site[0], scheme=scheme, width=width, quiet_console=True) as page:
        await enter(page, site, WITH_SESSIONS)
        for summary in [*await page.locator(".bar summary").all(), page.locator(f"{SESSIONS} summary")]:
            await summary.click()
            assert not await overflows(page)
        assert (await lightness(page) > 600) == (scheme == "light")
