"""Accounts made with somebody else's address, and what should have ended with the old password."""

import pytest_asyncio

from tests.support.browsers.browsing import browsing, signed_in
from tests.support.mails.mailed import mails_to
from tests.support.mails.mailed_links import NEW_PASSWORD, ask_for_a_link, latest_link, sign_in_unconfirmed
from tests.support.servers.gateways import bearer
from tests.support.tenants.applications import make_application

BUTTON, SIGN_IN, SET = "Confirm email address", "Sign in to this account", "Set password"
CONFIRMED = "Your email address is confirmed"


@pytest_asyncio.fixture
async def elsewhere(gateway):
    """Another browser, where nobody is signed in."""
    async with browsing(gateway) as browser:
        yield browser


async def test_the_holder_of_an_address_does_not_confirm_it_for_another_account(
    gateway, browser, elsewhere, tenant
):
    """An attacker who signed up with another's address waits for the one who has it to press the button."""
    email = await sign_in_unconfirmed(gateway, browser)
    path = await latest_link(gateway, email)
    await elsewhere.open(path)
    assert SIGN_IN in elsewhere.text
    assert BUTTON not in elsewhere.text
    async with signed_in(gateway, tenant) as victim:
        await victim.open(path)
        assert tenant.user_email in victim.text
        assert BUTTON not in victim.text
        await browser.open(path)
        own = [field for field in browser.form(BUTTON).fields if field[0] == "token"]
        await victim.open("/account")
        theirs = [field for field in victim.form("Change password").fields if field[0] == "form_token"]
        answer = await victim.send("/confirm-address", [*own, *theirs])
        assert (answer.status_code, SIGN_IN in victim.text) == (403, True)
    await elsewhere.send("/confirm-address", own)
    assert elsewhere.path.startswith("/sign-in")
    await browser.open("/account")
    assert "Confirm your email address" in browser.text
    await browser.open(path)
    await browser.press(BUTTON)
    assert CONFIRMED in browser.text


async def test_a_token_made_before_the_address_was_proved_reaches_nothing_after_it(
    gateway, browser, elsewhere, tenant
):
    """The one who has the address takes the account over by a new password."""
    email = await sign_in_unconfirmed(gateway, browser)
    await browser.open("/account/personal-access-tokens")
    await browser.press("Create token", comment="Mine", scopes=["workspaces:read"])
    (token,) = [text for text in browser.reading.texts if text.startswith("dg_pat_")]
    await ask_for_a_link(elsewhere, email)
    await elsewhere.open(await latest_link(gateway, email))
    await elsewhere.press(SET, password=NEW_PASSWORD)
    assert (await gateway.client.get("/api/workspaces/", headers=bearer(token))).status_code == 401
    await browser.open("/account")
    assert browser.path.startswith("/sign-in")


async def test_no_stolen_credential_survives_a_password_reset_by_mail(gateway, browser, tenant):
    """Also where the address was proved long ago; the page and both mails say so."""
    application = await make_application(gateway)
    granted = [await application.tokens(tenant), await application.tokens(tenant, sub_type="user")]
    await ask_for_a_link(browser, tenant.user_email)
    async with signed_in(gateway, tenant) as stolen:
        await browser.open(await latest_link(gateway, tenant.user_email))
        assert "revokes your personal access tokens" in browser.text
        await browser.press(SET, password=NEW_PASSWORD)
        assert "All sessions and tokens have ended" in browser.text
        await stolen.open("/account")
        assert stolen.path.startswith("/sign-in")
    for token in (tenant.personal_token, *(tokens["access_token"] for tokens in granted)):
        headers = bearer(token)
        assert (await gateway.client.get("/api/viewer", headers=headers)).status_code == 401
    for tokens in granted:
        if "refresh_token" in tokens:
            assert (await application.refresh(tokens["refresh_token"])).status_code == 400
    headers = bearer(tenant.token)
    assert (await gateway.client.get("/api/shares/", headers=headers)).status_code == 200
    asked, told = await mails_to(gateway, tenant.user_email)
    assert "revokes your personal access tokens" in asked.text
    assert "your personal access tokens were revoked" in told.text
    assert "your personal access tokens were revoked" in told.html


async def test_a_password_changed_by_its_owner_leaves_tokens_and_says_so(gateway, tenant):
    async with signed_in(gateway, tenant) as user:
        await user.open("/account")
        passwords = {"current_password": "a long password", "new_password": NEW_PASSWORD}
        await user.press("Change password", **passwords, end_everything=None)
    (told,) = await mails_to(gateway, tenant.user_email)
    assert "Other browsers were signed out." in told.text
    assert "revoked" not in told.text
    assert (await gateway.client.get("/api/viewer", headers=bearer(tenant.personal_token))).status_code == 200
