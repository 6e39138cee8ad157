"""Attacks on a password by guessing it, by name."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
from sqlalchemy import func, select, update

from resolvers.sign_in import attempts
from resolvers.sign_in.attempts import FREE_ATTEMPTS, SLOTS, delay_after
from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.accounts.sign_in_attempts import SignInAttemptRow
from tests.support.browsers.browsing import PASSWORD, Browsing, browsing, session_of, signed_in
from tests.support.mails.mailed import mails_to
from tests.support.mails.mailed_links import latest_link
from tests.support.measures.log_lines import own_log_lines

pytestmark = pytest.mark.both_databases

_attempts = table_of(SignInAttemptRow)
SUBJECT = "Wrong passwords for your account"


@asynccontextmanager
async def elsewhere(gateway, number):
    """A browser at an address of its own."""
    transport = httpx.ASGITransport(
        gateway.app, raise_app_exceptions=False, client=(f"198.51.100.{number}", 9)
    )
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        yield Browsing(client)


async def guess(gateway, email, times, password="not the password", start=1):
    """The answers to as many attempts, each from another address."""
    answers = []
    for number in range(start, start + times):
        async with elsewhere(gateway, number) as browser:
            answers.append(await browser.sign_in(email, password))
    return answers


@pytest.fixture(autouse=True)
def attempts_at_one_moment(monkeypatch):
    """However long the attempts take, no delay ends before the test lets it."""
    moment = now()
    monkeypatch.setattr(attempts, "now", lambda: moment)


async def let_pass(gateway, by):
    """Let all attempts be as if they had been made that much earlier."""
    async with gateway.database.write() as connection:
        rows = (await connection.execute(select(_attempts.c.slot, _attempts.c.attempted_at))).all()
        for slot, moment in rows:
            same = _attempts.c.slot == slot
            await connection.execute(update(_attempts).where(same).values(attempted_at=moment - by))


@pytest.mark.parametrize("is_known", [True, False], ids=["user", "nobody"])
async def test_guessing_one_password_from_many_addresses_has_to_wait(gateway, tenant, is_known):
    email = tenant.user_email if is_known else f"{uuid4().hex}@example.com"
    answers = await guess(gateway, email, FREE_ATTEMPTS + 2)
    assert [answer.status_code for answer in answers] == [422] * FREE_ATTEMPTS + [429] * 2
    assert answers[-1].headers["retry-after"] == "15"
    assert "Too many wrong passwords for this account" in answers[-1].text
    # The right one has to wait as well, or it could be told from the wrong ones.
    (answer,) = await guess(gateway, email, 1, PASSWORD, start=50)
    assert answer.status_code == 429
    await let_pass(gateway, timedelta(seconds=15))
    (answer,) = await guess(gateway, email.upper(), 1, start=60)
    assert answer.status_code == 422
    (answer,) = await guess(gateway, email, 1, start=61)
    assert answer.headers["retry-after"] == "30"


async def test_many_guesses_at_the_same_moment_are_no_more_than_one_after_another(gateway, tenant):
    answers = await asyncio.gather(
        *(guess(gateway, tenant.user_email, 1, start=n) for n in range(FREE_ATTEMPTS + 5))
    )
    codes = sorted(answer.status_code for (answer,) in answers)
    assert codes == [422] * FREE_ATTEMPTS + [429] * 5


async def test_a_guess_that_has_to_wait_is_an_event_of_the_log_too(gateway, tenant):
    with own_log_lines() as lines:
        await guess(gateway, tenant.user_email, FREE_ATTEMPTS + 1)
    refused = {"event": "sign-in refused", "proof": "password", "user": tenant.user_id, "log_level": "info"}
    assert lines == [refused] * (FREE_ATTEMPTS + 1)


def test_delays_grow_to_an_hour():
    delays = [delay_after(failures).total_seconds() for failures in (1, 4, 5, 6, 7, 8, 12, 13, 100, 10**9)]
    assert delays == [0, 0, 15, 30, 60, 120, 1920, 3600, 3600, 3600]


async def test_strangers_do_not_lock_the_owners_browser_out(gateway, tenant):
    async with browsing(gateway) as own:
        await own.sign_in(tenant.user_email)
        await own.press("Sign out")
        await guess(gateway, tenant.user_email, FREE_ATTEMPTS + 1)
        await own.sign_in(tenant.user_email)
        assert session_of(own) is not None
    # The owner's sign-in there does not help the strangers.
    (answer,) = await guess(gateway, tenant.user_email, 1)
    assert answer.status_code == 429


async def test_a_known_browser_guesses_no_more_than_others(gateway, tenant):
    async with browsing(gateway) as stolen:
        await stolen.sign_in(tenant.user_email)
        for _ in range(FREE_ATTEMPTS):
            assert (await stolen.sign_in_again(tenant.user_email, "a guess")).status_code == 422
        assert (await stolen.sign_in_again(tenant.user_email, "a guess")).status_code == 429


async def test_a_browser_is_known_for_its_own_user_only(gateway, tenant, other_tenant):
    await guess(gateway, tenant.user_email, FREE_ATTEMPTS)
    async with browsing(gateway) as browser:
        await browser.sign_in(other_tenant.user_email)
        known = browser.client.cookies["duograph_known"]
        assert other_tenant.user_email not in known
        assert other_tenant.user_id not in known
        answer = await browser.sign_in_again(tenant.user_email, PASSWORD)
        assert answer.status_code == 429
        for forged in (known[:-2] + "xx", "x.y", ":" * 200, "a" * 5000):
            browser.client.cookies.set("duograph_known", forged, domain="gateway.local")
            answer = await browser.sign_in_again(tenant.user_email, PASSWORD)
            assert answer.status_code == 429


async def test_a_shared_browser_is_known_for_each_of_its_users(gateway, tenant, other_tenant):
    async with browsing(gateway) as browser:
        for email in (tenant.user_email, other_tenant.user_email, tenant.user_email):
            await browser.sign_in_again(email, PASSWORD)
        assert browser.client.cookies["duograph_known"].count(":") == 1
        for email in (tenant.user_email, other_tenant.user_email):
            await guess(gateway, email, FREE_ATTEMPTS)
            assert (await browser.sign_in_again(email, PASSWORD)).status_code == 200


async def test_a_new_password_makes_all_browsers_unknown_but_lets_the_owner_in(gateway, tenant):
    async with browsing(gateway) as browser:
        await browser.sign_in(tenant.user_email)
        await guess(gateway, tenant.user_email, FREE_ATTEMPTS)
        await browser.open("/forgotten-password")
        await browser.press("Email me a link", email=tenant.user_email)
        await browser.open(await latest_link(gateway, tenant.user_email))
        await browser.press("Set password", password="quite another long password")
        await guess(gateway, tenant.user_email, FREE_ATTEMPTS)
        answer = await browser.sign_in_again(tenant.user_email, "quite another long password")
        assert answer.status_code == 429


async def test_the_owner_is_mailed_once_a_day(gateway, tenant):
    for number in range(1, 14):
        await guess(gateway, tenant.user_email, 1, start=number)
        await let_pass(gateway, timedelta(hours=1))
    (mail,) = [mail for mail in await mails_to(gateway, tenant.user_email) if mail.subject == SUBJECT]
    assert tenant.user_email in mail.text
    assert "/forgotten-password" in mail.text


async def test_a_right_password_begins_the_count_anew(gateway, tenant):
    await guess(gateway, tenant.user_email, FREE_ATTEMPTS - 1)
    (answer,) = await guess(gateway, tenant.user_email, 1, PASSWORD)
    assert answer.status_code == 200
    answers = await guess(gateway, tenant.user_email, FREE_ATTEMPTS)
    assert {answer.status_code for answer in answers} == {422}


async def test_a_session_cannot_guess_the_password_either(gateway, tenant):
    async with signed_in(gateway, tenant) as thief:
        codes = []
        for _ in range(FREE_ATTEMPTS + 1):
            await thief.open("/confirm-password")
            codes.append((await thief.press("Continue", confirmed_password="a guess")).status_code)
        assert codes == [422] * FREE_ATTEMPTS + [429]
        await thief.open("/account")
        new = "quite another long password"
        answer = await thief.press("Change password", current_password="a guess", new_password=new)
        assert answer.status_code == 429
    async with signed_in(gateway, tenant) as own:
        await own.open("/confirm-password")
        answer = await own.press("Continue", confirmed_password=PASSWORD)
        assert answer.status_code == 200


async def test_no_address_is_stored_and_the_count_is_bounded(gateway, tenant):
    await guess(gateway, tenant.user_email, 1)
    async with gateway.database.read() as connection:
        rows = (await connection.execute(select(_attempts))).mappings().all()
        top = (await connection.execute(select(func.max(_attempts.c.slot)))).scalar_one()
    assert all(len(row["subject"]) == 43 for row in rows)
    assert top < SLOTS


@pytest_asyncio.fixture(autouse=True)
async def clean_slate(gateway):
    """Addresses are the tests' own, but slots could meet."""
    await let_pass(gateway, timedelta(days=2))
