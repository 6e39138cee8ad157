"""The developer pages in a real browser that may reach no other host."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from playwright.async_api import Browser, Page, expect

from tests.gateway.page_site import make_site
from tests.support.in_browser import lightness, opened, overflows

PAGES = ["/", "/graphql", "/docs"]
READY = {
    "/": "#curl-rest",
    "/graphql": ".graphiql-query-editor .CodeMirror",
    "/docs": ":is(.nav-bar-path, .endpoint-head):visible",
}
TOKEN = "dg_wat_0123456789"


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of the site, served by uvicorn in a thread on a free port."""
    server = uvicorn.Server(uvicorn.Config(make_site(), port=0, ws="none", log_level="warning"))
    listening = server.config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listening.close()


@asynccontextmanager
async def shown(chromium: Browser, site: str, path: str, **options: Any) -> AsyncIterator[Page]:
    """The page once its content is there."""
    async with opened(chromium, site, quiet_console=True, **options) as page:
        await page.goto(site + path)
        await page.locator(READY[path]).first.wait_for()
        yield page


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
async def test_a_page_keeps_to_its_policy_and_fits_the_screen(
    chromium: Browser, site: str, path: str, scheme: str, width: int
) -> None:
    async with shown(chromium, site, path, scheme=scheme, width=width) as page:
        assert not await overflows(page)


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_follows_the_systems_light_or_dark_setting(
    chromium: Browser, site: str, path: str
) -> None:
    async with shown(chromium, site, path, scheme="light") as page:
        assert await lightness(page) > 600
    async with shown(chromium, site, path, scheme="dark") as page:
        assert await lightness(page) < 150


@pytest.mark.parametrize("path", PAGES)
async def test_the_first_tab_stop_of_a_page_skips_to_its_content(
    chromium: Browser, site: str, path: str
) -> None:
    async with shown(chromium, site, path) as page:
        await page.locator("body").press("Tab")
        await expect(page.locator(":focus")).to_have_text("Skip to content")
        await page.keyboard.press("Enter")
        await expect(page.locator("#main")).to_be_focused()


async def test_the_copy_button_puts_the_command_into_the_clipboard(chromium: Browser, site: str) -> None:
    async with shown(chromium, site, "/") as page:
        await page.get_by_role("button", name="Copy").first.click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied == await page.locator("#curl-rest").inner_text()


async def test_the_explorer_opens_the_examples_in_tabs(chromium: Browser, site: str) -> None:
    async with shown(chromium, site, "/graphql") as page:
        tabs = page.locator(".graphiql-tab-button")
        await expect(tabs).to_have_text(["Shares", "CreateShare", "Viewer"])


async def test_the_explorer_shows_the_documentation_of_the_schema(chromium: Browser, site: str) -> None:
    async with shown(chromium, site, "/graphql") as page:
        await page.get_by_label("Show Documentation Explorer").click()
        documentation = page.locator(".graphiql-plugin")
        await documentation.get_by_text("Query", exact=True).click()
        await expect(documentation).to_contain_text("viewer: Viewer!")
        await expect(documentation).to_contain_text("Who the credential speaks for.")


async def test_the_settings_of_the_explorer_offer_neither_another_theme_nor_kept_headers(
    chromium: Browser, site: str
) -> None:
    async with shown(chromium, site, "/graphql") as page:
        await page.get_by_label("Open settings dialog").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("Clear storage")
        await expect(dialog).not_to_contain_text("Theme")
        await expect(dialog).not_to_contain_text("Persist headers")


async def test_the_explorer_sends_the_pasted_token(chromium: Browser, site: str) -> None:
    async with shown(chromium, site, "/graphql") as page:
        await page.get_by_label("Token").fill(f"Bearer {TOKEN}")
        await page.get_by_label("Add tab").click()
        await page.locator(".graphiql-query-editor .CodeMirror").click()
        await page.keyboard.press("ControlOrMeta+A")
        await page.keyboard.insert_text("query Header { viewer { authorization } }")
        await expect(page.locator(".graphiql-tab-active")).to_contain_text("Header")
        await page.get_by_label("Execute query").click()
        await expect(page.locator(".result-window")).to_contain_text(f"Bearer {TOKEN}")


async def test_a_pasted_token_stays_in_its_tab_and_is_not_kept_after_it(chromium: Browser, site: str) -> None:
    async with shown(chromium, site, "/graphql") as page:
        await page.get_by_label("Token").fill(TOKEN)
        await page.goto(f"{site}/docs")
        await expect(page.get_by_label("Token")).to_have_value(TOKEN)
        assert TOKEN not in await page.evaluate("JSON.stringify(localStorage) + document.cookie")
        other = await page.context.new_page()
        await other.goto(f"{site}/docs")
        await expect(other.get_by_label("Token")).to_have_value("")


async def test_the_reference_tries_an_operation_with_the_pasted_token(chromium: Browser, site: str) -> None:
    async with shown(chromium, site, "/docs") as page:
        await page.get_by_label("Token").fill(TOKEN)
        await page.locator(".nav-bar-path", has_text="Get Share").click()
        await page.locator("input[data-pname=id]").fill("pack")
        async with page.expect_response("**/api/shares/pack") as answer:
            await page.get_by_role("button", name="TRY").click()
        share = await (await answer.value).json()
        assert share == {
            "name": "pack",
            "price_amount": None,
            "workspace_id": None,
            "authorization": f"Bearer {TOKEN}",
        }


async def test_the_reference_sends_no_token_to_an_operation_that_asks_for_none(
    chromium: Browser, site: str
) -> None:
    async with shown(chromium, site, "/docs") as page:
        await page.get_by_label("Token").fill(TOKEN)
        await page.locator(".nav-bar-path", has_text="Create Share").click()
        async with page.expect_request("**/api/shares/") as asked:
            await page.get_by_role("button", name="TRY").click()
        assert "authorization" not in await (await asked.value).all_headers()


async def test_the_reference_comes_to_rest_on_an_operation_whose_example_has_an_id(
    chromium: Browser, site: str
) -> None:
    async with shown(chromium, site, "/docs") as page:
        await page.locator(".nav-bar-path", has_text="Create Share").click()
        await expect(page.locator("textarea").first).to_have_value(re.compile("workspace_id"))


async def test_the_reference_lists_every_operation_on_a_phone(chromium: Browser, site: str) -> None:
    async with shown(chromium, site, "/docs", width=390) as page:
        await expect(page.locator(".endpoint-head")).to_have_count(2)
        await page.locator(".endpoint-head").first.click()
        await expect(page.get_by_text("A share by its id.")).to_be_visible()


async def test_the_reference_says_when_the_document_cannot_be_read(chromium: Browser, site: str) -> None:
    context = await chromium.new_context()
    page = await context.new_page()
    await page.route("**/api/openapi.json", lambda route: asyncio.create_task(route.fulfill(status=503)))
    await page.goto(f"{site}/docs")
    await expect(page.get_by_role("alert")).to_contain_text("HTTP 503")
    await context.close()
