"""Signing up: by a link that the address is mailed, and without telling strangers who has an account."""

import asyncio
import re
from datetime import timedelta
from uuid import uuid4

import pytest
import pytest_asyncio

from gateway.settings.server import Environment
from resolvers.sign_in import attempts
from resolvers.sign_in import sign_up as signing_up
from storage.clock import now
from tests.support.browsers.browsing import PASSWORD, browsing, session_of, signed_in
from tests.support.mails.mailed import mails_to
from tests.support.mails.mailed_links import (
    NEW_PASSWORD,
    ask_for_a_link,
    ask_to_sign_up,
    latest_link,
    open_sign_up_link,
    sign_in_unconfirmed,
    sign_up,
)
from tests.support.servers.gateways import run_gateway

BUTTON = "Create account"


@pytest_asyncio.fixture
async def elsewhere(gateway):
    """Another browser, where nobody is signed in."""
    async with browsing(gateway) as browser:
        yield browser


def new_email():
    return f"{uuid4().hex}@example.com"


async def test_a_new_user_opens_the_link_chooses_a_password_and_is_signed_in(gateway, browser):
    email = new_email()
    await ask_to_sign_up(browser, email)
    assert "Check your email" in browser.text
    (mail,) = await mails_to(gateway, email)
    assert mail.text.count("http://gateway/sign-up/account?token=") == 1
    await browser.open(await latest_link(gateway, email))
    await browser.press(BUTTON, password=PASSWORD, name="Grace")
    assert (browser.path, "Your account is ready." in browser.text) == ("/workspaces", True)
    await browser.open("/account")
    assert "Confirm your email address" not in browser.text
    await browser.open("/workspaces")
    await browser.press("Create workspace", name="Observatory", slug=f"w-{uuid4().hex}")
    assert "Observatory is ready." in browser.text
    await browser.open("/workspaces")
    assert "is ready" not in browser.text


async def test_errors_are_shown_beside_their_fields(gateway, browser):
    await browser.open("/sign-up")
    answer = await browser.press("Email me a link", email="not an address")
    assert (answer.status_code, '<a href="#email">' in answer.text) == (422, True)
    await open_sign_up_link(gateway, browser)
    answer = await browser.press(BUTTON, password="short")
    assert (answer.status_code, 'id="password-error"' in answer.text) == (422, True)
    assert "short" not in re.sub(r"<[^>]*>", "", answer.text).lower().replace("at least", "")
    await browser.press(BUTTON, password=PASSWORD)
    assert "Your account is ready." in browser.text


async def test_the_page_is_the_same_for_an_address_that_a_user_has(gateway, browser, tenant, monkeypatch):
    moment = now()
    # However long the emails take, each of the pages tells the same seconds to wait.
    monkeypatch.setattr(attempts, "now", lambda: moment)
    emails = (tenant.user_email, await sign_in_unconfirmed(gateway, browser), new_email())
    pages = []
    for email in emails:
        for _ in range(7):
            said = await ask_to_sign_up(browser, email.upper())
            pages.append((browser.page.status_code, said.replace(email.upper(), "")))
    assert pages[:7] == pages[7:14] == pages[14:]
    assert [status for status, _ in pages[:7]] == [200] * 5 + [429] * 2


async def test_the_owner_of_the_address_is_told_and_keeps_the_account(gateway, browser, elsewhere, tenant):
    await ask_to_sign_up(elsewhere, tenant.user_email.upper())
    (mail,) = await mails_to(gateway, tenant.user_email)
    assert mail.subject == "You already have an account"
    assert "http://gateway/sign-in" in mail.text
    assert "http://gateway/forgotten-password" in mail.text
    assert "token=" not in mail.text + mail.html
    await browser.sign_in(tenant.user_email)
    assert browser.path.startswith(f"/{tenant.slug}")


async def test_nothing_chosen_at_the_sign_up_signs_in_before_the_link_is_used(gateway, browser, elsewhere):
    email = new_email()
    await ask_to_sign_up(browser, email)
    assert session_of(browser) is None
    assert (await elsewhere.sign_in(email, PASSWORD)).status_code == 422
    # A program that follows links in mails creates nothing either.
    link = await latest_link(gateway, email)
    for _ in range(2):
        assert (await elsewhere.client.get(link)).status_code == 200
        assert (await elsewhere.client.head(link)).status_code == 200
    await browser.open(link)
    await browser.press(BUTTON, password=PASSWORD)
    assert "Your account is ready." in browser.text


async def test_who_opens_the_link_of_a_strangers_sign_up_alone_has_the_account(gateway, browser, elsewhere):
    """The stranger has chosen nothing, and is signed in nowhere."""
    email = new_email()
    await ask_to_sign_up(elsewhere, email)
    await browser.open(await latest_link(gateway, email))
    await browser.press(BUTTON, password=NEW_PASSWORD)
    assert "Your account is ready." in browser.text
    await elsewhere.open("/workspaces")
    assert elsewhere.path.startswith("/sign-in")


async def test_a_link_is_used_once(gateway, browser, elsewhere):
    email = await open_sign_up_link(gateway, browser)
    form = browser.form(BUTTON)
    await browser.press(BUTTON, password=PASSWORD)
    answer = await elsewhere.open(await latest_link(gateway, email))
    assert (answer.status_code, "You have an account" in elsewhere.text) == (410, True)
    await elsewhere.open("/sign-up")
    fields = [*elsewhere.form("Email me a link").fields, *form.fields[1:], ("password", NEW_PASSWORD)]
    assert (await elsewhere.send(form.action, fields)).status_code == 410
    assert (await elsewhere.sign_in(email, NEW_PASSWORD)).status_code == 422


@pytest.mark.both_databases
async def test_a_link_used_many_times_at_once_makes_one_account(gateway, browser):
    await open_sign_up_link(gateway, browser)
    form = browser.form(BUTTON)
    sent = [*form.fields, ("password", PASSWORD)]
    answers = await asyncio.gather(
        *(browser.client.post(form.action, data=dict(sent)) for _ in range(4)),
    )
    assert sorted(answer.status_code for answer in answers) == [303, 410, 410, 410]


@pytest.mark.parametrize("token", ["A" * 43, "", "x.y", "%00", "%ff", "A" * 10_000, "<script>"])
async def test_a_wrong_link_says_so(browser, token):
    answer = await browser.open(f"/sign-up/account?token={token}")
    assert (answer.status_code, "This link is invalid" in browser.text) == (404, True)
    assert "<script>" not in answer.text


async def test_the_address_in_a_link_cannot_be_altered(gateway, browser):
    await open_sign_up_link(gateway, browser)
    token = dict(browser.form(BUTTON).fields)["token"]
    text, _, signature = token.partition(".")
    answer = await browser.press(BUTTON, token=f"{text[:-4]}AAAA.{signature}", password=PASSWORD)
    assert answer.status_code == 404


async def test_an_expired_link_says_so(gateway, browser, monkeypatch):
    monkeypatch.setattr(signing_up, "LIFETIME", timedelta(0))
    await open_sign_up_link(gateway, browser)
    assert (browser.page.status_code, "This link has expired" in browser.text) == (410, True)


async def test_an_invited_stranger_signs_up_and_goes_on_to_the_invitation(gateway, browser, tenant):
    email = new_email()
    async with signed_in(gateway, tenant) as owner:
        data = {"email": email, "workspace_id": tenant.id}
        await owner.client.post(
            "/api/workspace-members/", json=data, headers={"Sec-Fetch-Site": "same-origin"}
        )
    await browser.open("/sign-up?next=%2Faccount%2Finvitations")
    await browser.press("Email me a link", email=email)
    await browser.open(await latest_link(gateway, email))
    await browser.press(BUTTON, password=PASSWORD)
    assert browser.path == "/account/invitations"
    assert tenant.slug in browser.text


async def test_a_link_leads_to_no_other_site(gateway, browser):
    email = new_email()
    await browser.open("/sign-up")
    await browser.press("Email me a link", email=email, next="https://evil.test/")
    await browser.open(await latest_link(gateway, email))
    answer = await browser.press(BUTTON, password=PASSWORD, follow=False)
    assert answer.headers["location"] == "/dashboard"


async def test_a_user_of_before_whose_address_nobody_confirmed_still_gets_in(gateway, browser, elsewhere):
    """By the password, by the link that is mailed again, or by a new password."""
    email = await sign_in_unconfirmed(gateway, browser)
    await elsewhere.sign_in(email)
    assert elsewhere.path == "/workspaces"
    await ask_for_a_link(elsewhere, email)
    await elsewhere.open(await latest_link(gateway, email))
    await elsewhere.press("Set password", password=NEW_PASSWORD)
    await elsewhere.sign_in(email, NEW_PASSWORD)
    await elsewhere.open("/account")
    assert "Confirm your email address" not in elsewhere.text


@pytest.mark.parametrize(
    ("values", "is_named"),
    [({}, True), ({"smtp_url": "smtp://localhost:1"}, False), ({"env": Environment.PRODUCTION}, False)],
)
async def test_a_developer_without_a_mail_server_is_told_where_the_email_is(tmp_path, values, is_named):
    async for gateway in run_gateway(f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite", tmp_path, **values):
        async with browsing(gateway) as browser:
            await ask_to_sign_up(browser, new_email())
            assert (str(gateway.outbox) in browser.text) is is_named


async def test_another_sites_form_sends_and_creates_nothing(gateway, browser):
    email = new_email()
    await browser.open("/sign-up")
    assert (await browser.send("/sign-up", [("email", email)])).status_code == 403
    assert await mails_to(gateway, email) == []
    await open_sign_up_link(gateway, browser, email)
    token = [field for field in browser.form(BUTTON).fields if field[0] == "token"]
    answer = await browser.send("/sign-up/account", [*token, ("password", PASSWORD)])
    assert answer.status_code == 403
    assert await sign_up(gateway, browser)
