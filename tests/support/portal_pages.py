"""The portal's pages as the tests open them."""

from urllib.parse import urlsplit

COOKIE = "duograph_portal"


async def link_to(rest, customer, **values):
    """The path of a new session's link."""
    session = await rest.create_customer_session(data={"customer_id": customer["id"], **values})
    parts = urlsplit(session["customer_portal_url"])
    return f"{parts.path}?{parts.query}"


async def come_in(browser, rest, customer, **values):
    """Follow a new session's link and press its button."""
    await browser.open(await link_to(rest, customer, **values))
    return await browser.press("Continue")


def portal_of(tenant):
    return f"/{tenant.slug}/portal"


def session_of(browser):
    return browser.client.cookies.get(COOKIE)
