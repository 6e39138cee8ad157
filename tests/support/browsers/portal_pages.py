"""The portal's pages as the tests open them."""

from typing import Any
from urllib.parse import urlsplit

from httpx import Response

from tests.support.browsers.browsing import Browsing
from tests.support.callers.surfaces import Rest
from tests.support.servers.gateways import Tenant

COOKIE = "duograph_portal"


async def link_to(rest: Rest, customer: dict[str, Any], **values: Any) -> str:
    """The path of a new session's link."""
    session = await rest.create_customer_session(data={"customer_id": customer["id"], **values})
    parts = urlsplit(session["customer_portal_url"])
    return f"{parts.path}?{parts.query}"


async def come_in(browser: Browsing, rest: Rest, customer: dict[str, Any], **values: Any) -> Response:
    """Follow a new session's link and press its button."""
    await browser.open(await link_to(rest, customer, **values))
    return await browser.press("Continue")


def portal_of(tenant: Tenant) -> str:
    return f"/{tenant.slug}/portal"


def session_of(browser: Browsing) -> str | None:
    return browser.client.cookies.get(COOKIE)
