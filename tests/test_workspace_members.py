"""Members of a workspace: invited by e-mail, listed, removed, and never all of them."""

import asyncio
from uuid import UUID, uuid4

import pytest

from oauth.scopes import WORKSPACE_SCOPES, Scope
from resolvers.accounts import create_user, issue_token
from storage.enums import CredentialKind
from tests.conftest import make_token
from tests.surfaces import Refused


def new_email() -> str:
    return f"m-{uuid4().hex}@example.com"


async def sign_up(gateway, email):
    async with gateway.database.write() as connection:
        user = await create_user(connection, email, "a long password", "Grace")
    return str(user["id"])


async def test_the_maker_is_the_first_member(surface, tenant):
    page = await surface.list_workspace_members()
    (member,) = page["data"]
    assert member == {
        "id": member["id"],
        "created_at": member["created_at"],
        "workspace_id": tenant.id,
        "user_id": tenant.user_id,
        "email": tenant.user_email,
        "name": "Ada",
        "status": "active",
    }
    assert await surface.get_workspace_member(id=member["id"]) == member


async def test_an_invited_address_becomes_a_member_when_its_user_signs_up(surface, gateway, tenant):
    email = new_email()
    invited = await surface.invite_workspace_member(data={"email": email})
    assert (invited["status"], invited["user_id"], invited["name"]) == ("invited", None, None)
    user_id = await sign_up(gateway, email.upper())
    member = await surface.get_workspace_member(id=invited["id"])
    assert member == invited | {"status": "active", "user_id": user_id, "name": "Grace"}


async def test_a_user_who_has_the_address_belongs_at_once(surface, gateway, tenant):
    email = new_email()
    user_id = await sign_up(gateway, email)
    member = await surface.invite_workspace_member(data={"email": email.upper(), "workspace_id": tenant.id})
    assert (member["status"], member["user_id"]) == ("active", user_id)


async def test_an_invitation_and_a_sign_up_at_once_find_each_other(surface, gateway, tenant):
    emails = [new_email() for _ in range(5)]
    await asyncio.gather(
        *(surface.invite_workspace_member(data={"email": email}) for email in emails),
        *(sign_up(gateway, email) for email in emails),
    )
    members = (await surface.list_workspace_members(limit=100))["data"]
    assert {member["status"] for member in members} == {"active"}


async def test_an_address_is_invited_once_in_any_case(surface, tenant):
    email = new_email()
    await surface.invite_workspace_member(data={"email": email})
    for again in (email.upper(), tenant.user_email):
        with pytest.raises(Refused) as refused:
            await surface.invite_workspace_member(data={"email": again})
        assert refused.value.problems == {("email",): "duplicate"}


async def test_every_problem_of_an_invitation_is_named_at_its_place(surface):
    with pytest.raises(Refused) as refused:
        await surface.invite_workspace_member(data={"email": "nobody", "role": "admin"})
    assert refused.value.problems == {("email",): "email", ("role",): "extra_forbidden"}


async def test_a_removed_member_loses_the_workspace_at_once(surface, gateway, tenant):
    email = new_email()
    user_id = await sign_up(gateway, email)
    member = await surface.invite_workspace_member(data={"email": email})
    async with gateway.database.write() as connection:
        personal, _ = await issue_token(
            connection, CredentialKind.PERSONAL_TOKEN, WORKSPACE_SCOPES, user_id=UUID(user_id)
        )
        granted, _ = await issue_token(
            connection,
            CredentialKind.ACCESS_TOKEN,
            WORKSPACE_SCOPES,
            workspace_id=UUID(tenant.id),
            maker_user_id=UUID(user_id),
        )
    own, client = surface.with_token(personal.text), surface.with_token(granted.text)
    assert (await own.get_workspace(id=tenant.id)) == (await client.get_workspace(id=tenant.id))

    assert await surface.remove_workspace_member(id=member["id"]) == member["id"]
    with pytest.raises(Refused, match="not_found"):
        await own.get_workspace(id=tenant.id)
    with pytest.raises(Refused, match="not_found"):
        await surface.get_workspace_member(id=member["id"])
    answer = await gateway.client.get(
        f"/api/workspaces/{tenant.id}", headers={"Authorization": f"Bearer {granted.text}"}
    )
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")


async def test_the_last_member_cannot_go_even_if_others_are_invited(surface, tenant):
    (member,) = (await surface.list_workspace_members())["data"]
    invited = await surface.invite_workspace_member(data={"email": new_email()})
    with pytest.raises(Refused) as refused:
        await surface.remove_workspace_member(id=member["id"])
    assert (refused.value.status, refused.value.problems) == (422, {("id",): "last_member"})
    await surface.remove_workspace_member(id=invited["id"])


async def test_of_all_members_removed_at_once_one_stays(surface, gateway, tenant):
    for _ in range(3):
        email = new_email()
        await sign_up(gateway, email)
        await surface.invite_workspace_member(data={"email": email})
    members = (await surface.list_workspace_members())["data"]
    ends = await asyncio.gather(
        *(surface.remove_workspace_member(id=member["id"]) for member in members), return_exceptions=True
    )
    assert [type(end) for end in ends].count(Refused) == 1
    assert len((await surface.list_workspace_members())["data"]) == 1


async def test_members_of_another_workspace_do_not_exist(surface, other_tenant):
    (member,) = (await surface.with_token(other_tenant.token).list_workspace_members())["data"]
    for attempt in (surface.get_workspace_member, surface.remove_workspace_member):
        with pytest.raises(Refused, match="not_found"):
            await attempt(id=member["id"])
    with pytest.raises(Refused, match="not_found"):
        await surface.list_workspace_members(workspace_id=[other_tenant.id])
    with pytest.raises(Refused, match="not_found"):
        await surface.invite_workspace_member(data={"email": new_email(), "workspace_id": other_tenant.id})


async def test_lists_are_sorted_by_creation(surface, tenant):
    invited = [await surface.invite_workspace_member(data={"email": new_email()}) for _ in range(2)]

    async def emails(**query):
        return [member["email"] for member in (await surface.list_workspace_members(**query))["data"]]

    expected = [tenant.user_email, *(member["email"] for member in invited)]
    assert await emails(workspace_id=[tenant.id]) == expected
    assert await emails(sorting=["-created_at"]) == expected[::-1]


async def test_inviting_needs_the_scope_that_changes_workspaces(surface, gateway, tenant):
    reader = surface.with_token(await make_token(gateway, tenant, Scope.WORKSPACES_READ))
    assert len((await reader.list_workspace_members())["data"]) == 1
    with pytest.raises(Refused, match=r"insufficient_scope.*`workspaces:write`"):
        await reader.invite_workspace_member(data={"email": new_email()})
