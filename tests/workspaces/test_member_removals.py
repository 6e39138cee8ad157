"""What ends with a membership: reach, grants, and by default what the member created."""

import asyncio
from uuid import UUID, uuid4

import pytest

from oauth.scopes import WORKSPACE_SCOPES
from resolvers.credentials.tokens import issue_token
from storage.enums import CredentialKind
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import Refused
from tests.support.callers.world import OAUTH_CLIENT
from tests.support.mails.mailed import mails_to
from tests.support.tenants.applications import make_application
from tests.support.tenants.membership import make_member, make_user, members_of, new_email


async def works(gateway, token):
    answer = await gateway.client.get("/api/viewer", headers={"Authorization": f"Bearer {token}"})
    return answer.status_code == 200


async def create_token(caller, *scopes, **data):
    return await caller.create_workspace_access_token(data={"comment": "a", "scopes": list(scopes), **data})


async def test_tokens_and_clients_name_their_creator(surface, gateway, tenant):
    colleague = await make_member(gateway, tenant, "owner")
    person = {"id": colleague.id, "email": colleague.email, "name": "Grace"}
    second = surface.with_token(colleague.token)
    made = await create_token(second, "access_tokens:write", "oauth_clients:write", "shares:read")
    assert made["workspace_access_token"]["created_by"] == person
    # What a token makes counts to the token's maker.
    machine = surface.with_token(made["token"])
    child = (await create_token(machine, "shares:read"))["workspace_access_token"]
    client = (await machine.create_oauth_client(data=OAUTH_CLIENT))["oauth_client"]
    assert (child["created_by"], client["created_by"]) == (person, person)
    assert (await surface.get_workspace_access_token(id=child["id"]))["created_by"] == person
    assert (await surface.get_oauth_client(id=client["id"]))["created_by"] == person
    listed = (await surface.list_workspace_access_tokens(created_by=[colleague.id]))["data"]
    assert [token["id"] for token in listed] == [made["workspace_access_token"]["id"], child["id"]]
    listed = (await surface.list_oauth_clients(created_by=[colleague.id]))["data"]
    assert listed == [client]
    own = (await second.create_oauth_client(data=OAUTH_CLIENT))["oauth_client"]
    assert own["created_by"] == person


async def test_a_token_of_an_unknown_maker_says_so(surface, gateway, tenant):
    async with gateway.database.write() as connection:
        _, row = await issue_token(
            connection, CredentialKind.WORKSPACE_TOKEN, WORKSPACE_SCOPES, workspace_id=UUID(tenant.id)
        )
    assert (await surface.get_workspace_access_token(id=str(row.id)))["created_by"] is None


async def test_a_removed_members_tokens_end(surface, gateway, tenant, owner):
    """Those that the member created and those that these created; nobody else's."""
    colleague = await make_member(gateway, tenant, "owner")
    second = surface.with_token(colleague.token)
    made = (await create_token(second, "access_tokens:write"))["token"]
    child = (await create_token(surface.with_token(made), "access_tokens:read"))["token"]
    kept = (await create_token(owner, "shares:read", workspace_id=tenant.id))["token"]
    assert [await works(gateway, token) for token in (made, child, kept)] == [True] * 3
    await owner.remove_workspace_member(id=colleague.member_id)
    assert [await works(gateway, token) for token in (made, child, kept)] == [False, False, True]
    assert await works(gateway, colleague.token)
    await refused(second.get_workspace(id=tenant.id), 404, "not_found")
    await refused(owner.get_workspace_member(id=colleague.member_id), 404, "not_found")


async def test_an_owner_may_let_what_a_member_created_go_on(surface, gateway, tenant, owner):
    colleague = await make_member(gateway, tenant, "owner")
    made = await create_token(surface.with_token(colleague.token), "shares:read")
    await owner.remove_workspace_member(id=colleague.member_id, revoke_created=False)
    assert await works(gateway, made["token"])
    kept = await surface.get_workspace_access_token(id=made["workspace_access_token"]["id"])
    assert kept["created_by"]["id"] == colleague.id


async def test_a_removed_members_clients_keep_neither_secret_nor_tokens(surface, gateway, tenant, owner):
    colleague = await make_member(gateway, tenant, "owner")
    second = surface.with_token(colleague.token)
    theirs = await make_application(gateway, owner=UUID(tenant.id), maker=UUID(colleague.id))
    others = await make_application(gateway, owner=UUID(tenant.id))
    tokens = [await application.tokens(tenant) for application in (theirs, others)]
    rotated = await second.rotate_oauth_client_secret(id=str(others.id))
    await owner.remove_workspace_member(id=colleague.member_id)
    assert await theirs.reach(tokens[0]["access_token"]) == 401
    assert await others.reach(tokens[1]["access_token"]) == 200
    assert (await theirs.refresh(tokens[0]["refresh_token"])).json()["error"] == "invalid_client"
    data = {"grant_type": "refresh_token", "refresh_token": tokens[1]["refresh_token"]}
    known = {"client_id": rotated["oauth_client"]["client_id"], "client_secret": rotated["client_secret"]}
    answer = await gateway.client.post("/api/oauth2/token", data={**data, **known})
    assert answer.json()["error"] == "invalid_client"
    # The client itself stays, for an owner to give it another secret.
    again = await owner.rotate_oauth_client_secret(id=str(theirs.id))
    assert again["oauth_client"]["id"] == str(theirs.id)


async def test_a_member_leaves_and_decides_nothing_about_what_they_created(surface, gateway, tenant, owner):
    colleague = await make_member(gateway, tenant, "owner")
    second = surface.with_token(colleague.token)
    made = (await create_token(second, "shares:read"))["token"]
    await owner.update_workspace_member(id=colleague.member_id, data={"role": "member"})
    assert await works(gateway, made)
    with pytest.raises(Refused, match=r"not_permitted.*Only an owner"):
        await second.remove_workspace_member(id=colleague.member_id, revoke_created=False)
    assert await second.remove_workspace_member(id=colleague.member_id) == colleague.member_id
    assert not await works(gateway, made)
    assert await members_of(surface, tenant) == {tenant.user_email: "owner"}


async def test_a_member_who_leaves_adds_nothing_later_in_the_same_document(gateway, tenant, owner):
    colleague = await make_member(gateway, tenant, "owner")
    document = (
        f'mutation {{ removeWorkspaceMember(id: "{colleague.member_id}")'
        f' createCustomer(data: {{email: "ada@example.com", workspaceId: "{tenant.id}"}}) {{ id }} }}'
    )
    headers = {"Authorization": f"Bearer {colleague.token}"}
    answer = (await gateway.client.post("/graphql", json={"query": document}, headers=headers)).json()
    assert answer["data"] == {"removeWorkspaceMember": colleague.member_id, "createCustomer": None}
    (error,) = answer["errors"]
    assert (error["path"], error["extensions"]["code"]) == (["createCustomer"], "not_found")
    assert (await owner.list_customers())["data"] == []


async def test_a_removed_maker_is_no_founder_of_a_new_workspace(surface, gateway, tenant, owner):
    colleague = await make_member(gateway, tenant, "owner")
    made = await create_token(surface.with_token(colleague.token), "workspaces:write")
    await owner.remove_workspace_member(id=colleague.member_id, revoke_created=False)
    machine = surface.with_token(made["token"])
    with pytest.raises(Refused, match=r"not_permitted.*has left the workspace") as refused:
        await machine.create_workspace(data={"name": "Mine", "slug": f"w-{uuid4().hex}"})
    assert refused.value.status == 403
    assert (await surface.with_token(colleague.token).list_workspaces())["data"] == []


async def test_members_of_another_workspace_are_neither_changed_nor_removed(surface, owner, other_tenant):
    (member,) = (await surface.with_token(other_tenant.token).list_workspace_members())["data"]
    for attempt in (
        surface.get_workspace_member(id=member["id"]),
        owner.remove_workspace_member(id=member["id"]),
        owner.update_workspace_member(id=member["id"], data={"role": "member"}),
        owner.invite_workspace_member(data={"email": "x@example.com", "workspace_id": other_tenant.id}),
    ):
        await refused(attempt, 404, "not_found")


async def test_owners_are_notified_of_each_new_token_and_each_added_scope(surface, gateway, tenant, owner):
    colleague, member = await make_member(gateway, tenant, "owner"), await make_member(gateway, tenant)
    made = await create_token(
        owner, "shares:read", comment="The <nightly>\nreport", expires_in=86_400, workspace_id=tenant.id
    )
    id = made["workspace_access_token"]["id"]
    for address in (tenant.user_email, colleague.email):
        (mail,) = await mails_to(gateway, address)
        assert mail.subject == "New access token for Acme"
        assert "- Name: The <nightly> report\n" in mail.text
        assert f"- Created by: Ada ({tenant.user_email})\n- Scopes: shares:read\n- Expires: " in mail.text
        assert f"http://gateway/workspaces/{tenant.slug}/access-tokens\n" in mail.text
        assert "<nightly>" not in mail.html
        assert made["token"] not in mail.text + mail.html
    await owner.update_workspace_access_token(id=id, data={"comment": "b"})
    await owner.update_workspace_access_token(id=id, data={"expires_in": 5})
    assert len(await mails_to(gateway, colleague.email)) == 1
    await owner.update_workspace_access_token(id=id, data={"scopes": ["shares:write"]})
    *_, mail = await mails_to(gateway, colleague.email)
    assert mail.subject == "Changed access token for Acme"
    assert "- Scopes: shares:write\n" in mail.text
    assert await mails_to(gateway, member.email) == []


async def test_owners_are_notified_of_each_new_client(surface, gateway, tenant, owner):
    await owner.create_oauth_client(data={**OAUTH_CLIENT, "workspace_id": tenant.id})
    await owner.create_oauth_client(data=OAUTH_CLIENT)
    (mail,) = await mails_to(gateway, tenant.user_email)
    assert mail.subject == "New OAuth application for Acme"
    assert "- Name: Bookkeeper\n" in mail.text
    assert "- Scopes it may request: openid, shares:read\n" in mail.text
    assert f"http://gateway/workspaces/{tenant.slug}/oauth-clients\n" in mail.text


async def test_a_user_who_signs_up_with_a_strangers_address_has_no_notices_mailed_there(surface, gateway):
    stranger = await make_user(gateway, confirmed=False)
    own = surface.with_token(stranger.token)
    workspace = await own.create_workspace(data={"name": "Acme", "slug": f"w-{uuid4().hex}"})
    await create_token(own, "shares:read", workspace_id=workspace["id"])
    await own.create_oauth_client(data={**OAUTH_CLIENT, "workspace_id": workspace["id"]})
    assert await mails_to(gateway, stranger.email) == []


async def test_a_removed_owner_comes_back_by_an_invitation_sent_before(surface, gateway, tenant, owner):
    """To another address of theirs, or anybody's."""
    colleague, friend = await make_member(gateway, tenant, "owner"), await make_user(gateway)
    second, guest = surface.with_token(colleague.token), surface.with_token(friend.token)
    data = {"email": friend.email, "role": "owner", "workspace_id": tenant.id}
    invited = await second.invite_workspace_member(data=data)
    others = await owner.invite_workspace_member(data={**data, "email": new_email()})
    accepted = await make_member(gateway, tenant, inviter=colleague.id)
    await owner.remove_workspace_member(id=colleague.member_id)
    await refused(guest.accept_workspace_invitation(id=invited["id"]), 404, "not_found")
    expected = {tenant.user_email: "owner", others["email"]: "owner", accepted.email: "member"}
    assert await members_of(surface, tenant) == expected


async def test_an_owner_may_let_the_invitations_of_a_removed_member_go_on(surface, gateway, tenant, owner):
    colleague, friend = await make_member(gateway, tenant, "owner"), await make_user(gateway)
    invited = await surface.with_token(colleague.token).invite_workspace_member(
        data={"email": friend.email, "workspace_id": tenant.id}
    )
    await owner.remove_workspace_member(id=colleague.member_id, revoke_created=False)
    member = await surface.with_token(friend.token).accept_workspace_invitation(id=invited["id"])
    assert member["role"] == "member"


async def change(member, token, client, workspace_id):
    await member.update_workspace_access_token(id=token["id"], data={"comment": "b"})


async def revoke(member, token, client, workspace_id):
    await member.delete_workspace_access_token(id=token["id"])


async def rotate(member, token, client, workspace_id):
    await member.rotate_oauth_client_secret(id=client["id"])


async def invite(member, token, client, workspace_id):
    await member.invite_workspace_member(data={"email": new_email(), "workspace_id": workspace_id})


@pytest.mark.parametrize("act", [change, revoke, rotate, invite])
async def test_a_removal_and_what_its_member_does_meanwhile_do_not_wait_for_each_other(
    surface, gateway, tenant, owner, act
):
    """One comes first; neither fails because both hold what the other needs."""
    for _ in range(4):
        colleague = await make_member(gateway, tenant, "owner")
        second = surface.with_token(colleague.token)
        token = (await create_token(second, "shares:read"))["workspace_access_token"]
        made = await second.create_oauth_client(data={**OAUTH_CLIENT, "workspace_id": tenant.id})
        ends = await asyncio.gather(
            *(act(second, token, made["oauth_client"], tenant.id) for _ in range(3)),
            owner.remove_workspace_member(id=colleague.member_id),
            return_exceptions=True,
        )
        assert ends[-1] == colleague.member_id, ends
        failed = [end for end in ends if isinstance(end, Exception)]
        assert all(isinstance(end, Refused) and end.status in (403, 404) for end in failed), ends
