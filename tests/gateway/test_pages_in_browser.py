"""The developer pages in a real browser that may reach no other host."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from playwright.async_api import Browser, Page, Response, expect

from tests.support.browsers.in_browser import PATIENCE, opened, overflows, sign_in_unseen
from tests.support.servers.gateways import Tenant
from tests.support.servers.live import serve

PAGES = ["/", "/graphql", "/docs"]
READY = {"/": "#curl-rest", "/graphql": ".graphiql-query-editor .view-lines", "/docs": "#reference h1"}
TABS = ["Shares", "Metrics", "Sales", "Portal", "CreateShare", "Viewer"]
SHARE = {"name": "Sample pack", "prices": [{"amount_type": "free"}]}
LIST_SHARES = "#tag/shares/GET/api/shares/"
LISTS = ["shares", "customers", "events"]
FIRST_TRIES = {
    "#tag/shares/GET/api/shares/{id}": 200,
    "#tag/shares/POST/api/shares/": 201,
    "#tag/customers/GET/api/customers/{id}": 200,
    "#tag/customers/POST/api/customers/": 201,
    "#tag/workspaces/GET/api/workspaces/{id}": 200,
    "#tag/viewer/GET/api/viewer": 200,
}

Site = tuple[str, Tenant]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A gateway with a user who has a workspace with a share and a customer."""
    folder = tmp_path_factory.mktemp("site")
    with serve(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects") as (address, tenant):
        headers = {"Authorization": f"Bearer {tenant.token}"}
        with httpx.Client(base_url=f"{address}/api", headers=headers) as client:
            client.post("/shares/", json=SHARE).raise_for_status()
            client.post("/customers/", json={"email": "reader@example.com"}).raise_for_status()
        yield address, tenant


@asynccontextmanager
async def shown(
    chromium: Browser, site: Site, path: str, *, signed_in: bool = True, **options: Any
) -> AsyncIterator[Page]:
    """The page once its content is there; leaving fails on whatever went wrong in it."""
    address, tenant = site
    async with opened(chromium, address, quiet_console=True, **options) as page:
        if signed_in:
            await sign_in_unseen(page, address, tenant)
        await show(page, address, path)
        yield page


async def show(page: Page, address: str, path: str) -> None:
    await page.goto(address + path)
    await page.locator(READY[path]).first.wait_for()


async def use_token(page: Page, token: str) -> None:
    await page.get_by_text("Use a token").click()
    await page.locator("#token").fill(token)
    await page.get_by_text("Use a token").click()


async def run_tab(page: Page, name: str) -> dict[str, Any]:
    """What the operation of the tab answers."""
    await page.locator(".graphiql-tab-button", has_text=re.compile(f"^{name}$")).click()
    while True:
        async with page.expect_response(
            lambda response: response.request.method == "POST" and response.url.endswith("/graphql")
        ) as answer:
            await page.get_by_label("Execute query").click()
        response = await answer.value
        # GraphiQL names the operation of the tab before, until it has read the text of this one.
        if response.request.post_data_json.get("operationName") == name:
            body: dict[str, Any] = await response.json()
            return body


async def first_answer(page: Page, anchor: str) -> Response:
    """The first answer to the operation as the reference fills it in."""
    await page.evaluate(f"location.hash = {json.dumps(anchor)}")
    operation = page.locator(f"[id$='{anchor.removeprefix('#')}']").first
    await operation.get_by_role("button", name="Test Request").click()
    async with page.expect_response(lambda response: "/api/" in response.url) as answer:
        await page.get_by_role("button", name=re.compile(r"^Send\b")).first.click()
    await page.get_by_role("button", name="Close Client").click()
    return await answer.value


async def try_operation(page: Page, anchor: str) -> tuple[int, dict[str, str]]:
    """The status of the first answer to the operation, and the headers that were sent."""
    response = await first_answer(page, anchor)
    return response.status, await response.request.all_headers()


@pytest.mark.parametrize("path", PAGES)
async def test_the_first_tab_stop_of_a_page_skips_to_its_content_and_its_header_offers_to_sign_in(
    chromium: Browser, site: Site, path: str
) -> None:
    async with shown(chromium, site, path, signed_in=False) as page:
        if path != "/":
            link = page.get_by_label("Account").get_by_role("link", name="Sign in")
            await expect(link).to_have_attribute("href", f"/sign-in?next={path}")
        await page.locator("body").press("Tab")
        await expect(page.locator(":focus")).to_have_text("Skip to content")
        await page.keyboard.press("Enter")
        await expect(page.locator("#main")).to_be_focused()


async def test_the_copy_button_puts_the_command_into_the_clipboard(chromium: Browser, site: Site) -> None:
    async with shown(chromium, site, "/", signed_in=False) as page:
        await page.get_by_role("button", name="Copy").first.click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied == await page.locator("#curl-rest").inner_text()


async def test_the_header_names_the_user(chromium: Browser, site: Site) -> None:
    async with shown(chromium, site, "/graphql") as page:
        await expect(page.get_by_label("Account")).to_contain_text(site[1].user_email)
        await show(page, site[0], "/docs")
        await expect(page.get_by_label("Account")).to_contain_text(site[1].user_email)


@pytest.mark.long
async def test_every_example_of_the_explorer_succeeds_as_it_is_printed(chromium: Browser, site: Site) -> None:
    async with shown(chromium, site, "/graphql") as page:
        await expect(page.locator(".graphiql-tab-button")).to_have_text(TABS)
        for name in TABS:
            body = await run_tab(page, name)
            assert "errors" not in body, name
            assert all(value is not None for value in body["data"].values()), name
        await expect(page.locator(".graphiql-response")).to_contain_text('"kind": "BROWSER_SESSION"')


@pytest.mark.long
async def test_without_a_customer_the_explorer_offers_to_create_one(
    chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("empty")
    with serve(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects") as empty:
        async with shown(chromium, empty, "/graphql") as page:
            for name in [*TABS[:3], "CreateCustomer", *TABS[4:]]:
                assert "errors" not in await run_tab(page, name), name


async def test_the_explorer_has_documentation_but_no_other_theme_and_keeps_no_headers(
    chromium: Browser, site: Site
) -> None:
    async with shown(chromium, site, "/graphql") as page:
        await page.get_by_label("Show Documentation Explorer").click()
        documentation = page.locator(".graphiql-plugin")
        await documentation.get_by_text("Query", exact=True).click()
        await expect(documentation).to_contain_text("viewer: Viewer")
        await page.get_by_label("Open settings dialog").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("Clear storage")
        await expect(dialog).not_to_contain_text("Theme")
        await expect(dialog).not_to_contain_text("Persist headers")


async def test_the_explorer_sends_a_pasted_token_instead_of_the_session(
    chromium: Browser, site: Site
) -> None:
    async with shown(chromium, site, "/graphql") as page:
        await use_token(page, f"Bearer {site[1].token}")
        assert (await run_tab(page, "Viewer"))["data"]["viewer"]["kind"] == "WORKSPACE_TOKEN"


async def test_a_pasted_token_stays_in_its_tab_and_is_not_kept_after_it(
    chromium: Browser, site: Site
) -> None:
    address, tenant = site
    async with shown(chromium, site, "/graphql") as page:
        await use_token(page, tenant.token)
        await page.goto(f"{address}/docs")
        await expect(page.locator("#token")).to_have_value(tenant.token)
        assert tenant.token not in await page.evaluate("JSON.stringify(localStorage) + document.cookie")
        other = await page.context.new_page()
        await other.goto(f"{address}/docs")
        await expect(other.locator("#token")).to_have_value("")


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, 390])
async def test_the_reference_tries_operations_by_the_session(
    chromium: Browser, site: Site, width: int
) -> None:
    """Each succeeds as it is filled in, and no list is filtered. On a wide screen all of these are tried."""
    async with shown(chromium, site, "/docs", width=width) as page:
        for noun in LISTS if width > 1000 else LISTS[:1]:
            answer = await first_answer(page, f"#tag/{noun}/GET/api/{noun}/")
            assert "authorization" not in await answer.request.all_headers()
            assert "metadata" not in unquote(answer.url)
            assert (await answer.json())["meta"]["total"] > 0
        for anchor, status in FIRST_TRIES.items() if width > 1000 else ():
            assert (await try_operation(page, anchor))[0] == status, anchor
        assert not await overflows(page)


async def test_the_reference_sends_a_pasted_token_instead_of_the_session(
    chromium: Browser, site: Site
) -> None:
    async with shown(chromium, site, "/docs", signed_in=False) as page:
        await use_token(page, site[1].token)
        status, headers = await try_operation(page, LIST_SHARES)
        assert (status, headers["authorization"]) == (200, f"Bearer {site[1].token}")


async def test_the_reference_says_when_the_document_cannot_be_read(chromium: Browser, site: Site) -> None:
    context = await chromium.new_context()
    context.set_default_timeout(PATIENCE)
    page = await context.new_page()
    await page.route("**/api/openapi.json", lambda route: asyncio.create_task(route.fulfill(status=503)))
    await page.goto(f"{site[0]}/docs")
    await expect(page.get_by_role("alert")).to_contain_text("HTTP 503")
    await context.close()
