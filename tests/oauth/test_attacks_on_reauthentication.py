"""Attacks on signing in again for an authorization request (`prompt=login`, `max_age`), by name."""

import asyncio
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import UUID

import pytest
from sqlalchemy import update

from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from tests.support.browsers.browsing import PASSWORD, browsing
from tests.support.tenants.applications import claims_of, make_application, told

pytestmark = pytest.mark.both_databases

_credentials = table_of(CredentialRow)
AGAIN = [{"prompt": "login"}, {"max_age": "1"}, {"max_age": "0"}, {"prompt": "login", "max_age": "0"}]


@pytest.fixture
async def browser(signed_in_browser, gateway, tenant):
    """A browser in which the tenant's user signed in an hour ago."""
    await age(gateway, tenant, timedelta(hours=1))
    return signed_in_browser


async def age(gateway, tenant, by):
    sessions = (_credentials.c.user_id == UUID(tenant.user_id)) & (_credentials.c.kind == "us")
    async with gateway.database.write() as connection:
        moments = {name: _credentials.c[name] for name in ("created_at", "authenticated_at")}
        changed = {name: now() - by for name in moments}
        await connection.execute(update(_credentials).where(sessions).values(**changed))


async def sign_in_again(browser, tenant, path):
    """Sign in as the request asks, and give the address to which the browser comes back."""
    await browser.open(path)
    assert browser.path.startswith("/sign-in?")
    await browser.press("Sign in", email=tenant.user_email, password=PASSWORD)
    (back,) = [link for link in browser.reading.links if link.startswith("/oauth2/authorize?")]
    return back


async def leads_to_the_sign_in(browser, path):
    answer = await browser.client.get(path)
    return answer.status_code == 303 and answer.headers["location"].startswith("/sign-in?")


@pytest.mark.parametrize("changes", AGAIN, ids=repr)
async def test_a_marker_kept_from_before_the_sign_in_does_not_pass_the_next_one(
    gateway, browser, tenant, confidential, changes
):
    async with browsing(gateway) as anonymous:
        answer = await anonymous.client.get(confidential.address())
        (kept,) = [v for n, v in parse_qsl(urlsplit(answer.headers["location"]).query) if n == "next"]
    added = kept.removeprefix(confidential.address())
    forged = str(now().timestamp())
    for path in (
        confidential.address(**changes) + added,
        f"{confidential.address(**changes)}&{urlencode({'signed_in_since': forged})}",
    ):
        assert await leads_to_the_sign_in(browser, path)


@pytest.mark.parametrize("changes", AGAIN, ids=repr)
async def test_one_sign_in_answers_the_request_and_passes_no_second_time(
    browser, tenant, confidential, gateway, changes
):
    path = confidential.address(scope="openid", **changes)
    before = now().timestamp()
    back = await sign_in_again(browser, tenant, path)
    await browser.open(back)
    answer = await browser.press("Allow", follow=False, decision="allow", workspace_id=tenant.id)
    code = told(answer.headers["location"])["code"]
    claims = await claims_of(gateway, (await confidential.exchange(code)).json()["id_token"])
    assert claims["auth_time"] >= int(before)
    # The session is young, and what it was started for is over.
    await age(gateway, tenant, timedelta(seconds=5))
    assert await leads_to_the_sign_in(browser, back)
    assert await leads_to_the_sign_in(browser, path)


async def test_a_sign_in_for_an_old_request_is_not_revived_by_another_proof(
    browser, tenant, confidential, gateway
):
    """Who confirms the password for something else has not signed in for the request left open long ago."""
    path = confidential.address(scope="openid", prompt="login")
    await sign_in_again(browser, tenant, path)
    await age(gateway, tenant, timedelta(hours=2))
    await browser.open("/confirm-password")
    await browser.press("Continue", confirmed_password=PASSWORD)
    assert await leads_to_the_sign_in(browser, path)


async def test_a_refused_request_ends_its_sign_in_too(browser, tenant, confidential):
    path = confidential.address(prompt="login")
    await browser.open(await sign_in_again(browser, tenant, path))
    answer = await browser.press("Deny", follow=False, decision="deny")
    assert told(answer.headers["location"])["error"] == "access_denied"
    assert await leads_to_the_sign_in(browser, path)


async def test_a_sign_in_for_one_request_passes_no_other(gateway, browser, tenant, confidential):
    other = await make_application(gateway)
    await sign_in_again(browser, tenant, confidential.address(prompt="login"))
    for changed in (
        other.address(prompt="login"),
        confidential.address(prompt="login", state="another"),
        confidential.address(prompt="login", scope="openid files:read"),
        confidential.address(prompt="login", nonce="n"),
        confidential.address(prompt="login") + "&unknown=x",
    ):
        assert await leads_to_the_sign_in(browser, changed)
    assert not await leads_to_the_sign_in(browser, confidential.address(prompt="login"))


async def test_an_ordinary_sign_in_passes_no_request(browser, tenant, confidential):
    await browser.open("/sign-in?again=1")
    await browser.press("Sign in", email=tenant.user_email, password=PASSWORD)
    assert await leads_to_the_sign_in(browser, confidential.address(prompt="login"))


async def test_a_sign_in_in_another_browser_passes_nothing_here(gateway, browser, tenant, confidential):
    path = confidential.address(prompt="login")
    async with browsing(gateway) as own:
        back = await sign_in_again(own, tenant, path)
        assert await leads_to_the_sign_in(browser, back)
        assert not await leads_to_the_sign_in(own, back)


async def test_a_sign_in_passes_for_ten_minutes_only(gateway, browser, tenant, confidential):
    path = confidential.address(max_age="60")
    back = await sign_in_again(browser, tenant, path)
    await age(gateway, tenant, timedelta(minutes=9))
    assert not await leads_to_the_sign_in(browser, back)
    await age(gateway, tenant, timedelta(minutes=11))
    assert await leads_to_the_sign_in(browser, back)


async def test_two_answers_at_once_get_one_code(browser, tenant, confidential):
    path = confidential.address(prompt="login")
    back = await sign_in_again(browser, tenant, path)
    await browser.open(back)
    form = browser.form("Allow")
    sent = [*form.fields, ("decision", "allow"), ("workspace_id", tenant.id)]
    content = urlencode(sent).encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answers = await asyncio.gather(
        *(browser.client.post(form.action, content=content, headers=headers) for _ in range(4))
    )
    codes = [answer for answer in answers if "code=" in answer.headers["location"]]
    assert len(codes) == 1
