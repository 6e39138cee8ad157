"""Invitations to a workspace: nobody belongs to it before they accept, and only they can."""

import asyncio
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from oauth.scopes import CLIENT_SCOPES, USER_SCOPES, WORKSPACE_SCOPES, Scope
from resolvers.accounts.users import verify_address
from storage.clock import now
from storage.enums import CredentialKind
from storage.rows.rows import one, table_of, update_rows
from storage.tables.accounts.users import UserRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.measures.spans import span
from tests.support.servers.gateways import issue, make_token
from tests.support.tenants.membership import make_member, make_user, members_of, new_email


async def invite(owner, tenant, email, **data):
    return await owner.invite_workspace_member(data={"email": email, "workspace_id": tenant.id, **data})


async def invitations_of(surface, user):
    return (await surface.with_token(user.token).list_workspace_invitations())["data"]


async def change_invitation(gateway, id, **values):
    table = table_of(WorkspaceMemberRow)
    async with gateway.database.write() as connection:
        await update_rows(connection, WorkspaceMemberRow, table.c.id == UUID(id), **values)


async def test_an_invited_user_becomes_a_member_by_accepting(surface, gateway, tenant, owner):
    user = await make_user(gateway)
    with span() as inviting:
        invited = await invite(owner, tenant, user.email.upper())
    assert (invited["status"], invited["role"], invited["user_id"]) == ("invited", "member", None)
    assert invited["invited_by"] == {"id": tenant.user_id, "email": tenant.user_email, "name": "Ada"}
    assert datetime.fromisoformat(invited["expires_at"]) in inviting + timedelta(days=7)

    (seen,) = await invitations_of(surface, user)
    assert seen == {
        "id": invited["id"],
        "created_at": invited["created_at"],
        "expires_at": invited["expires_at"],
        "email": user.email.upper(),
        "role": "member",
        "workspace_id": tenant.id,
        "workspace_name": "Acme",
        "workspace_slug": tenant.slug,
        "invited_by": invited["invited_by"],
    }
    guest = surface.with_token(user.token)
    assert await guest.get_workspace_invitation(id=invited["id"]) == seen
    member = await guest.accept_workspace_invitation(id=invited["id"])
    assert (member["status"], member["user_id"], member["email"]) == ("active", user.id, user.email)
    assert (member["name"], member["expires_at"]) == ("Grace", None)
    assert await guest.get_workspace_member(id=invited["id"]) == member
    assert (await guest.get_workspace(id=tenant.id))["name"] == "Acme"
    assert await invitations_of(surface, user) == []


async def test_a_stranger_invites_a_user_and_nothing_of_theirs_changes(
    surface, gateway, tenant, other_tenant, monkeypatch
):
    """Not where a token writes without naming a workspace, not lists, metrics, viewer or consents."""
    victim, stranger = surface.with_token(other_tenant.personal_token), tenant
    await surface.create_customer(data={"email": "stranger@example.com"})
    moment = now()
    today = moment.date().isoformat()
    # At midnight the day would be over.
    monkeypatch.setattr("resolvers.metrics.answers.now", lambda: moment)

    async def seen():
        return [
            (await victim.list_workspaces())["data"],
            (await victim.list_customers())["data"],
            (await victim.list_workspace_members())["data"],
            await victim.get_metrics(start_date=today, end_date=today, interval="day"),
            await victim.get_viewer(),
        ]

    before = await seen()
    await invite(surface.with_token(stranger.personal_token), stranger, other_tenant.user_email)
    assert await seen() == before
    made = await victim.create_customer(data={"email": "own@example.com"})
    assert made["workspace_id"] == other_tenant.id
    for attempt in (
        victim.get_workspace(id=stranger.id),
        victim.list_customers(workspace_id=[stranger.id]),
        victim.create_customer(data={"email": "x@example.com", "workspace_id": stranger.id}),
        victim.list_workspace_members(workspace_id=[stranger.id]),
    ):
        await refused(attempt, 404, "not_found")


async def test_what_an_invited_user_without_a_workspace_writes_does_not_go_to_the_stranger(
    surface, gateway, tenant, owner
):
    user = await make_user(gateway)
    await invite(owner, tenant, user.email)
    assert await refusal(
        surface.with_token(user.token).create_customer(data={"email": "own@example.com"})
    ) == {("workspace_id",): "missing"}


async def test_confirming_an_address_shows_the_invitations_and_joins_nothing(surface, gateway, tenant, owner):
    email = new_email()
    invited = await invite(owner, tenant, email)
    user = await make_user(gateway, email=email, confirmed=False)
    assert await invitations_of(surface, user) == []
    guest = surface.with_token(user.token)
    for attempt in (guest.get_workspace_invitation, guest.accept_workspace_invitation):
        await refused(attempt(id=invited["id"]), 404, "not_found")
    users = table_of(UserRow)
    async with gateway.database.write() as connection:
        row = await one(connection, UserRow, users.c.id == UUID(user.id))
        await verify_address(connection, row)
    assert [entry["id"] for entry in await invitations_of(surface, user)] == [invited["id"]]
    await refused(guest.get_workspace(id=tenant.id), 404, "not_found")


async def test_another_users_invitation_is_neither_seen_nor_accepted_nor_declined(
    surface, gateway, tenant, owner, other_tenant
):
    user, colleague = await make_user(gateway), await make_member(gateway, tenant)
    invited = await invite(owner, tenant, user.email)
    for token in (other_tenant.personal_token, colleague.token, tenant.personal_token):
        thief = surface.with_token(token)
        assert (await thief.list_workspace_invitations())["data"] == []
        for attempt in (
            thief.get_workspace_invitation,
            thief.accept_workspace_invitation,
            thief.decline_workspace_invitation,
        ):
            with pytest.raises(Refused, match=r"not_found.*may have expired") as refused:
                await attempt(id=invited["id"])
            assert refused.value.status == 404
    assert [entry["id"] for entry in await invitations_of(surface, user)] == [invited["id"]]


@pytest.mark.parametrize("end", ["expired", "declined", "taken back", "accepted"])
async def test_an_invitation_that_has_ended_is_not_accepted(surface, gateway, tenant, owner, end):
    user = await make_user(gateway)
    guest = surface.with_token(user.token)
    invited = await invite(owner, tenant, user.email)
    if end == "expired":
        await change_invitation(gateway, invited["id"], expires_at=now())
        assert (await owner.get_workspace_member(id=invited["id"]))["status"] == "expired"
    elif end == "declined":
        assert await guest.decline_workspace_invitation(id=invited["id"]) == invited["id"]
        await refused(owner.get_workspace_member(id=invited["id"]), 404, "not_found")
    elif end == "taken back":
        await owner.remove_workspace_member(id=invited["id"])
    else:
        await guest.accept_workspace_invitation(id=invited["id"])
    assert await invitations_of(surface, user) == []
    for attempt in (guest.accept_workspace_invitation, guest.decline_workspace_invitation):
        await refused(attempt(id=invited["id"]), 404, "not_found")
    assert (user.email in await members_of(surface, tenant)) == (end in {"expired", "accepted"})
    if end != "accepted":
        await refused(guest.get_workspace(id=tenant.id), 404, "not_found")


async def test_inviting_again_renews_the_invitation(surface, gateway, tenant, owner):
    user = await make_user(gateway)
    invited = await invite(owner, tenant, user.email)
    await change_invitation(gateway, invited["id"], expires_at=now() - timedelta(days=1))
    again = await invite(owner, tenant, user.email.upper(), role="owner")
    assert again["id"] == invited["id"]
    assert (again["status"], again["role"]) == ("invited", "owner")
    assert again["expires_at"] >= invited["expires_at"]
    member = await surface.with_token(user.token).accept_workspace_invitation(id=invited["id"])
    assert member["role"] == "owner"


async def test_a_member_is_not_invited_again(surface, gateway, tenant, owner):
    member = await make_member(gateway, tenant)
    for email in (member.email.upper(), tenant.user_email):
        assert await refusal(invite(owner, tenant, email)) == {("email",): "duplicate"}
    assert await members_of(surface, tenant) == {tenant.user_email: "owner", member.email: "member"}


async def test_a_member_whose_address_is_now_an_invited_one_does_not_join_twice(
    surface, gateway, tenant, owner
):
    member, address = await make_member(gateway, tenant), new_email()
    invited = await invite(owner, tenant, address)
    users = table_of(UserRow)
    async with gateway.database.write() as connection:
        await update_rows(connection, UserRow, users.c.id == UUID(member.id), email=address)
    guest = surface.with_token(member.token)
    assert [each["id"] for each in await invitations_of(surface, member)] == [invited["id"]]
    assert await refusal(guest.accept_workspace_invitation(id=invited["id"])) == {("id",): "duplicate"}
    await guest.decline_workspace_invitation(id=invited["id"])
    assert (await guest.get_workspace_member(id=member.member_id))["status"] == "active"


async def test_a_token_with_only_workspaces_write_sends_no_invitation(surface, gateway, tenant, owner):
    """It would otherwise be every scope: a member makes any token."""
    data = {"email": new_email(), "workspace_id": tenant.id}
    everything = surface.with_token(tenant.token)
    narrow = surface.with_token(await make_token(gateway, tenant, Scope.WORKSPACES_WRITE))
    of_workspace = await issue(
        gateway,
        CredentialKind.ACCESS_TOKEN,
        CLIENT_SCOPES,
        workspace_id=UUID(tenant.id),
        maker_user_id=UUID(tenant.user_id),
    )
    of_user = await issue(gateway, CredentialKind.ACCESS_TOKEN, CLIENT_SCOPES, user_id=UUID(tenant.user_id))
    personal = await issue(
        gateway,
        CredentialKind.PERSONAL_TOKEN,
        USER_SCOPES - {Scope.WORKSPACE_MEMBERS_WRITE},
        user_id=UUID(tenant.user_id),
    )
    for caller in (
        everything,
        narrow,
        surface.with_token(of_workspace),
        surface.with_token(of_user),
    ):
        with pytest.raises(Refused, match="not_permitted") as refused:
            await caller.invite_workspace_member(data=data)
        assert refused.value.status == 403
    with pytest.raises(Refused, match=r"insufficient_scope.*`workspace_members:write`"):
        await surface.with_token(personal).invite_workspace_member(data=data)
    assert await members_of(surface, tenant) == {tenant.user_email: "owner"}


async def test_the_scope_of_members_is_refused_for_workspace_tokens_and_clients(surface, tenant, owner):
    assert Scope.WORKSPACE_MEMBERS_WRITE not in WORKSPACE_SCOPES | CLIENT_SCOPES
    scopes = ["shares:read", "workspace_members:write"]
    assert await refusal(
        owner.create_workspace_access_token(
            data={"comment": "a", "scopes": scopes, "workspace_id": tenant.id}
        )
    ) == {("scopes", 1): "scope"}
    client = {"name": "A", "redirect_uris": ["https://app.example.com/cb"], "scopes": scopes}
    assert await refusal(owner.create_oauth_client(data=client)) == {("scopes", 1): "scope"}


async def test_the_scope_of_members_is_not_in_discovery(gateway):
    for name in ("openid-configuration", "oauth-authorization-server"):
        answer = (await gateway.client.get(f"/.well-known/{name}")).json()
        assert "workspaces:write" in answer["scopes_supported"]
        assert "workspace_members:write" not in answer["scopes_supported"]


async def test_an_invitation_is_accepted_once_and_not_while_it_is_taken_back(surface, gateway, tenant, owner):
    for _ in range(4):
        user = await make_user(gateway)
        guest = surface.with_token(user.token)
        invited = await invite(owner, tenant, user.email)
        ends = await asyncio.gather(
            guest.accept_workspace_invitation(id=invited["id"]),
            guest.accept_workspace_invitation(id=invited["id"]),
            guest.decline_workspace_invitation(id=invited["id"]),
            owner.remove_workspace_member(id=invited["id"]),
            invite(owner, tenant, user.email),
            return_exceptions=True,
        )
        assert all(not isinstance(end, Exception) or isinstance(end, Refused) for end in ends), ends
        assert all(end.status in (404, 422) for end in ends if isinstance(end, Refused)), ends
        # However these came one after the other, the user belongs where an accepted invitation stands.
        members = (await owner.list_workspace_members(workspace_id=[tenant.id], limit=100))["data"]
        active = {member["user_id"] for member in members if member["status"] == "active"}
        reached = {entry["id"] for entry in (await guest.list_workspaces())["data"]}
        assert (user.id in active) == (tenant.id in reached)


async def test_two_invitations_of_an_address_at_once_are_one(surface, gateway, tenant, owner):
    email = new_email()
    made = await asyncio.gather(*(invite(owner, tenant, email) for _ in range(4)))
    assert len({entry["id"] for entry in made}) == 1


async def test_a_retry_of_accepting_gets_the_same_answer(surface, gateway, tenant, owner):
    user = await make_user(gateway)
    invited = await invite(owner, tenant, user.email)
    guest = surface.with_token(user.token).with_headers(idempotency_key=new_email())
    first = await guest.accept_workspace_invitation(id=invited["id"])
    assert await guest.accept_workspace_invitation(id=invited["id"]) == first


async def test_every_problem_of_an_invitation_is_named_at_its_place(owner):
    assert await refusal(
        owner.invite_workspace_member(data={"email": "nobody", "role": "admin", "status": "active"})
    ) == {("email",): "email", ("role",): "enum", ("status",): "extra_forbidden"}
