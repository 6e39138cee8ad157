"""Users whose address nobody has confirmed, as sign-ups once left them, are mailed a link that does."""

import asyncio
from datetime import timedelta
from urllib.parse import urlencode
from uuid import uuid4

import pytest
import pytest_asyncio

from storage.clock import now
from tests.support.browsers.browsing import PASSWORD, browsing, signed_in
from tests.support.mails.mailed import mails_to
from tests.support.mails.mailed_links import (
    ask_for_a_link,
    change_address,
    change_links,
    latest_link,
    linked_rows,
    mailed_links,
    sign_in_unconfirmed,
    token_of,
)
from tests.support.measures.spans import span
from tests.support.servers.gateways import run_gateway

BUTTON, SIGN_IN = "Confirm email address", "Sign in to this account"
CONFIRMED = "Your email address is confirmed"


@pytest_asyncio.fixture
async def elsewhere(gateway):
    """Another browser, where nobody is signed in."""
    async with browsing(gateway) as browser:
        yield browser


@pytest_asyncio.fixture
async def email(gateway, browser):
    return await sign_in_unconfirmed(gateway, browser)


async def follow_to_sign_in(browser):
    """What the button of the page does that asks for a sign-in first: its form is sent by GET."""
    form = browser.form(SIGN_IN)
    assert form.method == "get"
    await browser.open(f"{form.action}?{urlencode(form.fields)}")


async def invite(gateway, tenant, email):
    async with signed_in(gateway, tenant) as owner:
        data = {"email": email, "workspace_id": tenant.id}
        answer = await owner.client.post(
            "/api/workspace-members/", json=data, headers={"Sec-Fetch-Site": "same-origin"}
        )
        assert answer.status_code == 201


async def test_an_account_whose_address_nobody_confirmed_is_mailed_a_link(gateway, email):
    (mail,) = await mails_to(gateway, email)
    assert mail.text.count("http://gateway/confirm-address?token=") == 1
    assert email in mail.text


async def test_by_the_link_an_address_sees_the_invitations_to_it_and_joins_nothing(
    gateway, browser, elsewhere, email, tenant, other_tenant
):
    """In whatever browser it is opened, after a sign-in."""
    await invite(gateway, tenant, email.upper())
    await browser.open("/workspaces")
    assert tenant.slug not in browser.text
    assert "Confirm your email address" in browser.text
    await elsewhere.open(await latest_link(gateway, email))
    assert email in elsewhere.text
    await follow_to_sign_in(elsewhere)
    await elsewhere.press("Sign in", email=email, password=PASSWORD)
    answer = await elsewhere.press(BUTTON)
    assert (answer.status_code, CONFIRMED in elsewhere.text) == (200, True)
    await invite(gateway, other_tenant, email)
    await browser.open("/workspaces")
    assert "You have 2 invitations." in browser.text
    assert tenant.slug not in browser.text
    assert other_tenant.slug not in browser.text
    assert "Confirm your email address" not in browser.text
    await browser.open("/account/invitations")
    assert tenant.slug in browser.text
    assert other_tenant.slug in browser.text


async def test_a_program_that_follows_links_in_mails_confirms_nothing(gateway, browser, elsewhere, email):
    path = await latest_link(gateway, email)
    for _ in range(3):
        assert (await elsewhere.client.get(path)).status_code == 200
        assert (await elsewhere.client.head(path)).status_code == 200
    await browser.open("/account")
    assert "Confirm your email address" in browser.text
    await browser.open(path)
    await browser.press(BUTTON)
    assert CONFIRMED in browser.text


async def test_an_owner_without_an_invitation_confirms_too(gateway, browser, email):
    await browser.press("Create workspace", name="Observatory", slug=f"w-{uuid4().hex}")
    await browser.open(await latest_link(gateway, email))
    await browser.press(BUTTON)
    await browser.open("/account")
    assert "Confirm your email address" not in browser.text


async def test_a_link_that_was_used_says_that_the_address_is_confirmed(gateway, browser, email):
    path = await latest_link(gateway, email)
    await browser.open(path)
    form = browser.form(BUTTON)
    for _ in range(2):
        answer = await browser.send(form.action, form.fields)
        assert (answer.status_code, CONFIRMED in browser.text) == (200, True)
    await browser.open(path)
    assert CONFIRMED in browser.text


@pytest.mark.both_databases
async def test_a_link_used_many_times_at_once_is_used_once(gateway, browser, email, tenant):
    await invite(gateway, tenant, email)
    await browser.open(await latest_link(gateway, email))
    form = browser.form(BUTTON)
    async with browsing(gateway) as another:
        await another.sign_in(email)
        await another.open(await latest_link(gateway, email))
        second = another.form(BUTTON)
        answers = await asyncio.gather(
            *(browser.send(form.action, form.fields) for _ in range(3)),
            *(another.send(second.action, second.fields) for _ in range(3)),
        )
    assert {answer.status_code for answer in answers} == {200}
    (row,) = await linked_rows(gateway, email)
    assert row["used_at"] is not None


async def test_an_expired_link_confirms_nothing_and_says_so(gateway, browser, email):
    (row,) = await linked_rows(gateway, email)
    assert row["expires_at"] - row["created_at"] == timedelta(days=3)
    path = await latest_link(gateway, email)
    await browser.open(path)
    form = browser.form(BUTTON)
    await change_links(gateway, email, expires_at=now())
    for answer in (await browser.send(form.action, form.fields), await browser.open(path)):
        assert answer.status_code == 410
        assert "This link has expired" in browser.text
    await browser.open("/account")
    assert "Confirm your email address" in browser.text


@pytest.mark.parametrize("token", ["A" * 43, "", "x", "%00", "%ff", "A" * 10_000, "<script>"])
async def test_a_wrong_link_says_so(elsewhere, token):
    for path in ("/confirm-address", "/new-password"):
        answer = await elsewhere.open(f"{path}?token={token}")
        assert answer.status_code == 404
        assert "This link is invalid" in elsewhere.text
        assert "<script>" not in answer.text


async def test_a_link_for_a_new_password_confirms_no_address(gateway, browser, elsewhere, email):
    """Each link is for one purpose, whatever page or form it is brought to."""
    first = await latest_link(gateway, email)
    await ask_for_a_link(elsewhere, email)
    other = await latest_link(gateway, email)
    assert other.startswith("/new-password")
    answer = await elsewhere.open(f"/confirm-address?token={token_of(other)}")
    assert answer.status_code == 404
    await browser.open(first)
    answer = await browser.press(BUTTON, token=token_of(other))
    assert answer.status_code == 404
    await browser.open("/account")
    assert "Confirm your email address" in browser.text


async def test_a_link_proves_nothing_of_an_address_that_came_later(gateway, browser, email):
    path = await latest_link(gateway, email)
    await browser.open(path)
    await change_address(gateway, email, f"new-{email}")
    answer = await browser.press(BUTTON)
    assert (answer.status_code, CONFIRMED in browser.text) == (410, False)
    await browser.open("/account")
    assert "Confirm your email address" in browser.text


async def test_only_the_link_of_the_latest_mail_counts(gateway, browser, email):
    await browser.open("/account")
    await browser.press("Resend the email")
    assert "Email sent" in browser.text
    first, second = await mailed_links(gateway, email)
    answer = await browser.open(first)
    assert (answer.status_code, "This link has been replaced" in browser.text) == (410, True)
    await browser.open(second)
    await browser.press(BUTTON)
    assert CONFIRMED in browser.text


async def test_five_mails_are_sent_within_an_hour_and_no_more(gateway, browser, email):
    for _ in range(4):
        await browser.open("/account")
        await browser.press("Resend the email")
    await browser.open("/account")
    with span() as asking:
        answer = await browser.press("Resend the email")
    assert answer.status_code == 429
    oldest, *_ = await linked_rows(gateway, email)
    again = oldest["created_at"] + timedelta(hours=1)
    shortest, longest = again - asking.end, again - asking.begin + timedelta(seconds=1)
    assert shortest <= timedelta(seconds=int(answer.headers["retry-after"])) <= longest
    assert "5 of these emails were sent within an hour" in browser.text
    assert len(await mailed_links(gateway, email)) == 5
    await change_links(gateway, email, created_at=now() - timedelta(hours=1, seconds=1))
    await browser.open("/account")
    assert (await browser.press("Resend the email")).status_code == 200
    assert len(await mailed_links(gateway, email)) == 6


async def test_simultaneous_requests_get_no_more_mails_than_sequential_ones(gateway, browser, email):
    await browser.open("/account")
    form = browser.form("Resend the email")
    await asyncio.gather(*(browser.send(form.action, form.fields) for _ in range(8)))
    assert len(await mailed_links(gateway, email)) == 5
    assert [row["ended_at"] is None for row in await linked_rows(gateway, email)].count(True) == 1


async def test_one_browser_address_is_refused_beyond_its_budget(database_url, tmp_path):
    async for gateway in run_gateway(database_url, tmp_path, rate_limit_restricted=3):
        async with browsing(gateway) as browser:
            email = await sign_in_unconfirmed(gateway, browser)
            await browser.open("/account")
            form = browser.form("Resend the email")
            statuses = [(await browser.send(form.action, form.fields)).status_code for _ in range(3)]
            assert statuses == [200, 200, 429]
            assert len(await mailed_links(gateway, email)) == 3


async def test_a_confirmed_address_is_mailed_nothing_more(gateway, browser, email):
    await browser.open("/account")
    form = browser.form("Resend the email")
    await browser.open(await latest_link(gateway, email))
    await browser.press(BUTTON)
    await browser.send(form.action, form.fields)
    assert "Your email address is confirmed." in browser.text
    assert "Resend the email" not in browser.text
    assert len(await mailed_links(gateway, email)) == 1


async def test_another_sites_form_neither_confirms_nor_sends(gateway, browser, elsewhere, email):
    path = await latest_link(gateway, email)
    forged = [("token", token_of(path))]
    await browser.open(path)
    own = browser.form(BUTTON).fields
    for fields, headers in ((forged, {}), (own, {"Sec-Fetch-Site": "cross-site"})):
        assert (await browser.send("/confirm-address", fields, **headers)).status_code == 403
    assert (await browser.send("/account/address-confirmation", forged)).status_code == 403
    await elsewhere.open("/sign-in")
    await elsewhere.send("/account/address-confirmation", elsewhere.form("Sign in").fields)
    assert elsewhere.path.startswith("/sign-in")
    assert len(await mailed_links(gateway, email)) == 1
    await browser.open("/account")
    assert "Confirm your email address" in browser.text


async def test_what_is_kept_of_a_link_does_not_tell_its_secret(gateway, email):
    token = token_of(await latest_link(gateway, email))
    (row,) = await linked_rows(gateway, email)
    assert token not in str(row)
    assert len(row["hash"]) == 64


async def test_a_link_is_forgotten_a_month_later(gateway, browser, email):
    await change_links(gateway, email, created_at=now() - timedelta(days=30, seconds=1))
    await browser.open("/account")
    await browser.press("Resend the email")
    (row,) = await linked_rows(gateway, email)
    assert row["ended_at"] is None
