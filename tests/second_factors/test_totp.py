"""Codes of an authenticator app, and what attackers try with them."""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select, update

from oauth.sign_in.totp import code_at
from resolvers.second_factors import totp
from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.accounts.second_factors import RecoveryCodeRow, TotpSecretRow
from storage.tables.accounts.second_steps import SecondStepRow
from tests.second_factors.acting import (
    SECOND_STEP,
    SECURITY,
    STEP_COOKIE,
    add_totp,
    add_totp_with_code,
    forget_last_code,
    is_signed_in,
    recovery_codes,
    signed_in,
)
from tests.support.browsers.browsing import PASSWORD, browsing
from tests.support.mails.mailed import mails_to
from tests.support.servers.gateways import make_tenant

WRONG = "This code is wrong or has been used"
_totp, _codes, _steps = table_of(TotpSecretRow), table_of(RecoveryCodeRow), table_of(SecondStepRow)


async def rows(gateway, table, tenant):
    async with gateway.database.read() as connection:
        wanted = select(table).where(table.c.user_id == UUID(tenant.user_id))
        return (await connection.execute(wanted)).mappings().all()


async def test_a_user_with_an_app_signs_in_with_the_password_and_a_code(
    safe_gateway, account, owner, browser
):
    app = await add_totp(account)
    assert len(recovery_codes(account.page)) == 10
    await forget_last_code(safe_gateway, owner)
    await browser.sign_in(owner.user_email, next_path="/account")
    assert browser.path == f"{SECOND_STEP}?next=%2Faccount"
    assert not is_signed_in(browser)
    code = app.now()
    await browser.press("Sign in", code=f" {code[:3]} {code[3:]}")
    assert browser.path == "/account"
    assert STEP_COOKIE not in browser.client.cookies
    subjects = [mail.subject for mail in await mails_to(safe_gateway, owner.user_email)]
    assert "An authenticator app was added" in subjects


async def test_the_right_password_alone_grants_nothing(safe_gateway, account, owner, browser):
    await add_totp(account)
    await browser.sign_in(owner.user_email)
    assert not is_signed_in(browser)
    await browser.open("/account")
    assert browser.path.startswith("/sign-in")
    step = browser.client.cookies[STEP_COOKIE]
    for name in ("__Host-duograph_session", "duograph_session"):
        headers = {"Cookie": f"{name}={step}", "Sec-Fetch-Site": "same-origin"}
        assert (
            await safe_gateway.client.get("https://gateway/api/viewer", headers=headers)
        ).status_code == 401


async def test_a_code_that_was_seen_does_not_work_again(safe_gateway, account, owner, browser):
    app, code = await add_totp_with_code(account)
    await browser.sign_in(owner.user_email)
    await browser.press("Sign in", code=code)
    assert WRONG in browser.text, "The code that set the app up counts as used."
    await forget_last_code(safe_gateway, owner)
    code = app.now()
    await browser.press("Sign in", code=code)
    assert is_signed_in(browser)
    async with browsing(safe_gateway, "https://gateway") as thief:
        await thief.sign_in(owner.user_email)
        await thief.press("Sign in", code=code)
        assert WRONG in thief.text
        assert not is_signed_in(thief)


@pytest.mark.both_databases
async def test_one_code_entered_in_many_browsers_at_the_same_time_opens_one(safe_gateway, account, owner):
    app = await add_totp(account)
    recovery = recovery_codes(account.page)[0]
    for code in (app.now(), recovery):
        await forget_last_code(safe_gateway, owner)
        async with AsyncExitStack() as stack:
            browsers = [
                await stack.enter_async_context(browsing(safe_gateway, "https://gateway")) for _ in range(3)
            ]
            for browser in browsers:
                await browser.sign_in(owner.user_email)
            await asyncio.gather(*(browser.press("Sign in", code=code) for browser in browsers))
            assert sum(map(is_signed_in, browsers)) == 1


async def test_a_code_of_a_minute_ago_does_not_work(safe_gateway, account, owner, browser, monkeypatch):
    app = await add_totp(account)
    await forget_last_code(safe_gateway, owner)
    await browser.sign_in(owner.user_email)
    moment = now()
    # A code of the future would be one of the next step if it took long to arrive.
    monkeypatch.setattr(totp, "now", lambda: moment)
    for off in (-65, 65):
        await browser.press("Sign in", code=code_at(app.secret, moment + timedelta(seconds=off)))
        assert not is_signed_in(browser)


@pytest.mark.parametrize("code", ["", "000000000", "12345\uff16", "\x00", "A" * 64, "'; --"])
async def test_what_is_no_code_is_wrong(safe_gateway, account, owner, browser, code):
    await add_totp(account)
    await browser.sign_in(owner.user_email)
    answer = await browser.press("Sign in", code=code)
    assert answer.status_code == 422
    assert not is_signed_in(browser)


async def test_five_wrong_codes_end_the_step_and_notify_the_owner(safe_gateway, account, owner, browser):
    app = await add_totp(account)
    await forget_last_code(safe_gateway, owner)
    await browser.sign_in(owner.user_email)
    for _ in range(5):
        form = browser.form("Sign in")
        await browser.press("Sign in", code="22222222")
    assert browser.path.startswith("/sign-in?")
    assert "Sign in again" in browser.text
    await browser.send(SECOND_STEP, [*form.fields[:-1], ("code", app.now())])
    assert not is_signed_in(browser)
    subjects = [mail.subject for mail in await mails_to(safe_gateway, owner.user_email)]
    assert subjects.count("Wrong codes after your password") == 1


async def test_guessing_goes_no_further_with_the_password_entered_again_and_again(
    safe_gateway, account, owner
):
    app = await add_totp(account)
    await forget_last_code(safe_gateway, owner)
    refused = []
    for _ in range(3):
        async with browsing(safe_gateway, "https://gateway") as thief:
            await thief.sign_in(owner.user_email)
            for _ in range(5):
                answer = await thief.press("Sign in", code="222222222")
                refused.append(answer.status_code)
                if answer.status_code == 429 or thief.path.startswith("/sign-in?"):
                    break
    assert (refused.count(422), refused.count(429)) == (8, 1)
    async with browsing(safe_gateway, "https://gateway") as browser:
        await browser.sign_in(owner.user_email)
        assert (await browser.press("Sign in", code=app.now())).status_code == 429
        async with safe_gateway.database.write() as connection:
            mine = _steps.c.user_id == UUID(owner.user_id)
            await connection.execute(update(_steps).where(mine).values(created_at=now() - timedelta(hours=2)))
        await browser.sign_in(owner.user_email)
        await browser.press("Sign in", code=app.now())
        assert is_signed_in(browser)


async def test_the_step_of_another_browser_is_refused(safe_gateway, account, owner, browser):
    """Its cookie alone does not do: the form has to be of the same browser."""
    app = await add_totp(account)
    await forget_last_code(safe_gateway, owner)
    await browser.sign_in(owner.user_email)
    form = browser.form("Sign in")
    async with browsing(safe_gateway, "https://gateway") as thief:
        await thief.open("/sign-in")
        thief.client.cookies.set(STEP_COOKIE, browser.client.cookies[STEP_COOKIE], domain="gateway.local")
        answer = await thief.send(SECOND_STEP, [*form.fields[:-1], ("code", app.now())])
        assert answer.status_code == 403
        assert not is_signed_in(thief)


async def test_ones_own_code_does_not_open_the_step_of_another_user(safe_gateway, account, owner, browser):
    await add_totp(account)
    attacker = await make_tenant(safe_gateway)
    async with signed_in(safe_gateway, attacker) as own:
        app = await add_totp(own)
        codes = recovery_codes(own.page)
    await forget_last_code(safe_gateway, attacker)
    await browser.sign_in(owner.user_email)
    for code in (app.now(), codes[0]):
        await browser.press("Sign in", code=code)
        assert WRONG in browser.text
    assert not is_signed_in(browser)


async def test_a_step_ends_after_five_minutes_and_with_a_new_password(safe_gateway, account, owner, browser):
    app = await add_totp(account)
    await forget_last_code(safe_gateway, owner)
    await browser.sign_in(owner.user_email)
    async with safe_gateway.database.write() as connection:
        mine = _steps.c.user_id == UUID(owner.user_id)
        await connection.execute(update(_steps).where(mine).values(expires_at=now()))
    await browser.press("Sign in", code=app.now())
    assert browser.path.startswith("/sign-in?")
    await browser.sign_in(owner.user_email)
    await account.open("/account")
    await account.press("Change password", current_password=PASSWORD, new_password=f"new {uuid4()}")
    await browser.press("Sign in", code=app.now())
    assert browser.path.startswith("/sign-in?")
    assert not is_signed_in(browser)


async def test_a_sealed_secret_of_another_user_is_not_opened(safe_gateway, account, owner, browser):
    """Somebody who can write to the database gives the victim the secret of an app of their own."""
    await add_totp(account)
    attacker = await make_tenant(safe_gateway)
    async with signed_in(safe_gateway, attacker) as own:
        app = await add_totp(own)
    (theirs,) = await rows(safe_gateway, _totp, attacker)
    async with safe_gateway.database.write() as connection:
        mine = _totp.c.user_id == UUID(owner.user_id)
        swapped = update(_totp).where(mine).values(sealed=theirs["sealed"], last_step=0)
        await connection.execute(swapped)
    await browser.sign_in(owner.user_email)
    await browser.press("Sign in", code=app.now())
    assert WRONG in browser.text
    assert not is_signed_in(browser)


async def test_neither_secrets_nor_recovery_codes_can_be_read_in_the_database(safe_gateway, account, owner):
    app = await add_totp(account)
    codes = recovery_codes(account.page)
    stored = str([*await rows(safe_gateway, _totp, owner), *await rows(safe_gateway, _codes, owner)])
    assert app.secret not in stored
    for code in codes:
        assert code not in stored
        assert code.replace("-", "") not in stored


async def test_an_app_is_not_set_up_with_a_wrong_code_or_twice(safe_gateway, account, owner):
    await account.open(f"{SECURITY}/authenticator-app")
    before = account.page.text.partition('id="secret">')[2][:32]
    answer = await account.press("Set up app", code="222222222")
    assert answer.status_code == 422
    assert before in answer.text, "The app has scanned this secret already."
    await add_totp(account)
    assert (await account.open(f"{SECURITY}/authenticator-app")).status_code == 403


async def test_the_enrolment_of_another_user_is_refused(safe_gateway, account, owner):
    """Else an attacker could give the victim a secret that the attacker knows."""
    attacker = await make_tenant(safe_gateway)
    async with signed_in(safe_gateway, attacker) as own:
        await own.open(f"{SECURITY}/authenticator-app")
        secret = own.page.text.partition('id="secret">')[2][:32]
        enrolment = dict(own.form("Set up app").fields)["enrolment"]
    await account.open(f"{SECURITY}/authenticator-app")
    await account.press("Set up app", enrolment=enrolment, code=code_at(secret, now()))
    assert account.page.status_code == 422
    assert await rows(safe_gateway, _totp, owner) == []


async def test_removing_the_last_factor_deletes_the_recovery_codes(safe_gateway, account, owner, browser):
    await add_totp(account)
    await account.open(SECURITY)
    await account.press("Remove app")
    assert "Authenticator app removed." in account.text
    assert await rows(safe_gateway, _codes, owner) == []
    await browser.sign_in(owner.user_email)
    assert is_signed_in(browser)
    subjects = [mail.subject for mail in await mails_to(safe_gateway, owner.user_email)]
    assert "An authenticator app was removed" in subjects
