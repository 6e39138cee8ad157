"""Ways into the portal's pages and out of them, in a browser without scripts, and what attackers get."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from oauth.credentials import mint
from storage.clock import now
from storage.enums import CredentialKind
from storage.rows.rows import table_of, update_rows
from storage.tables.credentials.credentials import CredentialRow
from tests.support.browsers.browsing import browsing
from tests.support.browsers.portal_pages import COOKIE, come_in, link_to, portal_of, session_of
from tests.support.mails.mailed import latest_code, mails_to
from tests.support.measures.spans import span
from tests.support.servers.gateways import run_gateway


async def test_a_link_leads_in_and_its_token_leaves_the_address(browser, rest, tenant, customer):
    with span() as entering:
        page = await browser.open(await link_to(rest, customer))
        answer = await browser.press("Continue", follow=False)
    assert page.headers["referrer-policy"] == "no-referrer"
    assert (answer.status_code, answer.headers["location"]) == (303, portal_of(tenant))
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    (cookie,) = [text for text in answer.headers.get_list("set-cookie") if text.startswith(COOKIE)]
    attributes = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=lax", f"path={portal_of(tenant)}"} <= attributes
    age = int(next(a for a in attributes if a.startswith("max-age=")).partition("=")[2])
    assert 3599 - (entering.end - entering.begin).total_seconds() <= age <= 3600
    await browser.open(portal_of(tenant))
    assert "Acme" in browser.text
    assert browser.page.status_code == 200
    assert session_of(browser) not in browser.page.text


async def test_at_https_the_cookie_is_secure(database_url, tmp_path, customer, rest, tenant):
    async for gateway in run_gateway(database_url, tmp_path, base_url="https://gateway/api"):
        async with browsing(gateway, "https://gateway") as browser:
            await browser.open(await link_to(rest, customer))
            answer = await browser.press("Continue", follow=False)
            (cookie,) = [text for text in answer.headers.get_list("set-cookie") if COOKIE in text]
            assert cookie.startswith(f"__Secure-{COOKIE}=")
            assert "secure" in cookie.lower().replace("__secure", "")


@pytest.mark.parametrize("kind", ["unknown", "malformed", "workspace", "elsewhere", "ended"])
async def test_a_link_that_does_not_count_leads_to_the_entrance(
    kind, browser, gateway, rest, tenant, other_tenant, customer
):
    session = await rest.create_customer_session(data={"customer_id": customer["id"]})
    token, slug = session["token"], tenant.slug
    if kind == "unknown":
        token = mint(CredentialKind.CUSTOMER_SESSION).text
    elif kind == "malformed":
        token = "<script>"
    elif kind == "workspace":
        token = tenant.token
    elif kind == "elsewhere":
        slug = other_tenant.slug
    else:
        async with gateway.database.write() as connection:
            mine = table_of(CredentialRow).c.id == UUID(session["id"])
            await update_rows(connection, CredentialRow, mine, expires_at=now() - timedelta(seconds=1))
    await browser.open(f"/{slug}/portal?customer_session_token={token}")
    assert browser.path == f"/{slug}/portal"
    assert "This link has expired." in browser.text
    assert browser.form("Email me a code")
    assert session_of(browser) is None


async def test_a_customer_signs_in_with_an_emailed_code(browser, gateway, rest, tenant, customer):
    await browser.open(portal_of(tenant))
    await browser.press("Email me a code", email=customer["email"])
    assert customer["email"] in browser.text
    await browser.press("Sign in", code=await latest_code(gateway, customer["email"]))
    assert browser.path == portal_of(tenant)
    assert browser.form("Sign out")
    assert (await rest.get_customer(id=customer["id"]))["email_verified"]
    await browser.open(f"{portal_of(tenant)}/profile")
    assert "Verified" in browser.text


async def test_the_page_after_an_unknown_address_is_the_same(browser, gateway, tenant, customer):
    stranger = f"nobody-{uuid4().hex}@example.com"
    texts = []
    for email in (customer["email"], stranger):
        await browser.open(portal_of(tenant))
        await browser.press("Email me a code", email=email)
        texts.append(browser.text.replace(email, ""))
    assert texts[0] == texts[1]
    assert await mails_to(gateway, stranger) == []


async def test_a_wrong_code_is_shown_beside_its_field_and_the_right_one_still_works(
    browser, gateway, tenant, customer
):
    await browser.open(portal_of(tenant))
    await browser.press("Email me a code", email=customer["email"])
    code = await latest_code(gateway, customer["email"])
    answer = await browser.press("Sign in", code="222222" if code != "222222" else "333333")
    assert answer.status_code == 422
    assert 'id="code-error"' in answer.text
    assert session_of(browser) is None
    await browser.press("Sign in", code=code)
    assert browser.form("Sign out")


async def test_an_invalid_address_is_reported_beside_its_field(browser, tenant):
    await browser.open(portal_of(tenant))
    answer = await browser.press("Email me a code", email="ada")
    assert answer.status_code == 422
    assert 'id="email-error"' in answer.text


async def test_leaving_ends_the_session_in_every_browser(browser, gateway, rest, tenant, customer):
    link = await link_to(rest, customer)
    await browser.open(link)
    await browser.press("Continue")
    await browser.press("Sign out")
    assert "You are signed out." in browser.text
    assert session_of(browser) is None
    await browser.open(link)
    assert "This link has expired." in browser.text


async def test_a_session_that_ends_leads_to_the_entrance(browser, rest, tenant, customer):
    await come_in(browser, rest, customer)
    await rest.delete_customer(id=customer["id"])
    for page in ("", "/shares", "/profile", "/members"):
        await browser.open(portal_of(tenant) + page)
        assert browser.path == portal_of(tenant)
        assert "Your session has ended." in browser.text


async def test_a_session_is_for_its_own_workspaces_portal_only(browser, rest, tenant, other_tenant, customer):
    await come_in(browser, rest, customer)
    token = session_of(browser)
    answer = await browser.client.get(portal_of(other_tenant), headers={"Cookie": f"{COOKIE}={token}"})
    assert "Email me a code" in answer.text


@pytest.mark.parametrize("path", ["/no-such-workspace/portal", "/no-such-workspace/portal/profile"])
async def test_an_unknown_workspace_has_no_portal(path, browser):
    assert (await browser.open(path)).status_code == 404


async def test_the_portal_stands_in_front_of_no_other_page(browser):
    for path in ("/docs", "/graphql", "/health", "/sign-in"):
        # A program that asks GraphQL for nothing gets an error instead of the explorer.
        assert (await browser.open(path)).status_code == (400 if path == "/graphql" else 200)
        assert "ustomer portal" not in browser.page.text or path == "/docs"
    for path in ("/static/portal", "/api/portal", "/workspaces/portal"):
        assert "Email me a code" not in (await browser.open(path)).text


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", None])
async def test_no_site_can_bring_a_browser_into_its_own_portal(site, browser, rest, tenant, customer):
    """Login CSRF: the victim would type its billing address for the attacker."""
    mine = await rest.create_customer(data={"email": f"eve-{uuid4().hex}@example.com", "name": "Eve"})
    await come_in(browser, rest, customer)
    before = session_of(browser)
    headers = {} if site is None else {"Sec-Fetch-Site": site}
    answer = await browser.client.get(await link_to(rest, mine), headers=headers)
    assert answer.status_code == 200
    assert not [c for c in answer.headers.get_list("set-cookie") if c.startswith(COOKIE)]
    for shown in ("Eve", mine["email"], "Acme"):
        assert shown in answer.text
    assert session_of(browser) == before
    token = (await rest.create_customer_session(data={"customer_id": mine["id"]}))["token"]
    forged = [("customer_session_token", token)]
    for fields, sent in ((forged, {}), (forged, {"Sec-Fetch-Site": "cross-site"})):
        answer = await browser.send(f"{portal_of(tenant)}/continue", fields, follow=False, **sent)
        assert answer.status_code == 403
    assert session_of(browser) == before


async def test_a_link_to_the_browsers_own_session_needs_no_confirmation(browser, rest, tenant, customer):
    link = await link_to(rest, customer)
    await browser.open(link)
    await browser.press("Continue")
    answer = await browser.client.get(link)
    assert (answer.status_code, answer.headers["location"]) == (303, portal_of(tenant))
