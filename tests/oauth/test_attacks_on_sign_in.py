"""Attacks on the sign-in that comes before every consent, by name."""

from urllib.parse import unquote

import pytest

from oauth.credentials import mint
from storage.enums import CredentialKind
from tests.support.browsers.browsing import PASSWORD, browsing, session_of, signed_in
from tests.support.servers.gateways import make_tenant, run_gateway


async def test_a_session_that_was_there_before_is_not_taken_on(gateway, browser, tenant, other_tenant):
    """Session fixation: a planted cookie is worth nothing once its browser has signed in."""
    async with signed_in(gateway, other_tenant) as attacker:
        planted = session_of(attacker)
    for session in (planted, mint(CredentialKind.BROWSER_SESSION).text, "anything"):
        async with browsing(gateway) as victim:
            victim.client.cookies.set("duograph_session", session, domain="gateway.local")
            await victim.open("/sign-in?again=1")
            await victim.press("Sign in", email=tenant.user_email, password=PASSWORD)
            given = victim.page.history[0].headers.get_list("set-cookie")
            (own,) = (kept for kept in given if kept.startswith("duograph_session="))
            assert session not in own
        async with browsing(gateway) as attacker:
            attacker.client.cookies.set("duograph_session", session, domain="gateway.local")
            await attacker.open("/workspaces")
            assert attacker.path.startswith("/sign-in")


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "\\\\evil.example",
        "/%09/evil.example",
        "%09//evil.example",
        "/%0d%0aLocation:%20https://evil.example",
        "javascript:alert(1)",
        "evil.example",
        "///evil.example",
        "https:evil.example",
        "/é",
        "",
    ],
)
async def test_the_sign_in_leads_to_this_host_only(browser, tenant, address):
    """Open redirect, by the page's address and by its form."""
    await browser.open(f"/sign-in?next={address}")
    assert ("next", "/dashboard") in browser.form("Sign in").fields
    sent = {"email": tenant.user_email, "password": PASSWORD, "next": unquote(address)}
    answer = await browser.press("Sign in", **sent, follow=False)
    assert answer.headers["location"] == "/dashboard"
    answer = await browser.client.get(f"/sign-in?next={address}")
    assert answer.headers["location"] == "/dashboard"


async def test_after_60_sign_in_attempts_an_address_has_to_wait(database_url, tmp_path):
    async for gateway in run_gateway(database_url, tmp_path, rate_limit_restricted=60):
        tenant = await make_tenant(gateway)
        async with browsing(gateway) as browser:
            await browser.open("/sign-in")
            for number in range(60):
                answer = await browser.press("Sign in", email=f"{number}@example.com", password="a guess")
                assert answer.status_code == 422
            answer = await browser.press("Sign in", email="", password="a guess")
            assert answer.status_code == 429
            assert 1 <= int(answer.headers["retry-after"]) <= 60
            assert "More than 60 calls" in browser.text
            await browser.open("/sign-in")
            answer = await browser.press("Sign in", email=tenant.user_email, password=PASSWORD)
            assert answer.status_code == 429
            assert session_of(browser) is None
