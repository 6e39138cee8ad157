"""Second factors in Chromium, with the authenticator that it simulates, and without JavaScript."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pyotp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from storage.engine.database import Database
from tests.support.browsers.in_browser import authenticating, opened, sign_in
from tests.support.servers.gateways import Gateway, Tenant, make_tenant
from tests.support.servers.live import serve

SECURITY = "/account/security"


@pytest.fixture(scope="module")
def database_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('site')}/duograph.sqlite"


@pytest.fixture(scope="module")
def site(database_file: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address has a name, as passkeys belong to one."""
    with serve(database_file, tmp_path_factory.mktemp("objects"), "localhost") as running:
        yield running[0]


@pytest_asyncio.fixture
async def user(site: str, database_file: str, tmp_path: Path) -> AsyncIterator[Tenant]:
    """A user of the site who has no factor yet."""
    database = Database(database_file)
    yield await make_tenant(Gateway(None, None, database, tmp_path))  # type: ignore[arg-type]
    await database.close()


async def sign_out(page: Page) -> None:
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_text("You are signed out.")).to_be_visible()


async def add_passkey(page: Page, site: str, name: str = "Laptop") -> None:
    await page.goto(f"{site}{SECURITY}")
    await page.get_by_label("Passkey name").fill(name)
    await page.get_by_role("button", name="Add passkey").click()
    await expect(page.get_by_text("Passkey added.")).to_be_visible()


async def test_a_passkey_is_added_and_signs_in_alone_and_after_the_password(
    chromium: Browser, site: str, user: Tenant
) -> None:
    async with opened(chromium, site) as page, authenticating(page):
        await sign_in(page, site, user)
        await add_passkey(page, site)
        await page.get_by_role("link", name="I have saved my codes").click()
        await expect(page.locator("strong", has_text="Laptop")).to_be_visible()
        await sign_out(page)
        await page.get_by_role("button", name="Sign in with a passkey").click()
        await expect(page.get_by_role("heading", name="Dashboard", exact=True)).to_be_visible()
        await sign_out(page)
        await sign_in(page, site, user)
        await page.get_by_role("button", name="Use a passkey").click()
        await expect(page.get_by_role("heading", name="Dashboard", exact=True)).to_be_visible()


async def test_at_another_address_of_the_site_a_passkey_is_told_its_own(chromium: Browser, site: str) -> None:
    other = site.replace("localhost", "127.0.0.1")
    async with opened(chromium, other) as page, authenticating(page):
        await page.goto(f"{other}/sign-in")
        await page.get_by_role("button", name="Sign in with a passkey").click()
        told = f"Passkeys work only at {site}. Open this page there."
        await expect(page.get_by_role("alert").filter(has_text=told)).to_be_visible()


async def test_a_copied_authenticator_is_refused(chromium: Browser, site: str, user: Tenant) -> None:
    async with opened(chromium, site) as page, authenticating(page) as (session, authenticator):
        await sign_in(page, site, user)
        await add_passkey(page, site)
        kept = await session.send("WebAuthn.getCredentials", {"authenticatorId": authenticator})
        await page.goto(f"{site}{SECURITY}")
        for _ in range(2):
            await sign_out(page)
            await page.get_by_role("button", name="Sign in with a passkey").click()
            await expect(page.get_by_role("heading", name="Dashboard", exact=True)).to_be_visible()
        await sign_out(page)
        (copy,) = kept["credentials"]
        await session.send("WebAuthn.clearCredentials", {"authenticatorId": authenticator})
        await session.send(
            "WebAuthn.addCredential",
            {"authenticatorId": authenticator, "credential": copy | {"signCount": 1}},
        )
        await page.get_by_role("button", name="Sign in with a passkey").click()
        await expect(page.get_by_role("alert").first).to_contain_text("This passkey was not accepted")


async def test_a_device_is_not_registered_twice_and_the_browsers_refusal_is_shown(
    chromium: Browser, site: str, user: Tenant
) -> None:
    async with opened(chromium, site) as page, authenticating(page) as (session, authenticator):
        await sign_in(page, site, user)
        await add_passkey(page, site)
        await page.goto(f"{site}{SECURITY}")
        await page.get_by_label("Passkey name").fill("Again")
        await page.get_by_role("button", name="Add passkey").click()
        await expect(page.get_by_text("This device already keeps a passkey")).to_be_visible()
        await sign_out(page)
        await session.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": authenticator})
        await session.send("WebAuthn.disable")


async def test_a_security_key_that_does_not_check_its_user_is_a_second_factor_only(
    chromium: Browser, site: str, user: Tenant
) -> None:
    features = {"transport": "usb", "hasResidentKey": False, "hasUserVerification": False}
    async with opened(chromium, site) as page, authenticating(page, **features, isUserVerified=False):
        await sign_in(page, site, user)
        await add_passkey(page, site, "Key")
        await page.goto(f"{site}{SECURITY}")
        await sign_out(page)
        await sign_in(page, site, user)
        await page.get_by_role("button", name="Use a passkey").click()
        await expect(page.get_by_role("heading", name="Dashboard", exact=True)).to_be_visible()


@pytest.mark.parametrize("script", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_an_app_and_recovery_codes_work_without_javascript_too(
    chromium: Browser, site: str, user: Tenant, script: bool
) -> None:
    async with opened(chromium, site, scripts=script) as page:
        await sign_in(page, site, user)
        await page.get_by_role("link", name=user.user_email).click()
        await page.get_by_role("link", name="Security").click()
        await page.get_by_role("link", name="Set up an authenticator app").click()
        await expect(page.get_by_role("img", name="QR code for the authenticator app")).to_be_visible()
        app = pyotp.TOTP(await page.locator("#secret").inner_text())
        await page.get_by_label("Code from the app").fill(app.now())
        await page.get_by_role("button", name="Set up app").click()
        codes = (await page.locator("#secret").inner_text()).split()
        assert len(codes) == 10
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Download").click()
        file = await (await download.value).path()
        assert codes == file.read_text().split("\n\n")[1].split()
        if script:
            await page.get_by_role("button", name="Copy").click()
            await expect(page.get_by_role("button", name="Copied")).to_be_visible()
            assert (await page.evaluate("navigator.clipboard.readText()")).split() == codes
        await page.get_by_role("link", name="I have saved my codes").click()
        await sign_out(page)
        await sign_in(page, site, user)
        await page.get_by_label("Code").fill("000000")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("alert").first).to_contain_text("This code is wrong")
        await page.get_by_label("Code").fill(codes[0])
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("heading", name="Dashboard", exact=True)).to_be_visible()
