"""What a user's own account may have at its end, at a new password, and while its address is unconfirmed."""

from datetime import timedelta
from uuid import UUID

import pytest

from resolvers.accounts.users import verify_address
from resolvers.credentials.oauth_clients import list_clients
from resolvers.sign_in import attempts
from resolvers.sign_in.attempts import FREE_ATTEMPTS
from storage.clock import now
from storage.rows.rows import one, table_of
from storage.tables.accounts.users import UserRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from tests.support.browsers.browsing import PASSWORD, signed_in
from tests.support.mails.mailed import mails_to
from tests.support.mails.mailed_links import NEW_PASSWORD, latest_link, sign_in_unconfirmed
from tests.support.servers.gateways import start_session
from tests.support.tenants.membership import make_member

_users = table_of(UserRow)


async def test_the_applications_of_a_user_end_with_the_account(gateway, caller, tenant):
    member = await make_member(gateway, tenant)
    data = {"name": "Own", "redirect_uris": ["https://app.example.com/"], "scopes": ["openid"]}
    own = caller(None).in_browser(await start_session(gateway, member.user_id))
    made = await own.create_oauth_client(data=data)
    async with gateway.database.read() as connection:
        ((client, _),) = await list_clients(connection, user_id=UUID(member.id))
    assert client.client_id == (made.get("oauth_client") or made)["client_id"]
    async with signed_in(gateway, member) as browser:
        await browser.open("/account")
        await browser.press("Delete my account")
        assert "Your account is deleted." in browser.text
    async with gateway.database.read() as connection:
        ended = await one(connection, OAuthClientRow, table_of(OAuthClientRow).c.id == client.id)
    assert ended.deleted_at is not None


async def test_an_unconfirmed_address_is_not_told_of_a_new_password(gateway, browser):
    """It may be that of another person."""
    email = await sign_in_unconfirmed(gateway, browser)
    before = [mail.subject for mail in await mails_to(gateway, email)]
    await browser.open("/account")
    await browser.press("Change password", current_password=PASSWORD, new_password=NEW_PASSWORD)
    assert "personal tokens and applications have lost access" in browser.text
    assert [mail.subject for mail in await mails_to(gateway, email)] == before


async def test_a_link_to_an_address_that_is_confirmed_by_now_changes_nothing(gateway, browser):
    email = await sign_in_unconfirmed(gateway, browser)
    await browser.open(await latest_link(gateway, email))

    async def user(confirm=False):
        async with gateway.database.write() as connection:
            row = await one(connection, UserRow, _users.c.email == email, lock=True)
            return await verify_address(connection, row) if confirm else row

    confirmed = await user(confirm=True)
    await browser.press("Confirm email address")
    assert "Your email address is confirmed" in browser.text
    assert await user() == confirmed


@pytest.mark.parametrize(
    ("failures", "told"), [(FREE_ATTEMPTS + 2, "60 seconds"), (FREE_ATTEMPTS + 4, "4 minutes")]
)
async def test_who_guesses_on_is_told_in_seconds_and_then_in_minutes(
    gateway, browser, tenant, monkeypatch, failures, told
):
    moment = now()
    for number in range(failures):
        # An hour ends each delay, and not what is counted.
        monkeypatch.setattr(attempts, "now", lambda at=moment + number * timedelta(hours=1): at)
        assert (await browser.sign_in(tenant.user_email, "not the password")).status_code == 422
    answer = await browser.sign_in(tenant.user_email, "not the password")
    assert answer.status_code == 429
    assert f"Try again in {told}, or reset your password" in browser.text
