"""A page on another origin in a real browser: signs its user in with PKCE and calls both surfaces."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, expect

from tests.support.browsers.in_browser import PATIENCE, sign_in, submit_password
from tests.support.servers.gateways import Tenant
from tests.support.servers.live import serve
from tests.support.servers.other_origin import serve_folder

PAGE = Path(__file__).with_name("other_origin.html").read_text()


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Another origin, with the folder of its pages."""
    folder = tmp_path_factory.mktemp("application")
    with serve_folder(folder) as origin:
        yield origin, folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Tenant]]:
    folder = tmp_path_factory.mktemp("site")
    with serve(
        f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects", host="localhost"
    ) as running:
        yield running


async def test_a_page_elsewhere_signs_in_and_calls_both_surfaces(
    chromium: Browser, site: tuple[str, Tenant], application: tuple[str, Path]
) -> None:
    (address, tenant), (origin, folder) = site, application
    data = {
        "name": "Dashboard",
        "redirect_uris": [f"{origin}/index.html"],
        "scopes": ["openid", "shares:read", "shares:write"],
        "is_public": True,
    }
    headers = {"Authorization": f"Bearer {tenant.personal_token}"}
    async with httpx.AsyncClient(base_url=address, headers=headers) as client:
        registered = await client.post("/api/oauth2/clients/", json=data)
    assert registered.status_code == 201, registered.text
    page_text = PAGE.replace("GATEWAY", address).replace(
        "CLIENT", registered.json()["oauth_client"]["client_id"]
    )
    await asyncio.to_thread((folder / "index.html").write_text, page_text)

    context = await chromium.new_context()
    context.set_default_timeout(PATIENCE)
    page = await context.new_page()
    await page.goto(f"{origin}/index.html")
    await submit_password(page, tenant)
    await page.get_by_role("button", name="Allow", exact=True).click()
    await expect(page.locator("#seen")).to_contain_text("refused")
    seen = json.loads(await page.locator("#seen").inner_text())
    await context.close()
    assert seen["subject"] == tenant.user_id
    assert seen["keys"] >= 1
    assert seen["changed"] == 200
    assert seen["names"] == [{"name": "Winds"}]
    assert len(seen["id"]) == 32
    assert seen["cost"] == "1"
    assert seen["refused"] == "insufficient_scope"


async def test_a_page_elsewhere_gets_nothing_by_the_browsers_session(
    chromium: Browser, site: tuple[str, Tenant], application: tuple[str, Path]
) -> None:
    (address, tenant), (origin, folder) = site, application
    await asyncio.to_thread((folder / "empty.html").write_text, "<!doctype html><title>Empty</title>")
    context = await chromium.new_context()
    context.set_default_timeout(PATIENCE)
    page = await context.new_page()
    await sign_in(page, address, tenant)
    await expect(page.get_by_role("heading", name="Dashboard", exact=True)).to_be_visible()
    await page.goto(f"{origin}/empty.html")
    without = await page.evaluate(f"fetch('{address}/api/viewer').then((answer) => answer.status)")
    with_cookies = await page.evaluate(
        f"fetch('{address}/api/viewer', {{credentials: 'include'}})"
        ".then((answer) => answer.status, (error) => error.name)"
    )
    await context.close()
    assert without == 401
    assert with_cookies == "TypeError"
