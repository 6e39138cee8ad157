"""A user's email address changes by a link sent to the new one, and its former owner learns of it."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest

from storage.clock import now
from tests.support.browsers.browsing import PASSWORD, browsing, sign_in_was_hours_ago, signed_in
from tests.support.mails.mailed import mails_to
from tests.support.mails.mailed_links import (
    NEW_PASSWORD,
    ask_for_a_link,
    change_address,
    change_links,
    latest_link,
    mailed_links,
    sign_in_unconfirmed,
    token_of,
)
from tests.support.tenants.membership import make_member, members_of, new_email

REQUEST, CONFIRM = "Change email address", "Use this address"


async def request(owner, new):
    await owner.open("/account")
    return await owner.press(REQUEST, email=new)


async def email_of(api):
    return (await api.get_viewer())["user"]["email"]


async def test_the_address_changes_once_its_link_is_used(gateway, owner, api, tenant):
    new = new_email().replace("u-", "Up-")
    await request(owner, new)
    assert "Email sent." in owner.text
    assert f"We sent a link to {new} ." in owner.text
    assert await email_of(api) == tenant.user_email
    await owner.open(await latest_link(gateway, new))
    assert new in owner.text
    assert await email_of(api) == tenant.user_email
    await owner.press(CONFIRM)
    assert "Your email address has changed" in owner.text
    # The spelling is kept, and the account signs in by the new address only.
    assert await email_of(api) == new
    async with browsing(gateway) as elsewhere:
        assert (await elsewhere.sign_in(tenant.user_email)).status_code == 422
        assert (await elsewhere.sign_in(new.lower())).status_code == 200
    await owner.open("/account")
    assert "We sent a link" not in owner.text
    assert "Confirm your email address" not in owner.text


async def test_the_former_address_is_told_before_and_after(gateway, owner, tenant):
    new = new_email()
    await request(owner, new)
    (before,) = await mails_to(gateway, tenant.user_email)
    assert (before.subject, new in before.text) == ("Your email address is about to change", True)
    assert "http://gateway/forgotten-password" in before.text
    await owner.open(await latest_link(gateway, new))
    await owner.press(CONFIRM)
    _, after = await mails_to(gateway, tenant.user_email)
    assert (after.subject, new in after.text) == ("Your email address was changed", True)
    # A mail to the new address does not tell a stranger whose account it is.
    (mail,) = await mails_to(gateway, new)
    assert tenant.user_email not in mail.text + mail.html


async def test_an_address_without_confirmation_is_replaced_and_not_mailed(gateway):
    async with browsing(gateway) as owner:
        mistyped, new = await sign_in_unconfirmed(gateway, owner), new_email()
        await request(owner, new)
        await owner.open(await latest_link(gateway, new))
        await owner.press(CONFIRM)
        await owner.open("/account")
        assert new in owner.text
        assert "Confirm your email address" not in owner.text
        assert len(await mails_to(gateway, mistyped)) == 1
        await owner.open(await latest_link(gateway, mistyped))
        assert owner.page.status_code == 410
        assert new not in owner.text.partition("Sign out")[2]


async def test_a_link_works_once_and_only_the_latest(gateway, owner, api, tenant):
    first, second = new_email(), new_email()
    await request(owner, first)
    await request(owner, second)
    replaced = await latest_link(gateway, first)
    assert (await owner.open(replaced)).status_code == 410
    assert "This link no longer works" in owner.text
    link = await latest_link(gateway, second)
    await owner.open(link)
    form = owner.form(CONFIRM)
    await owner.press(CONFIRM)
    assert (await owner.send(form.action, form.fields)).status_code == 410
    assert "This link has already been used" in owner.text
    assert (await owner.open("/confirm-new-address?token=nonsense")).status_code == 404
    assert await email_of(api) == second


async def test_an_expired_link_changes_nothing(gateway, owner, api, tenant):
    new = new_email()
    await request(owner, new)
    link = await latest_link(gateway, new)
    await owner.open(link)
    form = owner.form(CONFIRM)
    await change_links(gateway, tenant.user_email, expires_at=now() - timedelta(seconds=1))
    assert (await owner.send(form.action, form.fields)).status_code == 410
    assert "This link has expired" in owner.text
    await owner.open("/account")
    assert "We sent a link" not in owner.text
    assert await email_of(api) == tenant.user_email


async def test_another_account_cannot_use_the_link(gateway, owner, api, tenant, other_tenant):
    new = new_email()
    await request(owner, new)
    link = await latest_link(gateway, new)
    async with browsing(gateway) as stranger:
        await stranger.open(link)
        assert "Sign in to confirm your new email address" in stranger.text
        form = stranger.form("Sign in to this account")
        await stranger.open(f"{form.action}?{urlencode(form.fields)}")
        assert stranger.path.startswith("/sign-in")
    async with signed_in(gateway, other_tenant) as stranger:
        await stranger.open("/account")
        (token, *_) = [value for name, value in stranger.form(REQUEST).fields if name == "form_token"]
        sent = [("form_token", token), ("token", token_of(link))]
        assert (await stranger.send("/confirm-new-address", sent)).status_code == 403
    assert await email_of(api) == tenant.user_email
    await owner.open(link)
    await owner.press(CONFIRM)
    assert await email_of(api) == new


async def test_the_own_address_and_what_is_none_are_refused(owner, tenant):
    for email, message in (
        (tenant.user_email, "This is your email address already"),
        ("nowhere", "Enter an email address"),
    ):
        assert (await request(owner, email)).status_code == 422
        assert message in owner.text
        assert dict(owner.form(REQUEST).fields)["email"] == email


async def test_the_page_does_not_tell_whether_another_account_has_the_address(gateway, owner, other_tenant):
    """Its owner is told instead, and is sent no link that could give the address away."""
    pages = []
    for email in (other_tenant.user_email, new_email()):
        answer = await request(owner, email)
        pages.append((answer.status_code, owner.text.replace(email, "")))
    assert pages[0] == pages[1]
    (told,) = await mails_to(gateway, other_tenant.user_email)
    assert told.subject == "You already have an account"
    assert "confirm-new-address" not in told.text + told.html


async def test_an_address_that_was_taken_meanwhile_is_not_taken_over(
    gateway, owner, api, tenant, other_tenant
):
    new = new_email()
    await request(owner, new)
    await owner.open(await latest_link(gateway, new))
    await change_address(gateway, other_tenant.user_email, new)
    assert (await owner.press(CONFIRM)).status_code == 422
    assert "This address has an account" in owner.text
    assert await email_of(api) == tenant.user_email


@pytest.mark.parametrize("by_mail", [False, True])
async def test_a_new_password_ends_the_link(gateway, owner, tenant, by_mail):
    new = new_email()
    await request(owner, new)
    async with signed_in(gateway, tenant) as again:
        if by_mail:
            await ask_for_a_link(again, tenant.user_email)
            await again.open(await latest_link(gateway, tenant.user_email))
            await again.press("Set password", password=NEW_PASSWORD)
        else:
            await again.open("/account")
            await again.press("Change password", current_password=PASSWORD, new_password=NEW_PASSWORD)
        assert again.page.status_code == 200
        assert (await again.open(await latest_link(gateway, new))).status_code == 410


async def test_a_sign_in_of_hours_ago_has_to_be_confirmed(gateway, owner, tenant):
    new = new_email()
    await sign_in_was_hours_ago(gateway, tenant)
    assert (await request(owner, new)).status_code == 403
    assert "Confirm your identity" in owner.text
    assert await mails_to(gateway, new) == []
    await owner.press("Continue", confirmed_password=PASSWORD)
    assert len(await mailed_links(gateway, new)) == 1


async def test_memberships_follow_the_address(gateway, owner, api, tenant):
    """The former address can be invited anew, and an invitation of the new one is moot."""
    new = new_email()
    other = await make_member(gateway, tenant, "owner")
    await api.invite_workspace_member(data={"email": new})
    await request(owner, new)
    await owner.open(await latest_link(gateway, new))
    await owner.press(CONFIRM)
    assert await members_of(api, tenant) == {new: "owner", other.email: "owner"}
    invited = await api.invite_workspace_member(data={"email": tenant.user_email})
    assert invited["status"] == "invited"


async def test_no_more_than_five_links_an_hour(gateway, owner, tenant):
    for _ in range(5):
        assert (await request(owner, new_email())).status_code == 200
    assert (await request(owner, new_email())).status_code == 429
