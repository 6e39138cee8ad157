"""Members of customers, from outside: every case runs over GraphQL and over REST, on both databases."""

import re

import pytest

from oauth.scopes import Scope
from tests.support.callers.refusals import UNKNOWN_ID, refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.servers.gateways import make_token
from tests.support.statements.plans import plan_of
from tests.support.statements.statements import noted


@pytest.fixture
async def team(surface):
    return await surface.create_customer(data={"email": "ada@example.com", "type": "team"})


async def roles(surface, team):
    page = await surface.list_members(customer_id=[team["id"]], limit=100)
    return {member["email"].split("@")[0]: member["role"] for member in page["data"]}


async def add(surface, team, mailbox, **values):
    data = {"customer_id": team["id"], "email": f"{mailbox}@example.com", **values}
    return await surface.create_member(data=data)


async def test_a_new_member_has_the_defaults_and_shows_up_in_its_customer(surface, team):
    member = await add(surface, team, "bob")
    assert member == {
        "id": member["id"],
        "created_at": member["created_at"],
        "modified_at": None,
        "customer_id": team["id"],
        "email": "bob@example.com",
        "name": None,
        "external_id": None,
        "role": "member",
    }
    assert await surface.get_member(id=member["id"]) == member
    customer = await surface.get_customer(id=team["id"])
    assert customer["members"] == [*team["members"], member]


async def test_every_problem_of_a_body_is_named_at_its_place(surface):
    data = {"email": "x", "name": "n" * 257, "external_id": "", "role": "boss", "colour": "red"}
    assert await refusal(surface.create_member(data=data)) == {
        ("customer_id",): "missing",
        ("email",): "email",
        ("name",): "string_too_long",
        ("external_id",): "string_too_short",
        ("role",): "enum",
        ("colour",): "extra_forbidden",
    }


async def test_an_individual_has_no_second_member(surface):
    single = await surface.create_customer(data={"email": "ada@example.com"})
    assert await refusal(add(surface, single, "bob")) == {("customer_id",): "individual"}
    await surface.update_customer(id=single["id"], data={"type": "team"})
    assert await add(surface, single, "bob")


async def test_an_unknown_or_foreign_customer_is_named(surface, team, other_tenant):
    data = {"customer_id": UNKNOWN_ID, "email": "bob@example.com"}
    assert await refusal(surface.create_member(data=data)) == {("customer_id",): "not_found"}
    other = surface.with_token(other_tenant.token)
    assert await refusal(add(other, team, "bob")) == {("customer_id",): "not_found"}


async def test_addresses_and_external_ids_are_unique_within_the_customer_only(surface, team):
    bob = await add(surface, team, "bob", external_id="m-1")
    again = {"customer_id": team["id"], "email": "BOB@example.com", "external_id": "m-1"}
    duplicate = {("email",): "duplicate", ("external_id",): "duplicate"}
    assert await refusal(surface.create_member(data=again)) == duplicate
    eve = await add(surface, team, "eve")
    assert await refusal(surface.update_member(id=eve["id"], data={"email": "Bob@example.com"})) == {
        ("email",): "duplicate"
    }
    other = await surface.create_customer(data={"email": "other@example.com", "type": "team"})
    assert await add(surface, other, "bob", external_id="m-1")
    await surface.delete_member(id=bob["id"])
    assert await add(surface, team, "bob", external_id="m-1")


async def test_a_field_left_out_keeps_its_value_and_null_clears_what_can_be_null(surface, team):
    bob = await add(surface, team, "bob", name="Bob", external_id="m-1", role="billing_manager")
    renamed = await surface.update_member(id=bob["id"], data={"name": "Robert"})
    assert renamed == bob | {"name": "Robert", "modified_at": renamed["modified_at"]}
    nulls = dict.fromkeys(("email", "name", "external_id", "role"))
    cleared = await surface.update_member(id=bob["id"], data=nulls)
    assert cleared == renamed | {"name": None, "external_id": None, "modified_at": cleared["modified_at"]}


async def test_the_new_owner_takes_over(surface, team):
    bob = await add(surface, team, "bob")
    assert await roles(surface, team) == {"ada": "owner", "bob": "member"}
    assert (await surface.update_member(id=bob["id"], data={"role": "owner"}))["role"] == "owner"
    assert await roles(surface, team) == {"ada": "billing_manager", "bob": "owner"}
    await add(surface, team, "eve", role="owner")
    assert await roles(surface, team) == {"ada": "billing_manager", "bob": "billing_manager", "eve": "owner"}


async def test_a_takeover_that_fails_changes_nothing(surface, team):
    bob = await add(surface, team, "bob")
    change = {"role": "owner", "email": "ada@example.com"}
    assert await refusal(surface.update_member(id=bob["id"], data=change)) == {("email",): "duplicate"}
    assert await roles(surface, team) == {"ada": "owner", "bob": "member"}


async def test_the_owner_can_neither_step_down_nor_leave(surface, team):
    (owner,) = team["members"]
    for role in ("member", "billing_manager"):
        change = surface.update_member(id=owner["id"], data={"role": role})
        assert await refusal(change) == {("role",): "owner"}
    assert await refusal(surface.delete_member(id=owner["id"])) == {("id",): "owner"}
    same = await surface.update_member(id=owner["id"], data={"role": "owner", "name": "Ada"})
    assert (same["role"], same["name"]) == ("owner", "Ada")
    bob = await add(surface, team, "bob", role="owner")
    assert await surface.delete_member(id=owner["id"]) == owner["id"]
    assert (await surface.get_customer(id=team["id"]))["members"] == [bob]


async def test_a_deleted_member_is_gone(surface, team):
    bob = await add(surface, team, "bob")
    await surface.delete_member(id=bob["id"])
    for attempt in (
        surface.get_member(id=bob["id"]),
        surface.update_member(id=bob["id"], data={"name": "Bob"}),
        surface.delete_member(id=bob["id"]),
    ):
        await refused(attempt, 404, "not_found")
    assert await roles(surface, team) == {"ada": "owner"}


async def test_members_are_listed_by_customer_the_oldest_first(surface, team):
    other = await surface.create_customer(data={"email": "other@example.com"})
    for name in ("bob", "eve"):
        await add(surface, team, name)
    assert list(await roles(surface, team)) == ["ada", "bob", "eve"]
    newest = await surface.list_members(customer_id=[team["id"]], sorting=["-created_at"], limit=1)
    assert newest["data"][0]["email"] == "eve@example.com"
    assert newest["meta"]["total"] == 3
    both = await surface.list_members(customer_id=[team["id"], other["id"]])
    assert both["meta"]["total"] == 4
    assert (await surface.list_members(customer_id=[UNKNOWN_ID]))["data"] == []
    assert (await surface.list_members())["meta"]["total"] == 4


async def test_another_workspaces_member_does_not_exist(surface, team, other_tenant):
    (owner,) = team["members"]
    other = surface.with_token(other_tenant.token)
    for attempt in (
        other.get_member(id=owner["id"]),
        other.update_member(id=owner["id"], data={"name": "Eve"}),
        other.delete_member(id=owner["id"]),
    ):
        await refused(attempt, 404, "not_found")
    assert (await other.list_members(customer_id=[team["id"]]))["data"] == []


async def test_a_stale_etag_stops_a_change(surface, team):
    bob = await add(surface, team, "bob")
    await refused(
        surface.update_member(id=bob["id"], data={"role": "owner"}, if_match='"stale"'),
        412,
        "precondition_failed",
    )
    assert await roles(surface, team) == {"ada": "owner", "bob": "member"}


async def test_members_have_scopes_of_their_own(surface, gateway, tenant, team):
    reader = surface.with_token(await make_token(gateway, tenant, Scope.MEMBERS_READ))
    assert (await reader.list_members())["meta"]["total"] == 1
    with pytest.raises(Refused, match=r"insufficient_scope.*`members:write`"):
        await add(reader, team, "bob")
    customers = surface.with_token(await make_token(gateway, tenant, Scope.CUSTOMERS_READ))
    assert len((await customers.get_customer(id=team["id"]))["members"]) == 1
    await refused(customers.list_members(), 403, "insufficient_scope")


@pytest.mark.both_databases
async def test_the_members_of_a_customer_are_read_once(gateway, tenant):
    headers = {"Authorization": f"Bearer {tenant.token}"}
    made = await gateway.client.post("/api/customers/", json={"email": "a@example.com"}, headers=headers)
    with noted(gateway.database) as statements:
        await gateway.client.get(f"/api/customers/{made.json()['id']}", headers=headers)
    (statement,) = [each for each in statements if "FROM customers" in each]
    plan = await plan_of(gateway.database, statement)
    assert len([step for step in plan if re.search(r"(Scan.* on|SEARCH) members", step)]) == 1, plan
