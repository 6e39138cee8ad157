"""The user's own name, and the end of the account."""

import asyncio
from urllib.parse import urlencode
from uuid import UUID

import pytest

from tests.support.browsers.browsing import PASSWORD, browsing, sign_in_was_hours_ago, signed_in
from tests.support.mails.mailed import mails_to
from tests.support.mails.mailed_links import open_sign_up_link
from tests.support.tenants.membership import make_member, make_user, members_of, references_to

DELETE = "Delete my account"


async def name_of(api):
    return (await api.get_viewer())["user"]["name"]


async def test_a_name_is_changed_and_removed(owner, api, tenant):
    await owner.open("/account")
    assert dict(owner.form("Save name").fields)["name"] == "Ada"
    await owner.press("Save name", name=" Ada <Lovelace> ")
    assert "Name saved." in owner.text
    assert await name_of(api) == "Ada <Lovelace>"
    (member,) = (await api.list_workspace_members(workspace_id=[tenant.id]))["data"]
    assert member["name"] == "Ada <Lovelace>"
    await owner.press("Save name", name="")
    assert await name_of(api) is None


async def test_a_name_that_was_changed_elsewhere_is_asked_about(gateway, owner, tenant, api):
    await owner.open("/account")
    async with signed_in(gateway, tenant) as elsewhere:
        await elsewhere.open("/account")
        await elsewhere.press("Save name", name="Theirs")
    assert (await owner.press("Save name", name="Mine")).status_code == 409
    assert "It is now Theirs" in owner.text
    await owner.press("Save name")
    assert await name_of(api) == "Mine"


async def test_a_name_that_cannot_be_shown_is_refused(owner, api, tenant):
    await owner.open("/account")
    assert (await owner.press("Save name", name="x" * 257)).status_code == 422
    assert 'href="#name"' in owner.page.text
    assert await name_of(api) == "Ada"


async def test_a_deleted_account_leaves_nothing_that_works(gateway, owner, api, tenant):
    other = await make_member(gateway, tenant, "owner")
    data = {"comment": "nightly", "scopes": ["shares:read"], "workspace_id": tenant.id}
    made = (await api.create_workspace_access_token(data=data))["token"]
    await owner.open("/account")
    await owner.press(DELETE)
    assert "Your account is deleted." in owner.text
    await owner.open("/account")
    assert owner.path.startswith("/sign-in")
    assert (await owner.sign_in(tenant.user_email)).status_code == 422
    for token in (tenant.personal_token, made):
        headers = {"Authorization": f"Bearer {token}"}
        assert (await gateway.client.get("/api/viewer", headers=headers)).status_code == 401
    listing = await api.with_token(other.token).list_workspace_members(workspace_id=[tenant.id])
    assert [member["email"] for member in listing["data"]] == [other.email]
    assert await references_to(gateway, UUID(tenant.user_id)) == []
    *_, mail = await mails_to(gateway, tenant.user_email)
    assert mail.subject == "Your account was deleted"


@pytest.mark.both_databases
async def test_a_form_that_is_sent_twice_at_once_deletes_the_account_once(gateway, tenant):
    user = await make_member(gateway, tenant)
    async with signed_in(gateway, user) as owner:
        await owner.open("/account")
        form = owner.form(DELETE)
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        content = urlencode(form.fields).encode()
        answers = await asyncio.gather(
            *(owner.client.post(form.action, content=content, headers=headers) for _ in range(4))
        )
    assert {answer.status_code for answer in answers} == {303}
    assert await references_to(gateway, UUID(user.id)) == []


async def test_the_address_of_a_deleted_account_can_sign_up_anew(gateway):
    user = await make_user(gateway)
    async with signed_in(gateway, user) as owner:
        await owner.open("/account")
        await owner.press(DELETE)
        await open_sign_up_link(gateway, owner, user.email)
        await owner.press("Create account", password=PASSWORD)
        assert "Your account is ready." in owner.text


async def test_the_last_owner_of_workspaces_is_told_which_and_stays(gateway, owner, api, tenant):
    await make_member(gateway, tenant)
    await owner.open("/workspaces")
    slug = f"{tenant.slug}-2"
    await owner.press("Create workspace", name="Second", slug=slug)
    await owner.open("/account")
    assert (await owner.press(DELETE)).status_code == 422
    for each in (tenant.slug, slug):
        assert f'href="/workspaces/{each}/members"' in owner.page.text
        assert f'href="/workspaces/{each}#deletion-heading"' in owner.page.text
    assert await name_of(api) == "Ada"
    assert (await members_of(api, tenant))[tenant.user_email] == "owner"


async def test_a_sole_owner_deletes_the_workspace_first(gateway, owner, tenant):
    await owner.open(f"/workspaces/{tenant.slug}")
    await owner.press("Delete this workspace", slug=tenant.slug)
    await owner.open("/account")
    await owner.press(DELETE)
    assert "Your account is deleted." in owner.text
    assert await references_to(gateway, UUID(tenant.user_id)) == []


async def test_a_deletion_asks_for_the_password_after_an_hour(gateway):
    own = await make_user(gateway)
    async with signed_in(gateway, own) as owner:
        await sign_in_was_hours_ago(gateway, own)
        await owner.open("/account")
        assert (await owner.press(DELETE)).status_code == 403
        assert await references_to(gateway, UUID(own.id)) != []
        await owner.press("Continue", confirmed_password=PASSWORD)
        assert "Your account is deleted." in owner.text


@pytest.mark.parametrize("path", ["/account/name", "/account/email", "/account/delete"])
async def test_only_the_own_pages_change_an_account(gateway, owner, api, tenant, path):
    forged = [("name", "Eve"), ("email", "eve@example.com")]
    assert (await owner.send(path, forged)).status_code == 403
    await owner.open("/account")
    token = dict(owner.form("Save name").fields)["form_token"]
    answer = await owner.send(path, [*forged, ("form_token", token)], **{"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    async with browsing(gateway) as visitor:
        await visitor.open("/sign-in")
        await visitor.send(path, [*forged, ("form_token", token)])
        assert visitor.path.startswith("/sign-in")
    assert (await api.get_viewer())["user"]["email"] == tenant.user_email
