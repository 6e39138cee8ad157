"""Recovery codes: ten, each once, in the place of a factor."""

from uuid import UUID

import pytest

from resolvers.second_factors.overview import reset_factors
from tests.second_factors.acting import (
    SECOND_STEP,
    SECURITY,
    add_passkey,
    add_totp,
    is_signed_in,
    recovery_codes,
    signed_in,
)
from tests.second_factors.conftest import ADDRESS
from tests.support.browsers.browsing import browsing
from tests.support.mails.mailed import mails_to
from tests.support.servers.gateways import make_tenant

pytestmark = pytest.mark.both_databases

WRONG = "This code is wrong or has been used"


async def test_a_recovery_code_signs_in_once_and_its_owner_is_notified(safe_gateway, account, owner, browser):
    await add_totp(account)
    code = recovery_codes(account.page)[3]
    await browser.sign_in(owner.user_email)
    await browser.press("Sign in", code=f" {code.lower().replace('-', ' ')} ")
    assert is_signed_in(browser)
    (mail,) = [mail for mail in await mails_to(safe_gateway, owner.user_email) if "recovery" in mail.subject]
    assert "Unused codes: 9." in mail.text
    assert code not in mail.text
    async with browsing(safe_gateway, "https://gateway") as thief:
        await thief.sign_in(owner.user_email)
        await thief.press("Sign in", code=code)
        assert WRONG in thief.text
        assert not is_signed_in(thief)


async def test_new_codes_end_the_old_ones(account, owner, browser):
    await add_totp(account)
    old = recovery_codes(account.page)
    await account.open(SECURITY)
    await account.press("Create new codes")
    new = recovery_codes(account.page)
    assert len(new) == 10
    assert not set(old) & set(new)
    await browser.sign_in(owner.user_email)
    await browser.press("Sign in", code=old[0])
    assert WRONG in browser.text
    await browser.press("Sign in", code=new[0])
    assert is_signed_in(browser)


async def test_codes_come_with_the_first_factor_only_and_are_shown_once(account):
    await add_totp(account)
    assert recovery_codes(account.page)
    await add_passkey(account)
    assert recovery_codes(account.page) == []
    await account.open(SECURITY)
    assert recovery_codes(account.page) == []
    assert "Unused codes: 10." in account.text


async def test_the_page_has_the_codes_as_a_file_too(account):
    await add_totp(account)
    (link,) = (link for link in account.reading.links if link.startswith("data:"))
    assert set(recovery_codes(account.page)) <= set(link.split("%0A"))


async def test_without_a_factor_there_are_no_codes_to_make(safe_gateway):
    tenant = await make_tenant(safe_gateway)
    async with signed_in(safe_gateway, tenant) as browser:
        assert "Create new codes" not in browser.text
        answer = await browser.send(f"{SECURITY}/recovery-codes", browser.form("Sign out").fields)
        assert answer.status_code == 404


async def test_a_reset_where_there_is_nothing_to_reset_is_not_told(safe_gateway, account, owner):
    """An operator may mistake one user for another."""

    async def reset():
        async with safe_gateway.database.write() as connection:
            return await reset_factors(connection, ADDRESS, UUID(owner.user_id))

    before = len(await mails_to(safe_gateway, owner.user_email))
    assert (await reset()).enabled is False
    assert len(await mails_to(safe_gateway, owner.user_email)) == before
    await add_totp(account)
    assert (await reset()).enabled is True
    assert (await reset()).enabled is False
    subjects = [mail.subject for mail in (await mails_to(safe_gateway, owner.user_email))[before:]]
    assert len([subject for subject in subjects if "removed" in subject]) == 1


async def test_a_reset_ends_a_sign_in_that_waits_for_its_second_step(safe_gateway, account, owner, browser):
    await add_totp(account)
    await browser.sign_in(owner.user_email)
    assert browser.path.startswith(SECOND_STEP)
    async with safe_gateway.database.write() as connection:
        await reset_factors(connection, ADDRESS, UUID(owner.user_id))
    await browser.press("Sign in", code="000000")
    assert browser.path.startswith("/sign-in?")
    assert "Sign in again" in browser.text
