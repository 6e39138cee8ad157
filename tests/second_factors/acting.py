"""What users do about their factors, on the pages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from typing import Any
from uuid import UUID

import httpx
import pyotp
from sqlalchemy import update

from storage.rows.rows import table_of
from storage.tables.accounts.second_factors import TotpSecretRow
from tests.support.browsers.authenticator import Authenticator
from tests.support.browsers.browsing import Browsing, browsing, session_of
from tests.support.servers.gateways import Gateway, Tenant, start_session

SECURITY = "/account/security"
SECOND_STEP = "/sign-in/second-step"
COOKIE = "__Host-duograph_session"
STEP_COOKIE = "__Host-duograph_second_step"

_CODE = re.compile(r"\b[2-9A-Z]{4}-[2-9A-Z]{4}-[2-9A-Z]{4}\b")
_totp = table_of(TotpSecretRow)


@asynccontextmanager
async def signed_in(gateway: Gateway, tenant: Tenant) -> AsyncIterator[Browsing]:
    """A browser in which the tenant's user has just signed in."""
    async with browsing(gateway, "https://gateway") as browser:
        session = await start_session(gateway, tenant.user_id)
        browser.client.cookies.set(COOKIE, session.text, domain="gateway.local")
        await browser.open(SECURITY)
        yield browser


def session_in(browser: Browsing) -> str | None:
    return browser.client.cookies.get(COOKIE) or session_of(browser)


def is_signed_in(browser: Browsing) -> bool:
    return session_in(browser) is not None


def options_of(page: httpx.Response) -> str:
    """The options of the page's passkey form, as its script reads them."""
    return unescape(re.search(r'data-options="([^"]*)"', page.text)[1])  # type: ignore[index]


def recovery_codes(page: httpx.Response) -> list[str]:
    return list(dict.fromkeys(_CODE.findall(page.text)))


async def add_totp(account: Browsing) -> pyotp.TOTP:
    """Set an authenticator app up; the page then shows the recovery codes, if they are the first."""
    app, _ = await add_totp_with_code(account)
    return app


async def add_totp_with_code(account: Browsing) -> tuple[pyotp.TOTP, str]:
    """The same, with the code that set the app up: half a minute later the app has another one."""
    await account.open(f"{SECURITY}/authenticator-app")
    app = pyotp.TOTP(re.search(r'<code id="secret">(\w+)</code>', account.page.text)[1])  # type: ignore[index]
    code = app.now()
    answer = await account.press("Set up app", code=code)
    assert answer.status_code in (200, 201), account.text
    return app, code


async def add_passkey(account: Browsing, name: str = "Phone", **features: Any) -> Authenticator:
    await account.open(SECURITY)
    made = Authenticator(**features)
    answer = await account.press("Add passkey", name=name, passkey=made.create(options_of(account.page)))
    assert answer.status_code in (200, 201), account.text
    return made


async def forget_last_code(gateway: Gateway, tenant: Tenant) -> None:
    """As if the last code had been long ago: the next one would come in half a minute only."""
    async with gateway.database.write() as connection:
        mine = _totp.c.user_id == UUID(tenant.user_id)
        await connection.execute(update(_totp).where(mine).values(last_step=0))
