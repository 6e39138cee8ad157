"""The settings pages in a real browser: by mouse, by keyboard alone, and without JavaScript."""

from __future__ import annotations

import re
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.async_api import Browser, Page, expect

from tests.support.browsers.browsing import PASSWORD
from tests.support.browsers.in_browser import lightness, opened, overflows, sign_in_unseen
from tests.support.mails.mailed_links import sign_up_path
from tests.support.servers.gateways import Tenant
from tests.support.servers.live import serve

# A PNG of one pixel.
PICTURE = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg=="
)
README = Path(__file__).parent.parent.parent / "README.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[tuple[str, Tenant]]:
    with serve(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects") as running:
        yield running


def in_a_shell(command: str) -> str:
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout


async def enter(page: Page, address: str, tenant: Tenant) -> None:
    await sign_in_unseen(page, address, tenant)
    await page.goto(f"{address}/{tenant.slug}/dashboard")


def minute(name: str) -> str:
    """What README says of the minute."""
    return README.read_text().partition(f"**{name} minute.**")[2].partition(" minute.**")[0]


@pytest.mark.parametrize("script", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_the_third_and_fourth_minute_of_the_readme(
    chromium: Browser, site: tuple[str, Tenant], script: bool
) -> None:
    address, tenant = site
    async with opened(chromium, address, scripts=script) as page:
        await enter(page, address, tenant)
        await page.get_by_role("link", name="Settings", exact=True).click()
        await page.get_by_role("link", name="Access tokens").click()
        await page.get_by_label("Token name").fill("The README")
        for level, noun in re.findall(r"(Read|Write) for (\w+)", minute("Third").partition("```")[0]):
            await page.get_by_role("radiogroup", name=noun, exact=True).get_by_label(level).check()
        await page.get_by_role("button", name="Create token").click()
        token = await page.locator("#secret").inner_text()
        if script:
            await page.get_by_role("button", name="Copy").first.click()
            await expect(page.get_by_role("button", name="Copied")).to_be_visible()
            assert await page.evaluate("navigator.clipboard.readText()") == token
        command, fourth = [
            minute(name).partition("```sh\n")[2].partition("```")[0].replace("http://localhost:8000", address)
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
    chromium: Browser, site: tuple[str, Tenant], folder: Path
) -> None:
    address, _ = site
    email = f"{uuid4().hex}@example.com"
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

        await tab_to("email")
        await page.keyboard.type(email)
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Check your email")).to_be_visible()
        await page.goto(f"{address}{await sign_up_path(folder / 'objects/outbox', email)}")
        await tab_to("name")
        await page.keyboard.type("Grace")
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
        await expect(page.get_by_role("status").first).to_have_text("Observatory is ready.")
        await tab_to("Sign out")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("You are signed out.")).to_be_visible()


async def test_the_explorer_uses_the_session_without_a_token(
    chromium: Browser, site: tuple[str, Tenant]
) -> None:
    address, tenant = site
    async with opened(chromium, address) as page:
        await enter(page, address, tenant)
        asked = """async () => {
            const body = JSON.stringify({ query: "{ viewer { kind user { email } } }" });
            const headers = { "Content-Type": "application/json" };
            const answer = await fetch("/graphql", { method: "POST", headers, body });
            return (await answer.json()).data.viewer;
        }"""
        assert await page.evaluate(asked) == {"kind": "BROWSER_SESSION", "user": {"email": tenant.user_email}}
        assert await page.evaluate("document.cookie") == ""


@pytest.mark.parametrize("script", [True, False], ids=["with JavaScript", "without JavaScript"])
@pytest.mark.parametrize("width", [1280, 390])
async def test_a_preset_takes_the_place_of_the_choice_by_noun(
    chromium: Browser, site: tuple[str, Tenant], width: int, script: bool
) -> None:
    address, tenant = site
    async with opened(chromium, address, width=width, scripts=script) as page:
        await enter(page, address, tenant)
        await page.goto(f"{address}/account/personal-access-tokens")
        customers = page.get_by_role("radiogroup", name="Customers", exact=True)
        await expect(customers.get_by_label("None")).to_be_checked()
        await customers.get_by_label("Write").check()
        await page.get_by_role("radio", name="Everything All scopes").check()
        await expect(customers).to_be_hidden()
        await page.get_by_role("radio", name="Choose").check()
        await expect(customers.get_by_label("Write")).to_be_checked()
        assert not await overflows(page)


@pytest.mark.parametrize("script", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_the_own_account_is_changed_on_a_phone(
    chromium: Browser, site: tuple[str, Tenant], script: bool
) -> None:
    address, tenant = site
    async with opened(chromium, address, width=390, scripts=script) as page:
        await enter(page, address, tenant)
        await page.goto(f"{address}/account")
        await page.get_by_label("Name (optional)").fill("Ada")
        await page.get_by_role("button", name="Save name").click()
        await expect(page.get_by_role("status").first).to_have_text("Name saved.")
        await page.get_by_label("New email address").fill(f"{uuid4().hex}@example.com")
        await page.get_by_role("button", name="Change email address").click()
        await expect(page.get_by_role("status").last).to_contain_text("We sent a link to")
        await page.locator(".confirm summary").click()
        await page.get_by_role("button", name="Delete my account").click()
        alert = page.get_by_role("alert")
        for remedy in ("members of", "delete"):
            await expect(alert.get_by_role("link", name=f"{remedy} {tenant.slug}")).to_be_visible()
        assert not await overflows(page)
        if script:
            await page.get_by_role("button", name="Dark").click()
            await page.goto(f"{address}/docs/guide")
            assert await lightness(page) < 200
            await page.goto(f"{address}/account")
            await expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
            await page.get_by_role("button", name="As the system").click()
            assert await lightness(page) > 600


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_picture_is_uploaded_and_shown_in_the_portal(
    chromium: Browser, site: tuple[str, Tenant], scheme: str, width: int
) -> None:
    address, tenant = site
    name = f"{scheme}-{width}.png"
    async with opened(chromium, address, scheme=scheme, width=width) as page:
        await enter(page, address, tenant)
        await page.goto(f"{address}/workspaces/{tenant.slug}")
        # On a phone the pages are one line, and this is its last.
        await expect(page.locator(".sidebar [aria-current]")).to_be_in_viewport()
        file = {"name": name, "mimeType": "image/png", "buffer": PICTURE}
        await page.locator("#avatar_url-files").set_input_files([file])  # type: ignore[list-item]
        await expect(page.get_by_role("radio", name=name)).to_be_checked()
        assert not await overflows(page)
        await page.get_by_role("button", name="Save settings").click()
        await expect(page.get_by_role("status").first).to_have_text("Settings saved.")
        await expect(page.get_by_role("radio", name=name)).to_be_checked()
        await page.goto(f"{address}/{tenant.slug}/portal")
        image = page.locator(".brand img")
        assert name in (await image.get_attribute("src") or "")
        assert await image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1


async def test_a_long_email_address_takes_one_line_of_the_header(
    chromium: Browser, site: tuple[str, Tenant]
) -> None:
    address, tenant = site
    async with opened(chromium, address, width=390) as page:
        await enter(page, address, tenant)
        for path in ("/account", f"/{tenant.slug}/dashboard", "/docs"):
            await page.goto(address + path)
            box = await page.get_by_label("Account", exact=True).bounding_box()
            assert box is not None, path
            assert box["height"] < 50, path
            assert not await overflows(page), path
