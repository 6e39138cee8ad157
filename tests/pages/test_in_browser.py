"""The settings pages in a real browser: by mouse, by keyboard alone, and without JavaScript."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.async_api import Browser, Page, expect

from tests.support.browsing import PASSWORD
from tests.support.gateways import Tenant
from tests.support.in_browser import lightness, opened, overflows
from tests.support.live import serve

README = Path(__file__).parent.parent.parent / "README.md"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Tenant]]:
    folder = tmp_path_factory.mktemp("site")
    with serve(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects") as running:
        yield running


def in_a_shell(command: str) -> str:
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout


async def sign_in(page: Page, address: str, tenant: Tenant) -> None:
    await page.goto(f"{address}/sign-in")
    await page.get_by_label("Email address").fill(tenant.user_email)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="Workspaces")).to_be_visible()


def minute(name: str) -> str:
    """What README says of the minute."""
    return README.read_text().partition(f"**{name} minute.**")[2].partition(" minute.**")[0]


@pytest.mark.parametrize("script", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_the_third_and_fourth_minute_of_the_readme(
    chromium: Browser, site: tuple[str, Tenant], script: bool
) -> None:
    address, tenant = site
    async with opened(chromium, address, scripts=script) as page:
        await sign_in(page, address, tenant)
        await page.get_by_role("link", name="Acme").click()
        await page.get_by_role("link", name="Access tokens").click()
        await page.get_by_label("Comment").fill("The README")
        for scope in re.findall(r"`(\w+:\w+)`", minute("Third").partition("```")[0]):
            await page.get_by_label(re.compile(scope)).check()
        await page.get_by_role("button", name="Create token").click()
        token = await page.locator("#secret").inner_text()
        if script:
            await page.get_by_role("button", name="Copy").first.click()
            await expect(page.get_by_role("button", name="Copied")).to_be_visible()
            assert await page.evaluate("navigator.clipboard.readText()") == token
        command, fourth = [
            minute(name).partition("```sh\n")[2].partition("```")[0].replace("http://127.0.0.1:8000", address)
            for name in ("Third", "Fourth")
        ]
        command = command.replace("dg_wat_...", token)
        assert '"name":"Field guide"' in in_a_shell(command)
        assert '"totals":{"active_user_by_event":0,"file_share_revenue":0}' in in_a_shell(command + fourth)
        shown = await page.locator("#try-it").inner_text()
        assert '"kind":"workspace_token"' in in_a_shell(shown)
        row = page.locator(".rows > li", has_text="The README").first
        await row.locator(".confirm summary").click()
        await row.get_by_role("button", name="Revoke token").click()
        await expect(page.get_by_role("status").first).to_contain_text("Token revoked")
        assert '"invalid_token"' in in_a_shell(command)


async def test_a_new_user_signs_up_and_creates_a_workspace_by_keyboard_alone(
    chromium: Browser, site: tuple[str, Tenant]
) -> None:
    address, _ = site
    async with opened(chromium, address) as page:
        await page.goto(f"{address}/sign-up")

        async def tab_to(name: str) -> None:
            for _ in range(40):
                await page.keyboard.press("Tab")
                if (
                    await page.evaluate("document.activeElement.name || document.activeElement.innerText")
                    == name
                ):
                    return
            raise AssertionError(f"Tab does not lead to {name}.")

        await tab_to("name")
        await page.keyboard.type("Grace")
        await page.keyboard.press("Tab")
        await page.keyboard.type(f"{uuid4().hex}@example.com")
        await page.keyboard.press("Tab")
        await page.keyboard.type(PASSWORD)
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Workspaces")).to_be_visible()
        await tab_to("name")
        await page.keyboard.type("Observatory")
        await page.keyboard.press("Tab")
        await page.keyboard.type("sign-in")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_be_focused()
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("Slug")).to_be_focused()
        await page.keyboard.press("ControlOrMeta+A")
        await page.keyboard.type(f"w-{uuid4().hex}")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Observatory")).to_be_visible()
        await tab_to("Sign out")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("You are signed out.")).to_be_visible()


async def test_the_explorer_uses_the_session_without_a_token(
    chromium: Browser, site: tuple[str, Tenant]
) -> None:
    address, tenant = site
    async with opened(chromium, address) as page:
        await sign_in(page, address, tenant)
        asked = """async () => {
            const body = JSON.stringify({ query: "{ viewer { kind user { email } } }" });
            const headers = { "Content-Type": "application/json" };
            const answer = await fetch("/graphql", { method: "POST", headers, body });
            return (await answer.json()).data.viewer;
        }"""
        assert await page.evaluate(asked) == {"kind": "BROWSER_SESSION", "user": {"email": tenant.user_email}}
        assert await page.evaluate("document.cookie") == ""


PAGES = [
    "/workspaces",
    "/workspaces/SLUG",
    "/workspaces/SLUG/members",
    "/workspaces/SLUG/access-tokens",
    "/workspaces/SLUG/oauth-clients",
    "/account",
    "/account/personal-access-tokens",
    "/account/authorized-applications",
    "/account/browser-sessions",
    "/forgotten-password",
    "/new-password",
    "/confirm-address",
]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_page_fits_the_screen_and_follows_light_and_dark(
    chromium: Browser, site: tuple[str, Tenant], scheme: str, width: int
) -> None:
    address, tenant = site
    async with opened(chromium, address, scheme=scheme, width=width) as page:
        await sign_in(page, address, tenant)
        for path in PAGES:
            await page.goto(address + path.replace("SLUG", tenant.slug))
            assert not await overflows(page), path
            assert (await lightness(page) > 600) == (scheme == "light"), path
