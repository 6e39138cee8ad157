"""Every page in a real browser, light and dark, from a phone to a wide desk: axe-core finds no barriers.

A run draws a width for each scheme, a part of the guides, which have one template, for axe-core, and one
translated page of each visitor.
`LOOKS=all make test TESTS=tests/pages/test_every_page.py` takes a quarter of an hour for every page at every
width, in both schemes, and for the translated ones in every language.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import AsyncIterator
from typing import Literal

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect
from playwright.async_api import Page as Tab

from gateway.web.kit.languages import NAMES
from storage.enums import Language
from tests.support.browsers.axe import violations_but_of_colours, violations_of_colours
from tests.support.browsers.colours import contrast
from tests.support.browsers.every_page import PAGES, Page, Visitor, templates
from tests.support.browsers.in_browser import broken_figures, lightness, opened, overflows
from tests.support.browsers.pseudo import STANDS_FOR, spoken
from tests.support.browsers.whole_site import Site, running_site

# The smallest phone, a desk at 200 per cent, and two desks.
WIDTHS = (320, 640, 1280, 1920)
GUIDES_WITH_AXE = 0.25
ARE_ALL = os.environ.get("LOOKS") == "all"
pytestmark = [pytest.mark.timeout(1800)] if ARE_ALL else []


@pytest_asyncio.fixture(scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    async with running_site(tmp_path_factory.mktemp("site")) as running:
        yield running


async def faults_of(tab: Tab, *, with_axe: bool = True) -> list[str]:
    """What is wrong with the page of the tab in each scheme on a screen that is drawn, or on all."""
    faults = []
    for width, schemes in looks():
        await tab.set_viewport_size({"width": width, "height": 800})
        found = []
        for scheme in schemes:
            await tab.emulate_media(color_scheme=scheme)
            if with_axe:
                found += [f"{scheme}: {fault}" for fault in await violations_of_colours(tab)]
            if (await lightness(tab) > 600) != (scheme == "light"):
                found.append(f"does not follow {scheme}")
        found += await violations_but_of_colours(tab) if with_axe else []
        if await overflows(tab):
            found.append("is wider than the screen")
        found += [f"breaks {figure}" for figure in await broken_figures(tab)]
        faults += [f"{width} px: {fault}" for fault in found]
    return faults


def tell(faults: dict[str, list[str]]) -> None:
    """Fail with every fault of every page, which the message of an assertion would cut."""
    if any(faults.values()):
        pytest.fail("\n".join(f"{page}: {fault}" for page, found in faults.items() for fault in found))


def looks() -> list[tuple[int, tuple[Literal["light", "dark"], ...]]]:
    """Widths, each with the schemes to look at. Between light and dark only colours differ."""
    if ARE_ALL:
        return [(width, ("light", "dark")) for width in WIDTHS]
    light, dark = random.sample(WIDTHS, 2)
    return [(light, ("light",)), (dark, ("dark",))]


def channels(colour: str) -> list[float]:
    """Red, green and blue of a computed colour."""
    return [float(part) for part in re.findall(r"[\d.]+", colour)[:3]]


def test_every_route_of_a_page_is_in_the_list_of_pages() -> None:
    """Add a page to `tests/support/browsers/every_page.py`."""
    assert {page.template for pages in PAGES.values() for page in pages} == templates()


@pytest.mark.long
@pytest.mark.parametrize("group", PAGES)
async def test_pages_are_free_of_barriers_and_fit_every_screen(
    chromium: Browser, site: Site, group: str
) -> None:
    faults: dict[str, list[str]] = {}
    for visitor in {page.visitor: None for page in PAGES[group]}:
        pages = [page for page in PAGES[group] if page.visitor is visitor]
        async with opened(chromium, site.address, quiet_console=True) as tab:
            await tab.context.add_cookies(site.cookies_of(visitor))
            for page in pages:
                with_axe = ARE_ALL or group != "guides" or random.random() < GUIDES_WITH_AXE
                faults[str(page)] = await visited(tab, site, page, with_axe=with_axe)
    tell(faults)


async def visited(tab: Tab, site: Site, page: Page, *, with_axe: bool = True) -> list[str]:
    path = page.path(site.texts)
    await tab.emulate_media(color_scheme="light")
    await tab.set_viewport_size({"width": 1280, "height": 800})
    answer = await tab.goto(site.address + path)
    assert answer is not None
    assert answer.status == 200, path
    assert tab.url == site.address + path
    await tab.locator(page.ready).first.wait_for()
    return await faults_of(tab, with_axe=with_axe)


# The pages whose words are the reader's. Those of other visitors differ in their data only.
TRANSLATED = [page for page in (*PAGES["entrance"], *PAGES["portal"]) if page.template != "/"]


@pytest.mark.long
async def test_translated_pages_fit_the_smallest_screen_in_longer_words(
    chromium: Browser, site: Site
) -> None:
    """In a language whose texts are 40 % longer than those of English."""
    wide = []
    with spoken():
        for visitor in {page.visitor: None for page in TRANSLATED}:
            async with opened(chromium, site.address, width=320, language=STANDS_FOR) as tab:
                await tab.context.add_cookies(site.cookies_of(visitor))
                for page in TRANSLATED:
                    if page.visitor is visitor:
                        await tab.goto(site.address + page.path(site.texts))
                        assert "\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}" in await tab.inner_text("main")
                        wide += [str(page)] if await overflows(tab) else []
    assert wide == []


@pytest.mark.long
@pytest.mark.parametrize("language", [each for each in NAMES if each is not Language.EN])
async def test_translated_pages_are_free_of_barriers(chromium: Browser, site: Site, language: str) -> None:
    faults: dict[str, list[str]] = {}
    for visitor in {page.visitor: None for page in TRANSLATED}:
        async with opened(chromium, site.address, quiet_console=True, language=language) as tab:
            await tab.context.add_cookies(site.cookies_of(visitor))
            pages = [page for page in TRANSLATED if page.visitor is visitor]
            # All languages have the same templates: one page of each visitor tells.
            for page in pages if ARE_ALL else random.sample(pages, 1):
                faults[str(page)] = await visited(tab, site, page)
                assert await tab.get_attribute("html", "lang") == language
    tell(faults)


# Who opens which address, fills in which field with what, and presses which button; what is then there.
ANSWERS = [
    (Visitor.ANYONE, "/nothing/here", {}, None, "Page not found"),
    (Visitor.ANYONE, "/new-password?token=unknown", {}, None, "link is invalid"),
    (Visitor.ANYONE, "/oauth2/authorize?client_id=unknown", {}, None, "does not work"),
    (Visitor.ANYONE, "/sign-in", {"Email address": "a@example.com", "Password": "x"}, "Sign in", "problem"),
    (
        Visitor.ANYONE,
        "/{slug}/portal",
        {"Email address": "a@example.com"},
        "Email me a code",
        "Enter your code",
    ),
    (Visitor.CUSTOMER, "/{slug}/portal/shares/00000000-0000-4000-8000-000000000000", {}, None, "There is no"),
    (Visitor.NEWCOMER, "/workspaces", {"Name": "Tiny", "Slug": "sign-in"}, "Create workspace", "problem"),
    (Visitor.MEMBER, "/{slug}/shares/new", {"Amount": "lots"}, "Create share", "problem"),
    (Visitor.MEMBER, "/{slug}/customers/{team}/portal-link", {}, "Create link", "Portal link"),
    (Visitor.MEMBER, "/workspaces/{slug}/webhooks/{told_endpoint}", {}, "Send test", "blocked"),
    (
        Visitor.MEMBER,
        "/workspaces/{slug}/webhooks",
        {"URL": "https://a.example"},
        "Create endpoint",
        "problem",
    ),
    (Visitor.MEMBER, "/{slug}/payments/00000000-0000-4000-8000-000000000000", {}, None, "Not found"),
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("visitor", "address", "fields", "button", "text"), ANSWERS, ids=[answer[1] for answer in ANSWERS]
)
async def test_answers_to_forms_and_wrong_addresses_are_free_of_barriers(
    chromium: Browser,
    site: Site,
    visitor: Visitor,
    address: str,
    fields: dict[str, str],
    button: str | None,
    text: str,
) -> None:
    async with opened(chromium, site.address) as tab:
        await tab.context.add_cookies(site.cookies_of(visitor))
        await tab.goto(site.address + address.format_map(site.texts))
        for label, value in fields.items():
            await tab.get_by_label(label, exact=True).fill(value)
        if button is not None:
            await tab.get_by_role("button", name=button, exact=True).last.click()
        await expect(tab.get_by_role("main")).to_contain_text(text)
        assert await faults_of(tab) == []


# Where a member has a secret made that is shown once: the fields to fill in, and the button to press.
APPLICATION = {"Name": "Bookkeeper", "Redirect URIs": "https://app.example.com/callback"}
SECRETS: list[tuple[str, dict[str, str], str]] = [
    ("/workspaces/{slug}/access-tokens", {"Token name": "For curl"}, "Create token"),
    ("/account/personal-access-tokens", {"Token name": "For curl"}, "Create token"),
    ("/workspaces/{slug}/oauth-clients", APPLICATION, "Create application"),
    ("/account/security", {}, "Create new codes"),
    ("/workspaces/{slug}/webhooks/{told_endpoint}", {}, "Create new secret"),
]


@pytest.mark.long
@pytest.mark.parametrize(("address", "fields", "button"), SECRETS, ids=[secret[0] for secret in SECRETS])
async def test_secrets_that_are_shown_once_are_free_of_barriers(
    chromium: Browser, site: Site, address: str, fields: dict[str, str], button: str
) -> None:
    async with opened(chromium, site.address) as tab:
        await tab.context.add_cookies(site.cookies_of(Visitor.MEMBER))
        await tab.goto(site.address + address.format_map(site.texts))
        for label, value in fields.items():
            await tab.get_by_role("textbox", name=label, exact=True).fill(value)
        # Scopes have to be chosen; what is confirmed is closed at first.
        if fields:
            await tab.get_by_text("Read only", exact=True).click()
        else:
            for summary in await tab.locator("main summary").all():
                await summary.click()
            assert await faults_of(tab) == []
        await tab.get_by_role("button", name=button, exact=True).last.click()
        await expect(tab.locator("#secret")).to_be_visible()
        assert await faults_of(tab) == []


DRAWN = """() => [".line", ".bar", ".compared"].map((selector) => {
    const style = getComputedStyle(document.querySelector(`.drawing ${selector}`));
    return style.fill === "none" ? style.stroke : style.fill;
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_what_a_chart_draws_stands_out_from_its_background(
    chromium: Browser, site: Site, scheme: str
) -> None:
    """By 3 to 1, as WCAG 2.2 asks of graphics: axe-core measures texts only."""
    (page,) = (page for page in PAGES["dashboard"] if page.template == "/{slug}/dashboard" and page.query)
    async with opened(chromium, site.address, scheme=scheme) as tab:
        await tab.context.add_cookies(site.cookies_of(page.visitor))
        await tab.goto(site.address + page.path(site.texts))
        background = await tab.evaluate("getComputedStyle(document.body).backgroundColor")
        for colour in await tab.evaluate(DRAWN):
            assert contrast(channels(colour), channels(background)) >= 3, colour
