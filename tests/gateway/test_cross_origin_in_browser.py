"""A page on another origin in a real browser: signs its user in with PKCE and calls both surfaces."""

import asyncio
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, expect

from tests.support.browsing import PASSWORD
from tests.support.gateways import Tenant
from tests.support.in_browser import PATIENCE
from tests.support.live import serve

PAGE = Path(__file__).with_name("other_origin.html").read_text()


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Another origin, with the folder of its pages."""
    folder = tmp_path_factory.mktemp("application")

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    server.server_close()


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
    await page.get_by_label("Email address").fill(tenant.user_email)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()
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
    await page.goto(f"{address}/sign-in")
    await page.get_by_label("Email address").fill(tenant.user_email)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.get_by_role("heading", name="Workspaces")).to_be_visible()
    await page.goto(f"{origin}/empty.html")
    without = await page.evaluate(f"fetch('{address}/api/viewer').then((answer) => answer.status)")
    with_cookies = await page.evaluate(
        f"fetch('{address}/api/viewer', {{credentials: 'include'}})"
        ".then((answer) => answer.status, (error) => error.name)"
    )
    await context.close()
    assert without == 401
    assert with_cookies == "TypeError"
