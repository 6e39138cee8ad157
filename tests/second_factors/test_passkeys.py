"""Passkeys by an authenticator in software, and what attackers try with them."""

import json
from contextlib import suppress
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from oauth.sign_in.passkeys import Refused, RelyingParty, challenge_of_creation, read_assertion
from storage.rows.rows import table_of
from storage.tables.accounts.second_factors import PasskeyRow
from storage.tables.accounts.users import UserRow
from tests.second_factors.acting import (
    SECOND_STEP,
    add_passkey,
    is_signed_in,
    options_of,
    recovery_codes,
    signed_in,
)
from tests.support.browsers.authenticator import Authenticator, from_text
from tests.support.browsers.browsing import browsing
from tests.support.mails.mailed import mails_to
from tests.support.servers.gateways import make_tenant

REFUSED = "This passkey was not accepted"
ALONE = "Sign in with a passkey"
AFTER_PASSWORD = "Use a passkey"
KEY = generate_private_key(SECP256R1())
_passkeys, _users = table_of(PasskeyRow), table_of(UserRow)


async def passkeys_of(gateway, tenant):
    async with gateway.database.read() as connection:
        wanted = select(_passkeys).where(_passkeys.c.user_id == UUID(tenant.user_id))
        return (await connection.execute(wanted)).mappings().all()


async def show(browser, way, tenant):
    """Open the page that takes a passkey; gives its options."""
    if way == ALONE:
        await browser.open("/sign-in?next=/account")
    else:
        await browser.sign_in(tenant.user_email, next_path="/account")
        assert browser.path.startswith(SECOND_STEP)
    return options_of(browser.page)


@pytest.mark.parametrize("way", [ALONE, AFTER_PASSWORD])
async def test_a_passkey_signs_in(safe_gateway, account, owner, browser, way):
    passkey = await add_passkey(account)
    assert len(recovery_codes(account.page)) == 10
    options = await show(browser, way, owner)
    await browser.press(way, passkey=passkey.use(options))
    assert browser.path == "/account"
    assert is_signed_in(browser)
    (row,) = await passkeys_of(safe_gateway, owner)
    assert (row["sign_count"], row["last_used_at"] is None) == (2, False)


async def test_a_passkey_signs_in_while_codes_are_blocked(account, owner, browser):
    passkey = await add_passkey(account)
    for _ in range(2):
        await browser.sign_in(owner.user_email)
        for _ in range(5):
            await browser.press("Sign in", code="000000")
    await show(browser, AFTER_PASSWORD, owner)
    assert (await browser.press("Sign in", code="000000")).status_code == 429
    await browser.open(SECOND_STEP)
    await browser.press(AFTER_PASSWORD, passkey=passkey.use(options_of(browser.page)))
    assert is_signed_in(browser)


@pytest.mark.parametrize("way", [ALONE, AFTER_PASSWORD])
async def test_an_answer_that_was_seen_does_not_work_again(safe_gateway, account, owner, browser, way):
    """Not even from an authenticator that does not count."""
    passkey = await add_passkey(account, sign_count=0)
    answer = passkey.use(await show(browser, way, owner))
    form = browser.form(way)
    await browser.press(way, passkey=answer)
    assert is_signed_in(browser)
    fields = [(name, answer if name == "passkey" else value) for name, value in form.fields]
    before = browser.client.cookies["__Host-duograph_session"]
    await browser.send(form.action, fields)
    assert browser.client.cookies["__Host-duograph_session"] == before
    async with browsing(safe_gateway, "https://gateway") as thief:
        await show(thief, way, owner)
        await thief.press(way, passkey=answer)
        assert REFUSED in thief.text
        assert not is_signed_in(thief)


@pytest.mark.parametrize("way", [ALONE, AFTER_PASSWORD])
async def test_an_answer_made_for_another_browser_or_another_page_is_refused(
    safe_gateway, account, owner, browser, way
):
    passkey = await add_passkey(account)
    other = AFTER_PASSWORD if way == ALONE else ALONE
    async with browsing(safe_gateway, "https://gateway") as thief:
        for page in (way, other):
            options = await show(thief, page, owner)
            await show(browser, way, owner)
            await browser.press(way, passkey=passkey.use(options))
            assert REFUSED in browser.text
    own = await show(browser, other, owner)
    await show(browser, way, owner)
    await browser.press(way, passkey=passkey.use(own))
    assert REFUSED in browser.text
    assert not is_signed_in(browser)


@pytest.mark.parametrize("way", [ALONE, AFTER_PASSWORD])
@pytest.mark.parametrize(
    "lie",
    [{"origin": "https://gateway.evil.example"}, {"origin": "http://gateway"}, {"rp_id": "evil.example"}],
    ids=str,
)
async def test_a_passkey_used_on_another_site_is_refused(account, owner, browser, way, lie):
    passkey = await add_passkey(account)
    for name, value in lie.items():
        setattr(passkey, name, value)
    await browser.press(way, passkey=passkey.use(await show(browser, way, owner)))
    assert REFUSED in browser.text
    assert not is_signed_in(browser)


@pytest.mark.parametrize("way", [ALONE, AFTER_PASSWORD])
async def test_another_key_for_the_same_passkey_is_refused(account, owner, browser, way):
    real = await add_passkey(account)
    forged = Authenticator(credential_id=real.credential_id, sign_count=9, user_handle=real.user_handle)
    await browser.press(way, passkey=forged.use(await show(browser, way, owner)))
    assert REFUSED in browser.text
    assert not is_signed_in(browser)


@pytest.mark.parametrize("way", [ALONE, AFTER_PASSWORD])
@pytest.mark.parametrize("count", [0, 1, 5])
async def test_a_copied_passkey_with_a_lower_counter_is_refused_and_its_owner_notified(
    safe_gateway, account, owner, browser, way, count
):
    passkey = await add_passkey(account, sign_count=5)
    passkey.sign_count = count
    await browser.press(way, passkey=passkey.use(await show(browser, way, owner)))
    assert REFUSED in browser.text
    assert not is_signed_in(browser)
    subjects = [mail.subject for mail in await mails_to(safe_gateway, owner.user_email)]
    assert subjects.count("A passkey was refused") == 1


async def test_a_passkey_alone_needs_an_authenticator_that_checks_its_user(account, owner, browser):
    """Else a security key that lies about would be enough; after the password it is."""
    passkey = await add_passkey(account, verifies=False)
    await browser.press(ALONE, passkey=passkey.use(await show(browser, ALONE, owner)))
    assert REFUSED in browser.text
    assert not is_signed_in(browser)
    await browser.press(AFTER_PASSWORD, passkey=passkey.use(await show(browser, AFTER_PASSWORD, owner)))
    assert is_signed_in(browser)


async def test_ones_own_passkey_does_not_open_the_step_of_another_user(safe_gateway, account, owner, browser):
    victim = await add_passkey(account)
    attacker = await make_tenant(safe_gateway)
    async with signed_in(safe_gateway, attacker) as own:
        passkey = await add_passkey(own)
    for handle in (passkey.user_handle, victim.user_handle, None):
        passkey.user_handle = handle
        options = await show(browser, AFTER_PASSWORD, owner)
        await browser.press(AFTER_PASSWORD, passkey=passkey.use(options))
        assert REFUSED in browser.text
    assert not is_signed_in(browser)


async def test_a_passkey_does_not_sign_in_as_the_user_that_its_answer_names(
    safe_gateway, account, owner, browser
):
    victim = await add_passkey(account)
    attacker = await make_tenant(safe_gateway)
    async with signed_in(safe_gateway, attacker) as own:
        passkey = await add_passkey(own)
    passkey.user_handle = victim.user_handle
    await browser.press(ALONE, passkey=passkey.use(await show(browser, ALONE, owner)))
    assert REFUSED in browser.text
    assert not is_signed_in(browser)


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "null",
        "[]",
        '{"id": 1}',
        "[" * 8_000,
        '{"id": "AA", "rawId": "AA", "type": "public-key", "response": {}}',
        '{"id": "\\u0000", "rawId": "\\u0000", "type": "public-key", "response": {"clientDataJSON": "e30",'
        ' "authenticatorData": "AA", "signature": "AA", "attestationObject": "oA"}}',
    ],
    ids=lambda text: text[:30],
)
async def test_what_is_no_passkey_is_refused(account, browser, sent):
    assert (await account.press("Add passkey", name="Phone", passkey=sent)).status_code == 422
    await browser.open("/sign-in")
    assert (await browser.press(ALONE, passkey=sent)).status_code == 422


async def test_altered_answers_are_refused(account, owner, browser):
    passkey = await add_passkey(account)
    options = await show(browser, ALONE, owner)
    true = json.loads(passkey.use(options))["response"]
    for name in ("clientDataJSON", "authenticatorData", "signature"):
        text = true[name]
        altered = text[:-3] + ("AAA" if text[-3:] != "AAA" else "BBB")
        await browser.press(ALONE, passkey=passkey.use(options, **{name: altered}))
        assert REFUSED in browser.text
        assert not is_signed_in(browser)


@settings(max_examples=200, derandomize=True)
@given(data=st.data())
def test_no_altered_answer_is_accepted_and_none_breaks_the_parsers(data):
    """Any text of a true answer changed anywhere; what is then accepted has the same signed parts."""
    party, passkey = RelyingParty("gateway", "https://gateway"), Authenticator(key=KEY)
    challenge = b"a challenge of ours"
    made = party.creation_options(challenge, UUID(int=7), "ada@example.com", [])
    created = party.check_creation(passkey.create(made), challenge)
    sent = data.draw(
        st.sampled_from([passkey.create(made), passkey.use(party.request_options(challenge, verified=True))])
    )
    at = data.draw(st.integers(0, 9_999)) * len(sent) // 10_000  # Its length varies with the signature.
    altered = sent[:at] + data.draw(st.sampled_from('A7_-"{}[]:,\\ \x00\xe9')) + sent[at + 1 :]
    with suppress(Refused):
        party.check_creation(altered, challenge_of_creation(altered))
    with suppress(Refused):
        assertion = read_assertion(altered)
        party.check_use(assertion, created.public_key, verified=True)
        assert signed_parts(altered) == signed_parts(sent)


def signed_parts(sent):
    response = json.loads(sent)["response"]
    return [from_text(response[name]) for name in ("clientDataJSON", "authenticatorData", "signature")]
