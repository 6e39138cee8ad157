"""Codes of an app that wrong ones have blocked, and recovery codes, which are counted apart."""

import pytest

from resolvers.sign_in import attempts
from storage.clock import now
from tests.second_factors.acting import add_totp, forget_last_code, is_signed_in, recovery_codes
from tests.support.browsers.browsing import browsing
from tests.support.mails.mailed import mails_to
from tests.support.measures.log_lines import own_log_lines


async def spend_codes_of_the_app(safe_gateway, owner):
    for _ in range(2):
        async with browsing(safe_gateway, "https://gateway") as thief:
            await thief.sign_in(owner.user_email)
            for _ in range(5):
                answer = await thief.press("Sign in", code="000000")
    assert answer.status_code in (200, 422)


@pytest.mark.both_databases
async def test_who_spends_the_codes_of_an_app_keeps_no_owner_out(safe_gateway, account, owner):
    app = await add_totp(account)
    codes = recovery_codes(account.page)
    await spend_codes_of_the_app(safe_gateway, owner)
    async with browsing(safe_gateway, "https://gateway") as browser:
        await browser.sign_in(owner.user_email)
        assert (await browser.press("Sign in", code=app.now())).status_code == 429
        assert "use a recovery code or a passkey" in browser.text
        await browser.sign_in(owner.user_email)
        await browser.press("Sign in", code=codes[0])
        assert is_signed_in(browser)


async def test_a_refused_code_is_an_event_of_the_log(account, owner, browser):
    await add_totp(account)
    await browser.sign_in(owner.user_email)
    with own_log_lines() as lines:
        for code in ("000000", "2222-2222-2222"):
            await browser.press("Sign in", code=code)
    refused = {"event": "sign-in refused", "proof": "code", "user": owner.user_id, "log_level": "info"}
    assert lines == [refused, refused]


async def test_recovery_codes_have_a_count_of_their_own(safe_gateway, account, owner, browser, monkeypatch):
    app = await add_totp(account)
    codes = recovery_codes(account.page)
    await forget_last_code(safe_gateway, owner)
    moment = now()
    # However long the attempts take, the delay does not end between them.
    monkeypatch.setattr(attempts, "now", lambda: moment)
    await browser.sign_in(owner.user_email)
    answers = [await browser.press("Sign in", code="2222-2222-2222") for _ in range(5)]
    answers.append(await browser.press("Sign in", code=codes[0]))
    assert [answer.status_code for answer in answers] == [422] * 5 + [429]
    assert "Too many wrong recovery codes" in browser.text
    await browser.sign_in(owner.user_email)
    await browser.press("Sign in", code=app.now())
    assert is_signed_in(browser)
    subjects = [mail.subject for mail in await mails_to(safe_gateway, owner.user_email)]
    assert subjects.count("Wrong codes after your password") == 1
