"""The factor is asked for wherever the password is: for applications, for access, after a new password."""

import pytest

from tests.second_factors.acting import (
    SECOND_STEP,
    SECURITY,
    add_passkey,
    add_totp,
    forget_last_code,
    is_signed_in,
    options_of,
    recovery_codes,
    signed_in,
)
from tests.support.browsers.browsing import PASSWORD, sign_in_was_hours_ago
from tests.support.mails.mailed import mails_to
from tests.support.mails.mailed_links import NEW_PASSWORD
from tests.support.servers.gateways import make_tenant
from tests.support.tenants.applications import make_application, told

AGAIN = [{"prompt": "login"}, {"max_age": "0"}]
TOKENS = "/account/personal-access-tokens"


async def ask_for_a_token(browser):
    await browser.open(TOKENS)
    return await browser.press("Create token", comment="Nightly", scopes=["shares:read"])


@pytest.mark.parametrize("changes", AGAIN, ids=repr)
async def test_an_open_session_and_the_password_do_not_answer_an_application_that_asks_for_a_sign_in(
    safe_gateway, account, owner, changes
):
    app = await add_totp(account)
    await forget_last_code(safe_gateway, owner)
    await sign_in_was_hours_ago(safe_gateway, owner)
    application = await make_application(safe_gateway)
    path = application.address(**changes)
    await account.open(path)
    await account.press("Sign in", email=owner.user_email, password=PASSWORD)
    assert account.path.startswith(SECOND_STEP)
    step = account.page
    await account.open(path)
    assert account.path.startswith("/sign-in?"), "The password alone is no sign-in."
    account.page = step
    await account.press("Sign in", code=app.now())
    (back,) = [link for link in account.reading.links if link.startswith("/oauth2/authorize?")]
    await account.open(back)
    answer = await account.press("Allow", follow=False, decision="allow", workspace_id=owner.id)
    assert "code" in told(answer.headers["location"])


@pytest.mark.parametrize("changes", AGAIN, ids=repr)
async def test_a_passkey_answers_an_application_that_asks_for_a_sign_in(
    safe_gateway, account, owner, changes
):
    passkey = await add_passkey(account)
    await sign_in_was_hours_ago(safe_gateway, owner)
    application = await make_application(safe_gateway)
    await account.open(application.address(**changes))
    await account.press("Sign in with a passkey", passkey=passkey.use(options_of(account.page)))
    (back,) = [link for link in account.reading.links if link.startswith("/oauth2/authorize?")]
    await account.open(back)
    answer = await account.press("Allow", follow=False, decision="allow", workspace_id=owner.id)
    assert "code" in told(answer.headers["location"])


async def test_what_a_second_step_is_for_cannot_be_changed_on_the_way(safe_gateway, account, owner):
    """Signing in for one request must not answer another one, which the form names instead."""
    app = await add_totp(account)
    await forget_last_code(safe_gateway, owner)
    application = await make_application(safe_gateway)
    path = application.address(prompt="login")
    await account.open("/sign-in?again=1")
    await account.press("Sign in", email=owner.user_email, password=PASSWORD)
    await account.press("Sign in", code=app.now(), next=path)
    await account.open(path)
    assert account.path.startswith("/sign-in?")


async def test_the_password_alone_does_not_confirm_a_user_with_a_factor(safe_gateway, account, owner):
    app = await add_totp(account)
    codes = recovery_codes(account.page)
    for right in (app.now, lambda: codes[0]):
        await forget_last_code(safe_gateway, owner)
        await sign_in_was_hours_ago(safe_gateway, owner)
        assert (await ask_for_a_token(account)).status_code == 403
        for wrong in ("", "222222222"):
            answer = await account.press("Continue", confirmed_password=PASSWORD, confirming_code=wrong)
            assert answer.status_code == 422
            assert "This code is wrong" in account.text
        answer = await account.press(
            "Continue", confirmed_password="not the password", confirming_code=right()
        )
        assert answer.status_code == 422
        answer = await account.press("Continue", confirmed_password=PASSWORD, confirming_code=right())
        assert answer.status_code == 201
        assert "dg_pat_" in answer.text


async def test_a_passkey_alone_confirms_its_user(safe_gateway, account, owner):
    passkey = await add_passkey(account)
    await sign_in_was_hours_ago(safe_gateway, owner)
    await ask_for_a_token(account)
    answer = await account.press(
        "Use a passkey instead", confirming_passkey=passkey.use(options_of(account.page))
    )
    assert answer.status_code == 201
    assert "dg_pat_" in answer.text


async def test_an_unverified_or_foreign_passkey_confirms_no_user(safe_gateway, account, owner):
    passkey = await add_passkey(account, verifies=False)
    attacker = await make_tenant(safe_gateway)
    async with signed_in(safe_gateway, attacker) as own:
        theirs = await add_passkey(own)
    await sign_in_was_hours_ago(safe_gateway, owner)
    await ask_for_a_token(account)
    for used in (passkey, theirs):
        options = options_of(account.page)
        answer = await account.press("Use a passkey instead", confirming_passkey=used.use(options))
        assert answer.status_code == 422
        assert "This passkey was not accepted" in account.text


async def test_guessing_codes_of_an_open_session_ends_too(safe_gateway, account, owner):
    await add_totp(account)
    await sign_in_was_hours_ago(safe_gateway, owner)
    await account.open("/confirm-password")
    statuses = []
    for _ in range(11):
        page = account.page
        answer = await account.press("Continue", confirmed_password=PASSWORD, confirming_code="222222222")
        statuses.append(answer.status_code)
        if answer.status_code == 429:
            account.page = page
    assert statuses == [422] * 10 + [429]
    subjects = [mail.subject for mail in await mails_to(safe_gateway, owner.user_email)]
    assert subjects.count("Wrong codes after your password") == 1


@pytest.mark.parametrize("button", ["Remove app", "Remove passkey", "Create new codes", "Add passkey"])
async def test_a_session_of_yesterday_changes_no_factors(safe_gateway, account, owner, button):
    """Else a browser that was left open lets somebody in for good, or the second factor out."""
    await add_totp(account)
    passkey = await add_passkey(account)
    await account.open(SECURITY)
    await sign_in_was_hours_ago(safe_gateway, owner)
    sent = {"name": "Mine", "passkey": passkey.create(options_of(account.page))}
    answer = await account.press(button, **(sent if button == "Add passkey" else {}))
    assert answer.status_code == 403
    assert "Confirm your identity" in account.text
    await account.open(SECURITY)
    assert "Unused codes: 10." in account.text
    assert {"Remove app", "Remove passkey"} <= {
        name for form in account.reading.forms for name in form.buttons
    }
    assert "Mine" not in account.text


async def test_a_new_password_by_mail_keeps_the_second_factor(safe_gateway, account, owner, browser):
    app = await add_totp(account)
    await forget_last_code(safe_gateway, owner)
    await browser.open("/forgotten-password")
    await browser.press("Email me a link", email=owner.user_email)
    text = (await mails_to(safe_gateway, owner.user_email))[-1].text
    await browser.open(next(line for line in text.split() if "/new-password?" in line))
    await browser.press("Set password", password=NEW_PASSWORD)
    await browser.press("Sign in", email=owner.user_email, password=NEW_PASSWORD)
    assert browser.path.startswith(SECOND_STEP)
    assert not is_signed_in(browser)
    await browser.press("Sign in", code=app.now())
    assert is_signed_in(browser)
