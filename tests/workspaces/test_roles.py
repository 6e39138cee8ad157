"""Owners and members of a workspace: who decides who and what else has access, and that an owner stays."""

import asyncio
from uuid import UUID

import pytest

from oauth.scopes import Scope
from storage.enums import CredentialKind
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.callers.world import OAUTH_CLIENT
from tests.support.servers.gateways import issue, make_tenant, make_token
from tests.support.tenants.membership import make_member, members_of, new_email


async def own_membership(surface, tenant):
    (member,) = (await surface.list_workspace_members(user_id=[tenant.user_id]))["data"]
    return member


async def test_the_founder_is_the_first_owner(surface, tenant, owner):
    member = await own_membership(surface, tenant)
    assert (member["role"], member["status"], member["name"]) == ("owner", "active", "Ada")
    assert (member["invited_by"], member["expires_at"]) == (None, None)
    assert member["joined_at"] is not None
    assert await surface.get_workspace_member(id=member["id"]) == member


async def test_an_owner_changes_roles(surface, gateway, tenant, owner):
    colleague = await make_member(gateway, tenant)
    changed = await owner.update_workspace_member(id=colleague.member_id, data={"role": "owner"})
    assert (changed["role"], changed["modified_at"] is not None) == ("owner", True)
    second = surface.with_token(colleague.token)
    first = await own_membership(surface, tenant)
    await second.update_workspace_member(id=first["id"], data={"role": "member"})
    assert await members_of(surface, tenant) == {tenant.user_email: "member", colleague.email: "owner"}
    with pytest.raises(Refused, match=r"not_permitted.*Only an owner"):
        await owner.update_workspace_member(id=colleague.member_id, data={"role": "member"})


async def test_null_and_nothing_keep_the_role_and_another_value_is_refused(gateway, tenant, owner):
    colleague = await make_member(gateway, tenant)
    for data in ({}, {"role": None}):
        kept = await owner.update_workspace_member(id=colleague.member_id, data=data)
        assert (kept["role"], kept["modified_at"] is None) == ("member", False)
    assert await refusal(owner.update_workspace_member(id=colleague.member_id, data={"role": "admin"})) == {
        ("role",): "enum"
    }


async def test_the_role_of_an_invitation_can_change_too(surface, gateway, tenant, owner):
    data = {"email": new_email(), "workspace_id": tenant.id}
    invited = await owner.invite_workspace_member(data=data)
    changed = await owner.update_workspace_member(id=invited["id"], data={"role": "owner"})
    assert (changed["role"], changed["status"]) == ("owner", "invited")
    # An invited owner is none yet.
    first = await own_membership(surface, tenant)
    assert await refusal(owner.update_workspace_member(id=first["id"], data={"role": "member"})) == {
        ("id",): "last_owner"
    }


async def test_a_member_promotes_itself(surface, gateway, tenant):
    colleague = await make_member(gateway, tenant)
    member = surface.with_token(colleague.token)
    first = await own_membership(surface, tenant)
    data = {"email": new_email(), "workspace_id": tenant.id, "role": "owner"}
    for attempt in (
        member.update_workspace_member(id=colleague.member_id, data={"role": "owner"}),
        member.update_workspace_member(id=first["id"], data={"role": "member"}),
        member.remove_workspace_member(id=first["id"]),
        member.invite_workspace_member(data=data),
        member.invite_workspace_member(data={"email": data["email"], "role": "owner"}),
    ):
        with pytest.raises(Refused, match=r"not_permitted.*Only an owner of the workspace") as refused:
            await attempt
        assert refused.value.status == 403
    assert await members_of(surface, tenant) == {tenant.user_email: "owner", colleague.email: "member"}


async def test_a_member_mints_a_workspace_token(surface, gateway, tenant, owner):
    """Or changes what an owner made, by which it could have any scope."""
    member = surface.with_token((await make_member(gateway, tenant)).token)
    made = await owner.create_workspace_access_token(
        data={"comment": "a", "scopes": ["shares:read"], "workspace_id": tenant.id}
    )
    client = await owner.create_oauth_client(data={**OAUTH_CLIENT, "workspace_id": tenant.id})
    token_id, client_id = made["workspace_access_token"]["id"], client["oauth_client"]["id"]
    for attempt in (
        member.create_workspace_access_token(data={"comment": "b", "scopes": ["shares:read"]}),
        member.update_workspace_access_token(id=token_id, data={"scopes": ["shares:write"]}),
        member.delete_workspace_access_token(id=token_id),
        member.create_oauth_client(data={**OAUTH_CLIENT, "workspace_id": tenant.id}),
        member.update_oauth_client(id=client_id, data={"redirect_uris": ["https://evil.test/cb"]}),
        member.rotate_oauth_client_secret(id=client_id),
        member.delete_oauth_client(id=client_id),
    ):
        with pytest.raises(Refused, match=r"not_permitted.*Only an owner of the workspace"):
            await attempt
    # What there is, members see; and what is their own, they manage.
    assert (await member.get_workspace_access_token(id=token_id))["comment"] == "a"
    assert (await member.get_oauth_client(id=client_id))["name"] == OAUTH_CLIENT["name"]
    own = await member.create_oauth_client(data=OAUTH_CLIENT)
    assert own["oauth_client"]["workspace_id"] is None
    await member.create_personal_access_token(data={"comment": "b", "scopes": ["shares:read"]})


async def test_a_member_keeps_everything_else(surface, gateway, tenant):
    member = surface.with_token((await make_member(gateway, tenant)).token)
    assert (await member.update_workspace(id=tenant.id, data={"name": "Acme & Sons"}))[
        "name"
    ] == "Acme & Sons"
    made = await member.create_customer(data={"email": "c@example.com"})
    await member.delete_customer(id=made["id"])


async def test_a_workspace_token_that_an_owner_gave_the_scope_goes_on_making_tokens(surface, gateway, tenant):
    scopes = (Scope.ACCESS_TOKENS_WRITE, Scope.OAUTH_CLIENTS_WRITE, Scope.SHARES_READ)
    machine = surface.with_token(await make_token(gateway, tenant, *scopes))
    await machine.create_workspace_access_token(data={"comment": "a", "scopes": ["shares:read"]})
    await machine.create_oauth_client(data=OAUTH_CLIENT)
    assert await refusal(
        machine.create_workspace_access_token(data={"comment": "a", "scopes": ["customers:read"]})
    ) == {("scopes", 0): "wider"}


async def test_a_token_manages_no_oauth_client_wider_than_itself(surface, gateway, tenant):
    scopes = (Scope.OAUTH_CLIENTS_WRITE, Scope.SHARES_READ)
    narrow = surface.with_token(await make_token(gateway, tenant, *scopes))
    wide = {**OAUTH_CLIENT, "scopes": ["openid", "customers:read"]}
    assert await refusal(narrow.create_oauth_client(data=wide)) == {("scopes",): "wider"}
    client = (await surface.create_oauth_client(data=wide))["oauth_client"]
    own = (await narrow.create_oauth_client(data=OAUTH_CLIENT))["oauth_client"]
    for attempt, place in (
        (narrow.update_oauth_client(id=own["id"], data={"scopes": ["customers:read"]}), ("scopes",)),
        (
            narrow.update_oauth_client(id=client["id"], data={"redirect_uris": ["https://evil.test/"]}),
            ("id",),
        ),
        (narrow.rotate_oauth_client_secret(id=client["id"]), ("id",)),
    ):
        assert await refusal(attempt) == {place: "wider"}
    assert (await surface.get_oauth_client(id=client["id"])) == client


async def test_the_last_owner_is_neither_demoted_nor_removed(surface, gateway, tenant, owner):
    await make_member(gateway, tenant)
    first = await own_membership(surface, tenant)
    for attempt in (
        owner.update_workspace_member(id=first["id"], data={"role": "member"}),
        owner.remove_workspace_member(id=first["id"]),
    ):
        assert await refusal(attempt) == {("id",): "last_owner"}
    assert (await members_of(surface, tenant))[tenant.user_email] == "owner"


def demote(surface, by, member_id):
    return surface.with_token(by).update_workspace_member(id=member_id, data={"role": "member"})


def remove(surface, by, member_id):
    return surface.with_token(by).remove_workspace_member(id=member_id)


@pytest.mark.parametrize(
    "acts", [(demote, demote), (remove, remove), (demote, remove)], ids=["demote", "remove", "both"]
)
@pytest.mark.parametrize("leaves", [False, True], ids=["each other", "themselves"])
async def test_two_owners_end_each_other_at_the_same_time(caller, gateway, acts, leaves):
    for _ in range(4):
        tenant = await make_tenant(gateway)
        # One of an unknown maker, which no removal ends.
        surface = caller(await make_token(gateway, tenant, Scope.WORKSPACES_READ))
        second = await make_member(gateway, tenant, "owner")
        first = (await own_membership(surface, tenant))["id"]
        targets = [first, second.member_id] if leaves else [second.member_id, first]
        ends = await asyncio.gather(
            acts[0](surface, tenant.personal_token, targets[0]),
            acts[1](surface, second.token, targets[1]),
            return_exceptions=True,
        )
        (refused,) = (end for end in ends if isinstance(end, Exception))
        assert isinstance(refused, Refused), refused
        assert refused.code in ("not_permitted", "invalid", "not_found")
        members = (await surface.list_workspace_members())["data"]
        assert [member["role"] for member in members].count("owner") == 1


async def test_an_owner_demoted_during_the_request_creates_no_token(surface, gateway, tenant, owner):
    """Every token counts to somebody who was an owner when it was made, and was there to be revoked."""
    for _ in range(4):
        second = await make_member(gateway, tenant, "owner")
        data = {"comment": "late", "scopes": ["shares:read"], "workspace_id": tenant.id}
        ends = await asyncio.gather(
            surface.with_token(second.token).create_workspace_access_token(data=data),
            owner.remove_workspace_member(id=second.member_id),
            return_exceptions=True,
        )
        assert not isinstance(ends[1], Exception), ends
        left = await surface.list_workspace_access_tokens(created_by=[second.id])
        assert left["data"] == [], ends
        if isinstance(ends[0], Exception):
            assert isinstance(ends[0], Refused)
            assert ends[0].status in (403, 404), ends


async def test_an_oauth_token_for_the_workspace_is_limited_by_its_users_role(surface, gateway, tenant):
    """Such tokens cannot have the scopes; with one that had, the role would still count."""
    colleague = await make_member(gateway, tenant)
    token = await issue(
        gateway,
        CredentialKind.ACCESS_TOKEN,
        [Scope.ACCESS_TOKENS_WRITE, Scope.WORKSPACE_MEMBERS_WRITE],
        workspace_id=UUID(tenant.id),
        maker_user_id=UUID(colleague.id),
    )
    client = surface.with_token(token)
    for attempt in (
        client.create_workspace_access_token(data={"comment": "b", "scopes": ["access_tokens:write"]}),
        client.remove_workspace_member(id=colleague.member_id),
    ):
        await refused(attempt, 403, "not_permitted")


async def test_lists_are_sorted_by_creation(surface, gateway, tenant):
    members = [await make_member(gateway, tenant) for _ in range(2)]

    async def emails(**query):
        return [member["email"] for member in (await surface.list_workspace_members(**query))["data"]]

    expected = [tenant.user_email, *(member.email for member in members)]
    assert await emails(workspace_id=[tenant.id]) == expected
    assert await emails(sorting=["-created_at"]) == expected[::-1]
    assert await emails(user_id=[members[0].id]) == [members[0].email]
