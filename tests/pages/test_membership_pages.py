"""The pages of members and invitations: accepting, roles, leaving, and what ends with a membership."""

from tests.support.browsers.browsing import browsing, signed_in
from tests.support.callers.surfaces import Rest
from tests.support.tenants.membership import make_member, make_user, members_of, new_email


async def test_the_mailed_page_leads_by_the_sign_in_to_the_invitation(gateway, owner, api, tenant):
    user = await make_user(gateway)
    await owner.open(f"/workspaces/{tenant.slug}/members")
    await owner.press("Invite", email=user.email, role="owner")
    async with browsing(gateway) as browser:
        await browser.open("/account/invitations")
        assert browser.path == "/sign-in?next=%2Faccount%2Finvitations"
        await browser.press("Sign in", email=user.email, password="a long password")
        assert browser.path == "/account/invitations"
        assert (
            f"Acme {tenant.slug} · as an owner Invited by Ada ({tenant.user_email}); expires" in browser.text
        )
        await browser.open("/workspaces")
        assert tenant.slug not in browser.text
        await browser.open("/account/invitations")
        await browser.press("Accept")
        assert browser.path == f"/workspaces/{tenant.slug}"
        assert "You are now a member of Acme." in browser.text
    assert await members_of(api.with_token(tenant.token), tenant) == {
        tenant.user_email: "owner",
        user.email: "owner",
    }


async def test_an_invitation_is_declined_and_one_that_is_gone_says_so(gateway, api, tenant):
    user = await make_user(gateway)
    invited = await api.invite_workspace_member(data={"email": user.email})
    async with signed_in(gateway, user) as browser:
        await browser.open("/account/invitations")
        accept, decline = browser.form("Accept"), browser.form("Decline")
        await browser.send(decline.action, decline.fields)
        assert "You declined the invitation to Acme." in browser.text
        assert "You have no invitations." in browser.text
        for form in (accept, decline):
            await browser.send(form.action, form.fields)
            assert "This invitation has expired or was withdrawn." in browser.text
    assert invited["email"] not in await members_of(api, tenant)


async def test_without_a_confirmed_address_no_invitation_is_shown(gateway, api, tenant):
    user = await make_user(gateway, confirmed=False)
    await api.invite_workspace_member(data={"email": user.email})
    async with signed_in(gateway, user) as browser:
        await browser.open("/account/invitations")
        assert tenant.slug not in browser.text
        assert "confirm the address first" in browser.text
        await browser.open("/workspaces")
        assert "You have an invitation" not in browser.text


async def test_another_sites_form_accepts_nothing(gateway, api, tenant):
    user = await make_user(gateway)
    await api.invite_workspace_member(data={"email": user.email})
    async with signed_in(gateway, user) as browser:
        await browser.open("/account/invitations")
        form = browser.form("Accept")
        headers = {"Sec-Fetch-Site": "cross-site"}
        assert (await browser.send(form.action, form.fields, **headers)).status_code == 403
        assert (await browser.send(form.action, [])).status_code == 403
        await browser.open("/workspaces")
        assert tenant.slug not in browser.text


async def test_roles_are_changed_by_owners(gateway, owner, api, tenant):
    member = await make_member(gateway, tenant)
    path = f"/workspaces/{tenant.slug}/members"
    await owner.open(path)
    await owner.press("Make an owner")
    assert "Grace is now an owner." in owner.text
    form = next(form for form in owner.reading.forms if member.member_id in form.action)
    await owner.send(form.action, form.fields)
    assert "Grace is now a member." in owner.text
    await owner.press("Make a member")
    assert "This is the last owner of the workspace" in owner.text
    assert (await members_of(api, tenant))[tenant.user_email] == "owner"


async def test_a_member_sees_what_owners_decide_and_cannot_change_it(gateway, api, tenant):
    made = await api.create_workspace_access_token(
        data={"comment": "nightly", "scopes": ["shares:read"], "workspace_id": tenant.id}
    )
    client = await api.create_oauth_client(
        data={
            "name": "Bookkeeper",
            "redirect_uris": ["https://app.example.com/cb"],
            "scopes": ["openid"],
            "workspace_id": tenant.id,
        }
    )
    member = await make_member(gateway, tenant)
    base = f"/workspaces/{tenant.slug}"
    async with signed_in(gateway, member) as browser:
        for path, seen, told in (
            ("/members", tenant.user_email, "Only workspace owners can invite and remove members"),
            ("/access-tokens", "Created by Ada", "Only workspace owners can create and revoke its tokens."),
            ("/oauth-clients", "Created by Ada", "Only workspace owners can create, change or delete"),
            (f"/oauth-clients/{client['oauth_client']['id']}", "Created by Ada", "Only workspace owners can"),
        ):
            await browser.open(base + path)
            assert seen in browser.text
            assert told in browser.text
            assert [form.action for form in browser.reading.forms] == ["/sign-out"]
        token = dict(browser.reading.forms[0].fields)["form_token"]
        for path in (
            f"/access-tokens/{made['workspace_access_token']['id']}/revoke",
            f"/oauth-clients/{client['oauth_client']['id']}/delete",
            f"/members/{(await api.list_workspace_members())['data'][0]['id']}/remove",
        ):
            answer = await browser.send(base + path, [("form_token", token)])
            assert answer.status_code == 403
            assert "Only an owner of the workspace can do this. Ask one of them." in browser.text


async def test_a_removal_lists_what_ends_and_asks(gateway, owner, api, tenant):
    for revokes in (True, False):
        member = await make_member(gateway, tenant, "owner")
        second = Rest(gateway.client, gateway.app, member.token)
        made = await second.create_workspace_access_token(
            data={"comment": "nightly", "scopes": ["files:read"]}
        )
        await owner.open(f"/workspaces/{tenant.slug}/members/{member.member_id}/remove")
        assert "Remove Grace" in owner.text
        assert "nightly : access token, last used: never" in owner.text
        shown = dict(owner.form("Remove member").fields)
        assert shown["revoke_created"] == "on"
        await owner.press("Remove member", **({} if revokes else {"revoke_created": None}))
        assert "Grace is no longer a member." in owner.text
        headers = {"Authorization": f"Bearer {made['token']}"}
        answer = await gateway.client.get("/api/viewer", headers=headers)
        assert answer.status_code == (401 if revokes else 200)


async def test_an_invitation_is_withdrawn(owner, api, tenant):
    invited = await api.invite_workspace_member(data={"email": new_email()})
    await owner.open(f"/workspaces/{tenant.slug}/members/{invited['id']}/remove")
    assert "access token" not in owner.text
    await owner.press("Remove member")
    assert f"{invited['email']} is no longer invited." in owner.text
    assert invited["email"] not in await members_of(api, tenant)


async def test_a_member_leaves(gateway, api, tenant):
    member = await make_member(gateway, tenant)
    async with signed_in(gateway, member) as browser:
        await browser.open(f"/workspaces/{tenant.slug}/members/{member.member_id}/remove")
        await browser.press("Leave workspace")
        assert browser.path == "/workspaces"
        assert "You left Acme." in browser.text
    assert member.email not in await members_of(api, tenant)


async def test_a_member_of_another_workspace_is_not_found_here(gateway, owner, tenant, other_tenant):
    other = Rest(gateway.client, gateway.app, other_tenant.token)
    (member,) = (await other.list_workspace_members())["data"]
    answer = await owner.open(f"/workspaces/{tenant.slug}/members/{member['id']}/remove")
    assert answer.status_code == 404
