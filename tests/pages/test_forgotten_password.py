"""A user who forgot the password sets a new one by a mailed link, which ends every session."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
import pytest_asyncio

from storage.clock import now
from tests.support.browsers.browsing import PASSWORD, browsing, signed_in
from tests.support.mails.mailed import mails_to
from tests.support.mails.mailed_links import (
    NEW_PASSWORD,
    ask_for_a_link,
    change_address,
    change_links,
    latest_link,
    linked_rows,
    mailed_links,
    sign_in_unconfirmed,
    token_of,
)
from tests.support.servers.gateways import run_gateway

BUTTON = "Set password"


@pytest_asyncio.fixture
async def link(gateway, browser, tenant):
    """The link that the tenant's user was mailed."""
    await ask_for_a_link(browser, tenant.user_email)
    return await latest_link(gateway, tenant.user_email)


async def can_sign_in(gateway, email, password):
    async with browsing(gateway) as browser:
        return (await browser.sign_in(email, password)).status_code == 200


async def test_the_sign_in_leads_to_a_new_password(gateway, browser, tenant):
    await browser.open("/sign-in")
    assert "/forgotten-password" in browser.reading.links
    await ask_for_a_link(browser, tenant.user_email.upper())
    await browser.open(await latest_link(gateway, tenant.user_email))
    await browser.press(BUTTON, password=NEW_PASSWORD)
    assert "Password changed" in browser.text
    await browser.press("Sign in", email=tenant.user_email, password=NEW_PASSWORD)
    assert browser.path == f"/{tenant.slug}/dashboard"
    assert not await can_sign_in(gateway, tenant.user_email, PASSWORD)


async def test_only_the_users_own_browsers_are_signed_out(gateway, browser, tenant, other_tenant, link):
    async with (
        signed_in(gateway, tenant) as one,
        signed_in(gateway, tenant) as another,
        signed_in(gateway, other_tenant) as stranger,
    ):
        await another.open(link)
        await another.press(BUTTON, password=NEW_PASSWORD)
        assert another.path == "/sign-in?again=1"
        for ended in (one, another):
            await ended.open("/account")
            assert ended.path.startswith("/sign-in")
        await stranger.open("/account")
        assert stranger.path == "/account"


async def test_the_user_is_notified_by_mail(gateway, browser, tenant, link):
    assert len(await mails_to(gateway, tenant.user_email)) == 1
    await browser.open(link)
    await browser.press(BUTTON, password=NEW_PASSWORD)
    *_, told = await mails_to(gateway, tenant.user_email)
    assert "was changed" in told.text
    assert "http://gateway/forgotten-password" in told.text
    assert NEW_PASSWORD not in told.text + told.html


async def test_a_password_change_by_its_owner_is_notified_too(gateway, tenant, link, browser):
    """And ends the links that were mailed for who does not."""
    async with signed_in(gateway, tenant) as user:
        await user.open("/account")
        await user.press("Change password", current_password=PASSWORD, new_password=NEW_PASSWORD)
    *_, told = await mails_to(gateway, tenant.user_email)
    assert "was changed" in told.text
    answer = await browser.open(link)
    assert (answer.status_code, "This link is no longer valid" in browser.text) == (410, True)


async def test_an_unknown_address_gets_the_same_answer_and_no_mail(gateway, browser, tenant):
    stranger = f"nobody-{uuid4().hex}@example.com"
    answers = []
    for email in (tenant.user_email, stranger):
        said = await ask_for_a_link(browser, email)
        headers = set(browser.page.headers) - {"set-cookie"}
        answers.append((browser.page.status_code, said.replace(email, "ADDRESS"), headers))
    assert answers[0] == answers[1]
    assert await mails_to(gateway, stranger) == []
    assert len(await mails_to(gateway, tenant.user_email)) == 1


async def test_the_answer_is_sent_before_anything_is_mailed(gateway, tenant):
    """Its delay then reveals nothing about the address."""
    mailed_before = []

    async def watched(scope, receive, send):
        async def note(message):
            if message["type"] == "http.response.body":
                mailed_before.append(len(await linked_rows(gateway, tenant.user_email)))
            await send(message)

        await gateway.app(scope, receive, note)

    async with browsing(replace(gateway, app=watched)) as browser:
        await browser.open("/forgotten-password")
        await browser.press("Email me a link", email=tenant.user_email)
    page, answer = mailed_before
    assert page == answer == 0
    assert len(await linked_rows(gateway, tenant.user_email)) == 1


async def test_what_is_no_address_is_named(browser):
    await browser.open("/forgotten-password")
    for text in ("no address", "", "\x00@example.com", "a" * 400 + "@example.com"):
        answer = await browser.press("Email me a link", email=text)
        assert answer.status_code == 422
        assert '<a href="#email">' in answer.text


async def test_a_link_works_once(gateway, browser, tenant, link):
    await browser.open(link)
    form = browser.form(BUTTON)
    await browser.press(BUTTON, password=NEW_PASSWORD)
    again = [*form.fields, ("password", "a third long password")]
    again = [pair for pair in again if pair != ("password", "")]
    answer = await browser.send("/new-password", again)
    assert (answer.status_code, "This link has already been used" in browser.text) == (410, True)
    assert (await browser.open(link)).status_code == 410
    assert await can_sign_in(gateway, tenant.user_email, NEW_PASSWORD)


@pytest.mark.both_databases
async def test_of_two_simultaneous_uses_of_a_link_one_sets_the_password(gateway, tenant, link):
    passwords = [f"long password number {number}" for number in range(4)]

    async with AsyncExitStack() as opened:
        browsers = [await opened.enter_async_context(browsing(gateway)) for _ in passwords]
        for browser in browsers:
            await browser.open(link)
        pressing = (
            browser.press(BUTTON, password=password)
            for browser, password in zip(browsers, passwords, strict=True)
        )
        statuses = [answer.status_code for answer in await asyncio.gather(*pressing)]
    assert sorted(statuses) == [200, 410, 410, 410]
    right = passwords[statuses.index(200)]
    for password in passwords:
        assert await can_sign_in(gateway, tenant.user_email, password) == (password == right)
    told = [mail for mail in await mails_to(gateway, tenant.user_email) if "was changed" in mail.text]
    assert len(told) == 1


async def test_a_link_ends_after_an_hour(gateway, browser, tenant, link):
    (row,) = await linked_rows(gateway, tenant.user_email)
    assert row["expires_at"] - row["created_at"] == timedelta(hours=1)
    await browser.open(link)
    await change_links(gateway, tenant.user_email, expires_at=now())
    answer = await browser.press(BUTTON, password=NEW_PASSWORD)
    assert (answer.status_code, "This link has expired" in browser.text) == (410, True)
    assert (await browser.open(link)).status_code == 410
    assert await can_sign_in(gateway, tenant.user_email, PASSWORD)


async def test_only_the_newest_link_counts(gateway, browser, tenant, link):
    await ask_for_a_link(browser, tenant.user_email)
    await browser.press("Send another link")
    *_, newest = await mailed_links(gateway, tenant.user_email)
    answer = await browser.open(link)
    assert (answer.status_code, "This link is no longer valid" in browser.text) == (410, True)
    await browser.open(newest)
    answer = await browser.press(BUTTON, password=NEW_PASSWORD, token=token_of(link))
    assert answer.status_code == 410
    await browser.open(newest)
    await browser.press(BUTTON, password=NEW_PASSWORD)
    assert await can_sign_in(gateway, tenant.user_email, NEW_PASSWORD)


async def test_a_link_that_proves_an_address_sets_no_password(gateway, browser):
    email = await sign_in_unconfirmed(gateway, browser)
    proof = token_of(await latest_link(gateway, email))
    assert (await browser.open(f"/new-password?token={proof}")).status_code == 404
    await ask_for_a_link(browser, email)
    await browser.open(await latest_link(gateway, email))
    answer = await browser.press(BUTTON, password=NEW_PASSWORD, token=proof)
    assert answer.status_code == 404
    assert await can_sign_in(gateway, email, PASSWORD)


async def test_a_link_counts_no_more_when_the_user_has_another_address(gateway, browser, tenant, link):
    await browser.open(link)
    await change_address(gateway, tenant.user_email, f"new-{tenant.user_email}")
    answer = await browser.press(BUTTON, password=NEW_PASSWORD)
    assert answer.status_code == 410
    assert await can_sign_in(gateway, f"new-{tenant.user_email}", PASSWORD)


@pytest.mark.parametrize("password", ["short", "", "x" * 1001, "a long \x00 password"])
async def test_the_rules_are_those_of_the_sign_up_and_a_refusal_uses_nothing(
    gateway, browser, tenant, link, password
):
    await browser.open(link)
    answer = await browser.press(BUTTON, password=password)
    assert answer.status_code == 422
    assert 'id="password-error"' in answer.text
    await browser.press(BUTTON, password=NEW_PASSWORD)
    assert await can_sign_in(gateway, tenant.user_email, NEW_PASSWORD)


async def test_looking_at_the_page_uses_nothing(gateway, browser, tenant, link):
    for _ in range(3):
        assert (await browser.client.get(link)).status_code == 200
    await browser.open(link)
    await browser.press(BUTTON, password=NEW_PASSWORD)
    assert await can_sign_in(gateway, tenant.user_email, NEW_PASSWORD)


async def test_entering_by_the_link_proves_the_address(gateway, browser, tenant):
    email = await sign_in_unconfirmed(gateway, browser)
    async with signed_in(gateway, tenant) as owner:
        data = {"email": email, "workspace_id": tenant.id}
        await owner.client.post(
            "/api/workspace-members/", json=data, headers={"Sec-Fetch-Site": "same-origin"}
        )
    await ask_for_a_link(browser, email)
    await browser.open(await latest_link(gateway, email))
    await browser.press(BUTTON, password=NEW_PASSWORD)
    await browser.sign_in(email, NEW_PASSWORD)
    assert "You have an invitation." in browser.text
    assert "Confirm your email address" not in browser.text


async def test_five_mails_are_sent_within_an_hour_and_the_answer_stays_the_same(gateway, browser, tenant):
    said = {await ask_for_a_link(browser, tenant.user_email) for _ in range(7)}
    assert len(said) == 1
    assert len(await mailed_links(gateway, tenant.user_email)) == 5
    await change_links(gateway, tenant.user_email, created_at=now() - timedelta(hours=1, seconds=1))
    await ask_for_a_link(browser, tenant.user_email)
    assert len(await mailed_links(gateway, tenant.user_email)) == 6


async def test_one_browser_address_is_refused_beyond_its_budget(database_url, tmp_path):
    async for gateway in run_gateway(database_url, tmp_path, rate_limit_restricted=2):
        async with browsing(gateway) as browser:
            statuses = []
            for _ in range(3):
                await ask_for_a_link(browser, "nobody@example.com")
                statuses.append(browser.page.status_code)
            assert statuses == [200, 200, 429]


async def test_another_browsers_form_does_nothing(gateway, browser, tenant, link):
    async with browsing(gateway) as attacker:
        await attacker.open("/forgotten-password")
        fields = [*attacker.form("Email me a link").fields, ("email", tenant.user_email)]
        await attacker.open(link)
        theirs = [*attacker.form(BUTTON).fields, ("password", NEW_PASSWORD)]
    await browser.open(link)
    for action, sent in (("/forgotten-password", fields), ("/new-password", theirs)):
        assert (await browser.send(action, sent)).status_code == 403
    assert len(await mailed_links(gateway, tenant.user_email)) == 1
    assert await can_sign_in(gateway, tenant.user_email, PASSWORD)
