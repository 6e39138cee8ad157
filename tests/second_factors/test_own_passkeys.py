"""Adding, renaming and removing passkeys, and what attackers try to add."""

import re
from uuid import UUID

import pytest
from sqlalchemy import select, update

from oauth.sign_in.passkeys import RelyingParty
from resolvers.second_factors.passkeys import MOST_PASSKEYS
from storage.retention.deletion import delete_ended
from storage.retention.rules import RULES
from storage.rows.rows import table_of
from storage.tables.accounts.second_factors import PasskeyRow
from storage.tables.accounts.second_steps import AnsweredChallengeRow
from storage.tables.accounts.users import UserRow
from tests.second_factors.acting import SECURITY, add_passkey, add_totp, options_of, signed_in
from tests.support.browsers.authenticator import Authenticator
from tests.support.browsers.browsing import browsing
from tests.support.mails.mailed import mails_to
from tests.support.servers.gateways import make_tenant

REFUSED = "This passkey was not accepted"
ALONE = "Sign in with a passkey"
OF_ANSWERS = [rule for rule in RULES if rule.model is AnsweredChallengeRow]
_passkeys, _users = table_of(PasskeyRow), table_of(UserRow)


async def passkeys_of(gateway, tenant):
    async with gateway.database.read() as connection:
        wanted = select(_passkeys).where(_passkeys.c.user_id == UUID(tenant.user_id))
        return (await connection.execute(wanted)).mappings().all()


async def test_a_passkey_of_another_user_cannot_be_registered(safe_gateway, account, owner):
    """Otherwise, signing in with it would open the account that registered it last."""
    victim = await add_passkey(account)
    attacker = await make_tenant(safe_gateway)
    async with signed_in(safe_gateway, attacker) as own:
        same = Authenticator(credential_id=victim.credential_id)
        sent = same.create(options_of(own.page))
        answer = await own.press("Add passkey", name="Mine", passkey=sent)
        assert answer.status_code == 422
    assert await passkeys_of(safe_gateway, attacker) == []
    assert len(await passkeys_of(safe_gateway, owner)) == 1


@pytest.mark.both_databases
async def test_a_passkey_is_added_by_an_answer_to_this_session_once(safe_gateway, account, owner):
    """An attacker's answer, or an old one, adds nothing."""
    attacker = await make_tenant(safe_gateway)
    async with signed_in(safe_gateway, attacker) as own:
        theirs = Authenticator().create(options_of(own.page))
    await account.press("Add passkey", name="Theirs", passkey=theirs)
    assert REFUSED in account.text
    options = options_of(account.page)
    await account.press("Add passkey", name="Phone", passkey=Authenticator().create(options))
    # Nor once the answers of challenges that have ended are deleted.
    while await delete_ended(safe_gateway.database, OF_ANSWERS):
        pass
    await account.open(SECURITY)
    await account.press("Add passkey", name="Again", passkey=Authenticator().create(options))
    assert REFUSED in account.text
    (row,) = await passkeys_of(safe_gateway, owner)
    assert row["name"] == "Phone"


async def test_a_passkeys_name_puts_no_link_into_a_mail(safe_gateway, account, owner):
    await add_passkey(account, "Now at https://evil.test or evil.test, +1 555 0100")
    await account.open(SECURITY)
    await account.press("Remove passkey")
    mails = [mail for mail in await mails_to(safe_gateway, owner.user_email) if "passkey" in mail.subject]
    assert [mail.subject for mail in mails] == ["A passkey was added", "A passkey was removed"]
    for mail in mails:
        # Colours have digits too.
        shown = re.sub(r"<style.*?</style>|<[^>]+>", "", mail.html, flags=re.DOTALL)
        for said in (mail.text, shown):
            assert "Now at" in said
            assert "evil.test" not in said
            # The address has digits of its own, drawn anew in each run.
            assert "555" not in said.replace(owner.user_email, "")


async def test_an_account_has_ten_passkeys_at_most(safe_gateway, account, owner):
    options = options_of(account.page)
    for number in range(MOST_PASSKEYS):
        await add_passkey(account, f"Key {number}")
    assert "the maximum" in (await account.open(SECURITY)).text
    fields = [*account.form("Create new codes").fields, ("name", "One more")]
    answer = await account.send(
        f"{SECURITY}/passkeys", [*fields, ("passkey", Authenticator().create(options))]
    )
    assert answer.status_code == 403
    assert len(await passkeys_of(safe_gateway, owner)) == MOST_PASSKEYS


async def test_an_account_whose_address_is_not_confirmed_gets_no_factor(safe_gateway, account, owner):
    """Else somebody who signs up with the address of another keeps a way in once its owner takes over."""
    options = options_of(account.page)
    token = account.form("Add passkey").fields
    async with safe_gateway.database.write() as connection:
        mine = _users.c.id == UUID(owner.user_id)
        await connection.execute(update(_users).where(mine).values(email_verified_at=None))
    assert "confirm your email address" in (await account.open(SECURITY)).text
    assert (await account.open(f"{SECURITY}/authenticator-app")).status_code == 403
    sent = dict(token) | {"name": "Phone", "passkey": Authenticator().create(options)}
    assert (await account.send(f"{SECURITY}/passkeys", list(sent.items()))).status_code == 403
    assert await passkeys_of(safe_gateway, owner) == []


async def test_passkeys_are_renamed_and_removed(safe_gateway, account, owner, browser):
    passkey = await add_passkey(account)
    await account.open(SECURITY)
    await account.press("Rename", new_name="Laptop")
    assert "Laptop" in account.text
    await account.press("Remove passkey")
    assert await passkeys_of(safe_gateway, owner) == []
    await browser.open("/sign-in")
    await browser.press(ALONE, passkey=passkey.use(options_of(browser.page)))
    assert REFUSED in browser.text
    subjects = [mail.subject for mail in await mails_to(safe_gateway, owner.user_email)]
    assert {"A passkey was added", "A passkey was removed"} <= set(subjects)


async def test_the_forms_of_another_site_add_and_remove_nothing(safe_gateway, account, owner):
    await add_totp(account)
    await account.open(SECURITY)
    for button in ("Remove app", "Create new codes", "Add passkey"):
        form = account.form(button)
        elsewhere = {"Sec-Fetch-Site": "cross-site"}
        page = account.page
        assert (await account.send(form.action, form.fields, **elsewhere)).status_code == 403
        unsigned = [field for field in form.fields if field[0] != "form_token"]
        assert (await account.send(form.action, unsigned)).status_code == 403
        account.page = page


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://duograph.example", "duograph.example"),
        ("https://duograph.example:8443", "duograph.example"),
        ("http://localhost:8000", "localhost"),
        ("http://duograph.example", None),
        ("http://127.0.0.1:8000", None),
        ("https://192.0.2.1", None),
        ("https://[2001:db8::1]", None),
    ],
)
def test_passkeys_are_offered_where_browsers_have_them(url, host):
    party = RelyingParty.at(url)
    assert (party and party.id) == host
    assert party is None or party.origin == url


async def test_without_a_host_name_the_pages_offer_no_passkeys(gateway, tenant):
    async with browsing(gateway, "http://gateway") as browser:
        await browser.open("/sign-in")
        assert ALONE not in browser.text
