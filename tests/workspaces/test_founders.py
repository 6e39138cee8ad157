"""Who can create a workspace, and who owns it then."""

from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from oauth.scopes import USER_SCOPES, WORKSPACE_SCOPES, Scope
from resolvers.accounts.users import find_user, insert_user, verify_address
from resolvers.credentials.tokens import issue_token
from resolvers.workspaces.administration import insert_workspace
from resolvers.workspaces.workspaces import MOST_UNCONFIRMED, MOST_WORKSPACES
from storage.enums import CredentialKind
from storage.rows.rows import table_of, update_rows
from storage.tables.workspaces.workspaces import WorkspaceMemberRow
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import Refused
from tests.support.servers.gateways import issue, make_token
from tests.support.tenants.membership import new_slug


async def test_the_creator_becomes_the_only_member_of_a_new_workspace(owner, other_tenant):
    made = await owner.create_workspace(data={"name": "Second", "slug": new_slug()})
    assert {item["id"] for item in (await owner.list_workspaces())["data"]} >= {made["id"]}
    stranger = owner.with_token(other_tenant.personal_token)
    await refused(stranger.get_workspace(id=made["id"]), 404, "not_found")
    await refused(stranger.update_workspace(id=made["id"], data={"name": "Mine"}), 404, "not_found")


async def test_a_workspaces_token_makes_another_for_its_maker_and_stays_in_its_own(surface, tenant):
    once = surface.with_headers(idempotency_key=uuid4().hex)
    data = {"name": "Second", "slug": new_slug()}
    made = await once.create_workspace(data=data)
    again = await once.ask("create_workspace", {"data": data})
    assert again.value == made
    assert again.headers["idempotency-replayed"] == "true"

    await refused(surface.get_workspace(id=made["id"]), 404, "not_found")
    assert [item["id"] for item in (await surface.list_workspaces())["data"]] == [tenant.id]
    maker = surface.with_token(tenant.personal_token)
    assert await maker.get_workspace(id=made["id"]) == made


async def test_a_token_without_a_user_and_a_client_for_one_workspace_create_none(surface, gateway, tenant):
    of_nobody = await make_token(gateway, tenant, Scope.WORKSPACES_WRITE)
    for_one = await issue(
        gateway,
        CredentialKind.ACCESS_TOKEN,
        WORKSPACE_SCOPES,
        workspace_id=UUID(tenant.id),
        maker_user_id=UUID(tenant.user_id),
    )
    for token in (of_nobody, for_one):
        with pytest.raises(Refused, match="not_permitted") as refused:
            await surface.with_token(token).create_workspace(data={"name": "Acme", "slug": new_slug()})
        assert refused.value.status == 403


async def test_a_users_client_makes_a_workspace_of_that_user(surface, gateway, tenant):
    token = await issue(gateway, CredentialKind.ACCESS_TOKEN, WORKSPACE_SCOPES, user_id=UUID(tenant.user_id))
    made = await surface.with_token(token).create_workspace(data={"name": "Acme", "slug": new_slug()})
    assert (await surface.with_token(tenant.personal_token).get_workspace(id=made["id"]))["name"] == "Acme"


async def test_a_user_cannot_multiply_budgets_by_workspaces_before_the_address_is_confirmed(caller, gateway):
    async with gateway.database.write() as connection:
        user = await insert_user(connection, f"{uuid4().hex}@example.com", "a hash", None)
        token, _ = await issue_token(connection, CredentialKind.PERSONAL_TOKEN, USER_SCOPES, user_id=user.id)
    owner = caller(token.text)
    for _ in range(MOST_UNCONFIRMED):
        await owner.create_workspace(data={"name": "One more", "slug": new_slug()})
    with pytest.raises(Refused, match="not_permitted") as refused:
        await owner.create_workspace(data={"name": "One more", "slug": new_slug()})
    assert "confirm yours first" in refused.value.detail
    async with gateway.database.write() as connection:
        await verify_address(connection, user)
    await owner.create_workspace(data={"name": "One more", "slug": new_slug()})


async def test_a_user_cannot_multiply_budgets_by_any_number_of_workspaces(owner, gateway, tenant):
    async with gateway.database.write() as connection:
        user = await find_user(connection, tenant.user_email)
        for _ in range(MOST_WORKSPACES - 1):
            await insert_workspace(connection, user, name="One more", slug=new_slug())
    with pytest.raises(Refused, match="not_permitted") as refused:
        await owner.create_workspace(data={"name": "One more", "slug": new_slug()})
    assert str(MOST_WORKSPACES) in refused.value.detail
    # Of those, others now own one: it counts to them.
    members = table_of(WorkspaceMemberRow)
    async with gateway.database.write() as connection:
        own = select(members.c.id).where(members.c.user_id == user.id).limit(1)
        await update_rows(connection, WorkspaceMemberRow, members.c.id.in_(own), role="member")
    await owner.create_workspace(data={"name": "One more", "slug": new_slug()})
