"""Signing in and out: who gets a session, what it is worth, and what attackers get."""

from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from pwdlib import PasswordHash

from oauth.credentials import kind_of
from storage.enums import CredentialKind
from tests.support.browsers.browsing import PASSWORD, browsing, session_of
from tests.support.servers.gateways import make_tenant, run_gateway
from tests.support.tenants.applications import make_application, told

WRONG = "Wrong email or password"


@pytest_asyncio.fixture(scope="module")
async def https_gateway(database_url, tmp_path_factory):
    objects = tmp_path_factory.mktemp("objects")
    async for gateway in run_gateway(database_url, objects, base_url="https://gateway/api", sign_up=False):
        yield gateway


async def test_a_user_signs_in_and_sees_their_workspaces(browser, tenant):
    await browser.sign_in(tenant.user_email.upper())
    assert browser.path == f"/{tenant.slug}/dashboard"
    assert "Acme" in browser.text
    assert tenant.user_email in browser.text
    assert kind_of(session_of(browser)) is CredentialKind.BROWSER_SESSION


@pytest.mark.parametrize("password", ["not the password", ""])
async def test_a_wrong_password_and_an_unknown_address_get_the_same_answer(browser, tenant, password):
    answers = []
    for email in (tenant.user_email, f"{uuid4().hex}@example.com", uuid4().hex, f"\x00{uuid4().hex}"):
        answer = await browser.sign_in(email, password)
        assert answer.status_code == 422
        answers.append(browser.text)
        assert session_of(browser) is None
    assert WRONG in answers[0]
    assert answers[0] == answers[1] == answers[2]


async def test_an_unknown_address_takes_as_long_as_a_wrong_password(browser, tenant, monkeypatch):
    """Argon2 takes nearly all of the time: as long for one hash as for another with the same parameters."""
    compared = []

    def verify(self, password, password_hash, _verify=PasswordHash.verify):
        parameters, _salt, _digest = password_hash.rsplit("$", 2)
        compared.append((password, parameters))
        return _verify(self, password, password_hash)

    monkeypatch.setattr(PasswordHash, "verify", verify)
    for email in (tenant.user_email, f"{uuid4().hex}@example.com"):
        await browser.open("/sign-in")
        await browser.press("Sign in", email=email, password="not the password")
    known, unknown = compared
    assert known == unknown
    assert known[1].startswith("$argon2id$")


async def test_signing_out_ends_the_session_itself(gateway, browser, tenant):
    await browser.sign_in(tenant.user_email)
    session = session_of(browser)
    await browser.press("Sign out")
    assert (browser.path, session_of(browser)) == ("/sign-in", None)
    assert "You are signed out." in browser.text
    browser.client.cookies.set("duograph_session", session, domain="gateway.local")
    await browser.open("/workspaces")
    assert browser.path == "/sign-in?next=%2Fworkspaces"


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(browser, tenant):
    await browser.sign_in(tenant.user_email)
    given = browser.page.history[0].headers.get_list("set-cookie")
    (cookie,) = (kept for kept in given if kept.startswith("duograph_session="))
    assert {"HttpOnly", "SameSite=lax", "Path=/", "Max-Age=2592000"} <= set(cookie.split("; "))
    assert "Domain" not in cookie


async def test_over_https_the_cookie_is_secure_and_for_this_host_only(https_gateway):
    tenant = await make_tenant(https_gateway)
    async with browsing(https_gateway, "https://gateway") as browser:
        await browser.sign_in(tenant.user_email)
        (cookie,) = (
            kept
            for kept in browser.page.history[0].headers.get_list("set-cookie")
            if kept.startswith("__Host-duograph_session=dg_us_")
        )
        assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
        assert "Domain" not in cookie


async def test_a_setting_closes_the_sign_up(https_gateway):
    async with browsing(https_gateway, "https://gateway") as browser:
        assert (await browser.open("/sign-up")).status_code == 404
        await browser.open("/sign-in")
        assert "/sign-up" not in browser.page.text
        answer = await browser.send("/sign-up", [("email", "a@example.com")])
        assert answer.status_code == 404
        assert (await browser.open("/sign-up/account")).status_code == 404


async def test_a_sign_in_leads_back_to_the_page_that_required_it(browser, tenant):
    await browser.open("/workspaces?page=2")
    assert browser.path == "/sign-in?next=%2Fworkspaces%3Fpage%3D2"
    await browser.press("Sign in", email=tenant.user_email, password=PASSWORD)
    assert browser.path == "/workspaces?page=2"


async def test_an_application_is_gone_on_to_by_a_page_and_not_by_the_form(browser, tenant):
    """A browser would hold the form's policy against the redirect to the application."""
    path = "/oauth2/authorize?client_id=dg_ci_x&state=a%22b"
    await browser.open(f"/sign-in?next={path.replace('&', '%26').replace('%22', '%2522')}")
    answer = await browser.press("Sign in", email=tenant.user_email, password=PASSWORD)
    assert answer.status_code == 200
    assert path in browser.reading.links
    assert session_of(browser)


async def test_a_consent_does_not_pass_for_the_sign_in_that_another_request_asks_for(
    gateway, signed_in_browser, tenant
):
    client = await make_application(gateway, UUID(tenant.id), UUID(tenant.user_id))
    await signed_in_browser.open(client.address())
    sent = [*signed_in_browser.form("Allow").fields, ("decision", "allow"), ("workspace_id", tenant.id)]
    answer = await signed_in_browser.send(client.address(prompt="login"), sent, follow=False)
    assert answer.headers["location"].startswith("/sign-in?")
    answer = await signed_in_browser.send(client.address(), sent, follow=False)
    assert "code" in told(answer.headers["location"])
