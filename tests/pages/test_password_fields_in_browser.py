"""Password fields in a real browser: what is typed can be shown, and a meter judges a new password."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from oauth.sign_in.password_strength import is_easy_to_guess
from tests.support.browsers.browsing import PASSWORD
from tests.support.browsers.in_browser import opened, sign_in
from tests.support.servers.live import serve

EASY = ["aaaaaaaaaaaa", "password1234", "P4ssw0rd!!99", "duograph1234", "a" * 100]
SAMPLES = [*EASY, "correct horse battery", "q7# Zr pw, lake", PASSWORD]
NOTE_THE_TYPE = """
    document.querySelector("main form").addEventListener("submit", (event) => {
        event.preventDefault();
        window.sent = event.target.password.type;
    });
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("site")
    with serve(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects") as running:
        yield running


async def test_a_typed_password_is_shown_and_hidden_again_before_it_is_sent(chromium, site):
    address, tenant = site
    async with opened(chromium, address) as page:
        await page.goto(f"{address}/sign-in")
        field = page.get_by_label("Password", exact=True)
        await field.fill("a typed secret")
        await expect(field).to_have_attribute("type", "password")
        await page.get_by_role("button", name="Show password").press("Enter")
        await expect(field).to_have_attribute("type", "text")
        await expect(field).to_have_value("a typed secret")
        await page.get_by_role("button", name="Hide password").click()
        await expect(field).to_have_attribute("type", "password")
        await page.get_by_role("button", name="Show password").click()
        await page.get_by_label("Email address").fill(tenant.user_email)
        await field.fill(PASSWORD)
        await page.evaluate(NOTE_THE_TYPE)
        await page.get_by_role("button", name="Sign in", exact=True).click()
        assert await page.evaluate("window.sent") == "password"


async def test_without_javascript_there_is_no_button_that_does_nothing(chromium, site):
    address, tenant = site
    async with opened(chromium, address, scripts=False) as page:
        await page.goto(f"{address}/sign-in")
        await expect(page.get_by_role("button", name="Show password")).to_have_count(0)
        await sign_in(page, address, tenant)


async def test_the_meter_judges_as_the_server_does_and_sends_nothing(chromium, site):
    address, tenant = site
    async with opened(chromium, address) as page:
        await sign_in(page, address, tenant)
        await page.goto(f"{address}/account")
        sent = []
        page.on("request", lambda request: sent.append(request.url))
        field, word = page.get_by_label("New password"), page.locator("#new_password ~ [aria-live]")
        for password in SAMPLES:
            await field.fill(password)
            easy = is_easy_to_guess(password, [])
            await expect(word).to_contain_text("asy to guess" if easy else "trong")
        await field.fill("short")
        await expect(word).to_have_text("Too short")
        await field.fill("")
        await expect(word).to_have_text("")
        assert [url for url in sent if "/static/" not in url] == []
