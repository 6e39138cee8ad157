"""Pages in a real Chromium that may reach no other host."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, CDPSession, ConsoleMessage, Page, Request, async_playwright, expect

from tests.support.browsers.browsing import PASSWORD, Reading
from tests.support.measures.patience import PATIENCE_SECONDS
from tests.support.servers.gateways import Tenant

PATIENCE = PATIENCE_SECONDS * 1000
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
RECORD_VIOLATIONS = """
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => {
        window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
    });
"""
# What `copy.js` says for two seconds: a busy machine may look for it later.
KEEP_WORDS = """{
    const begin = window.setTimeout;
    window.setTimeout = (work, wait, ...values) => begin(work, wait === 2000 ? 1e9 : wait, ...values);
}"""

expect.set_options(timeout=PATIENCE)


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    """A Chromium without a window; fails where none is on the path.

    The same engine without a browser around it takes 40 % of the processor time.
    """
    executable = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if executable is None:
        pytest.fail("These tests need Chromium, which is not on the PATH: run `make browser`.", pytrace=False)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        await browser.close()


@asynccontextmanager
async def opened(
    chromium: Browser,
    site: str,
    *,
    scheme: str = "light",
    width: int = 1280,
    scripts: bool = True,
    quiet_console: bool = False,
    touch: bool = False,
    language: str = "en-US",
) -> AsyncIterator[Page]:
    """A page of a browser that knows nothing yet; leaving fails on what went wrong in it.

    That is what the policy forbade, an uncaught error, a request to another address than `site`, and with
    `quiet_console` an error or a warning in the console, where refused forms are noted too.
    """
    context = await chromium.new_context(
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": 800},
        java_script_enabled=scripts,
        permissions=["clipboard-read", "clipboard-write"],
        reduced_motion="reduce",
        has_touch=touch,
        locale=language,
        # Pages tell times in the reader's zone, whatever the machine's.
        timezone_id="UTC",
    )
    context.set_default_timeout(PATIENCE)
    await context.add_init_script(RECORD_VIOLATIONS)
    await context.add_init_script(KEEP_WORDS)
    page = await context.new_page()
    faults: list[str] = []

    def note_message(message: ConsoleMessage) -> None:
        if quiet_console and message.type in {"error", "warning"}:
            faults.append(f"{message.type}: {message.text}")

    def note_request(request: Request) -> None:
        if not request.url.startswith((f"{site}/", "data:")):
            faults.append(f"request to {request.url}")

    page.on("console", note_message)
    page.on("pageerror", lambda error: faults.append(f"uncaught: {error}"))
    page.on("request", note_request)
    yield page
    faults += await page.evaluate("window.violations") if scripts else []
    await context.close()
    assert faults == [], faults


async def sign_in(page: Page, address: str, tenant: Tenant) -> None:
    """Sign the tenant's user in on the sign-in page."""
    await page.goto(f"{address}/sign-in")
    await submit_password(page, tenant)


async def sign_in_unseen(page: Page, address: str, tenant: Tenant) -> None:
    """The same by the requests of the page and its form, where the sign-in itself is not looked at."""
    send = page.context.request
    forms = Reading(await (await send.get(f"{address}/sign-in")).text()).forms
    (form,) = (form for form in forms if form.action == "/sign-in")
    fields: dict[str, Any] = {**dict(form.fields), "email": tenant.user_email, "password": PASSWORD}
    answer = await send.post(f"{address}/sign-in", form=fields, max_redirects=0)
    assert answer.status == 303, await answer.text()


async def submit_password(page: Page, tenant: Tenant) -> None:
    """Fill in and send the sign-in form of the page, wherever it leads afterwards."""
    await page.get_by_label("Email address").fill(tenant.user_email)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()


async def lightness(page: Page) -> int:
    """Of the page's background: 0 for black, 765 for white."""
    colour: Any = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(",")))


async def overflows(page: Page) -> bool:
    """Whether the page is wider than the screen."""
    return bool(await page.evaluate("document.documentElement.scrollWidth > innerWidth"))


_BROKEN = """() => {
  const figures = "td.figure, span.figure, .amounts > li, table.records time, table.records .status";
  const lines = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const boxes = [...range.getClientRects()];
    return boxes.some((box) => boxes.some((other) => other.top > box.bottom - 3)) ? 2 : 1;
  };
  return [...document.querySelectorAll(figures)]
    .filter((each) => !each.querySelector("li, .visually-hidden") && lines(each) > 1)
    .map((each) => each.textContent.trim());
}"""


async def broken_figures(page: Page) -> list[str]:
    """The amounts, sizes, moments and states that take more than one line."""
    found: list[str] = await page.evaluate(_BROKEN)
    return found


@asynccontextmanager
async def authenticating(page: Page, **features: Any) -> AsyncIterator[tuple[CDPSession, str]]:
    """Give the page's browser an authenticator, which answers without being asked."""
    session = await page.context.new_cdp_session(page)
    await session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
        **features,
    }
    made = await session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    yield session, made["authenticatorId"]
    await session.detach()
