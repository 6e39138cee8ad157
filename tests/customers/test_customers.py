"""Customers, from outside: every case runs over GraphQL and over REST, on both databases."""

from hashlib import sha256
from uuid import UUID, uuid4

import pytest

from oauth.scopes import Scope
from storage.rows.rows import table_of, update_rows
from storage.tables.customers.customers import CustomerRow
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.servers.gateways import make_token
from tests.support.tenants.membership import join_too

ADA = {"email": "Ada@Example.com", "name": "Ada Lovelace"}
NO_ADDRESS = dict.fromkeys(("line1", "line2", "postal_code", "city", "state", "country"))


async def test_a_new_customer_has_the_defaults_and_its_owner(surface, tenant):
    customer = await surface.create_customer(data=ADA)
    (owner,) = customer["members"]
    digest = sha256(b"ada@example.com").hexdigest()
    assert customer == {
        "id": customer["id"],
        "created_at": customer["created_at"],
        "modified_at": None,
        "metadata": {},
        "external_id": None,
        "email": "Ada@Example.com",
        "email_verified": False,
        "name": "Ada Lovelace",
        "billing_address": NO_ADDRESS,
        "workspace_id": tenant.id,
        "deleted_at": None,
        "avatar_url": f"https://www.gravatar.com/avatar/{digest}",
        "type": "individual",
        "members": [owner],
    }
    assert owner == {
        "id": owner["id"],
        "created_at": owner["created_at"],
        "modified_at": None,
        "customer_id": customer["id"],
        "email": "Ada@Example.com",
        "name": "Ada Lovelace",
        "external_id": None,
        "role": "owner",
    }
    assert await surface.get_customer(id=customer["id"]) == customer


async def test_nulls_in_a_new_customer_mean_the_defaults(surface):
    nulls = ("external_id", "name", "billing_address", "type", "owner", "workspace_id")
    customer = await surface.create_customer(data={"email": "a@example.com", **dict.fromkeys(nulls)})
    assert (customer["type"], customer["billing_address"]) == ("individual", NO_ADDRESS)


async def test_an_owner_can_differ_from_the_customer(surface):
    owner = {"email": "owner@example.com", "external_id": "u-1"}
    customer = await surface.create_customer(data={**ADA, "type": "team", "owner": owner})
    (member,) = customer["members"]
    assert (member["email"], member["name"], member["external_id"]) == (
        "owner@example.com",
        "Ada Lovelace",
        "u-1",
    )


async def test_a_new_customer_is_reported_by_an_event(surface):
    customer = await surface.create_customer(data={**ADA, "external_id": "c-1"})
    (event,) = (await surface.list_events(customer_id=[customer["id"]]))["data"]
    assert (event["name"], event["source"], event["label"]) == (
        "customer.created",
        "system",
        "Customer Created",
    )
    assert event["metadata"] == {
        "customer_id": customer["id"],
        "customer_email": "Ada@Example.com",
        "customer_name": "Ada Lovelace",
        "customer_external_id": "c-1",
    }


async def test_every_problem_of_a_body_is_named_at_its_place(surface):
    data = {
        "email": "no address",
        "name": "n" * 257,
        "external_id": "",
        "type": "company",
        "billing_address": {"country": "XX", "line1": 5, "street": "Main"},
        "owner": {"email": "x", "role": "owner"},
        "colour": "red",
    }
    assert await refusal(surface.create_customer(data=data)) == {
        ("email",): "email",
        ("name",): "string_too_long",
        ("external_id",): "string_too_short",
        ("type",): "enum",
        ("billing_address", "country"): "country",
        ("billing_address", "line1"): "string_type",
        ("billing_address", "street"): "extra_forbidden",
        ("owner", "email"): "email",
        ("owner", "role"): "extra_forbidden",
        ("colour",): "extra_forbidden",
    }
    assert await refusal(surface.create_customer(data={})) == {("email",): "missing"}


@pytest.mark.parametrize("country", ["DEU", "ZZ", "", "D\u0130", " DE"])
async def test_a_country_is_one_of_iso_3166(surface, country):
    data = {**ADA, "billing_address": {"country": country}}
    assert await refusal(surface.create_customer(data=data)) == {("billing_address", "country"): "country"}


async def test_a_country_is_given_back_in_capitals(surface):
    customer = await surface.create_customer(data={**ADA, "billing_address": {"country": "de"}})
    assert customer["billing_address"]["country"] == "DE"


async def test_an_address_in_use_is_refused_in_any_case_with_every_other_duplicate(surface, other_tenant):
    await surface.create_customer(data={"email": "straße@example.com", "external_id": "c-1"})
    again = {"email": "STRAßE@Example.COM", "external_id": "c-1"}
    assert await refusal(surface.create_customer(data=again)) == {
        ("email",): "duplicate",
        ("external_id",): "duplicate",
    }
    other = await surface.create_customer(data={"email": "b@example.com"})
    assert await refusal(surface.update_customer(id=other["id"], data=again)) == {
        ("email",): "duplicate",
        ("external_id",): "duplicate",
    }
    assert await surface.with_token(other_tenant.token).create_customer(data=again)


async def test_a_field_left_out_keeps_its_value_and_null_clears_only_a_name(surface):
    customer = await surface.create_customer(data={**ADA, "metadata": {"plan": "pro"}})
    nulls = dict.fromkeys(("email", "type", "external_id", "name"))
    changed = await surface.update_customer(id=customer["id"], data=nulls)
    assert changed == customer | {"name": None, "modified_at": changed["modified_at"]}
    assert changed["modified_at"] is not None


async def test_metadata_and_the_address_are_replaced_as_a_whole(surface):
    address = {"line1": "Main 1", "city": "Berlin", "country": "DE"}
    data = {**ADA, "metadata": {"plan": "pro", "seats": 3}, "billing_address": address}
    customer = await surface.create_customer(data=data)
    assert customer["billing_address"] == NO_ADDRESS | address
    changed = await surface.update_customer(
        id=customer["id"], data={"metadata": {"vip": True}, "billing_address": {"country": "FR"}}
    )
    assert changed["metadata"] == {"vip": True}
    assert changed["billing_address"] == NO_ADDRESS | {"country": "FR"}


async def test_an_external_id_can_be_set_once(surface):
    customer = await surface.create_customer(data=ADA)
    named = await surface.update_customer(id=customer["id"], data={"external_id": "c-1"})
    assert named["external_id"] == "c-1"
    same = await surface.update_customer(id=customer["id"], data={"external_id": "c-1", "name": "Ada"})
    assert same["name"] == "Ada"
    for other in ("C-1", None):
        change = surface.update_customer(id=customer["id"], data={"external_id": other})
        assert await refusal(change) == {("external_id",): "fixed"}


async def test_an_individual_can_become_a_team_but_not_back(surface, gateway):
    customer = await surface.create_customer(data=ADA)
    team = await surface.update_customer(id=customer["id"], data={"type": "team"})
    assert team["type"] == "team"
    back = surface.update_customer(id=customer["id"], data={"type": "individual", "external_id": "c-1"})
    assert await refusal(back) == {("type",): "downgrade"}

    async with gateway.database.write() as connection:
        legacy = table_of(CustomerRow).c.id == UUID(customer["id"])
        await update_rows(connection, CustomerRow, legacy, type=None)
    assert (await surface.get_customer(id=customer["id"]))["type"] is None
    assert (await surface.update_customer(id=customer["id"], data={"type": "individual"}))["type"]
    assert (await surface.update_customer(id=customer["id"], data={"type": "team"}))["type"] == "team"


async def test_another_address_is_unverified_until_it_is_used(surface, gateway):
    customer = await surface.create_customer(data=ADA)
    async with gateway.database.write() as connection:
        itself = table_of(CustomerRow).c.id == UUID(customer["id"])
        await update_rows(connection, CustomerRow, itself, email_verified=True)
    same = await surface.update_customer(id=customer["id"], data={"email": "ada@example.com"})
    assert same["email_verified"] is True
    other = await surface.update_customer(id=customer["id"], data={"email": "lovelace@example.com"})
    assert other["email_verified"] is False
    assert other["avatar_url"].endswith(sha256(b"lovelace@example.com").hexdigest())


@pytest.mark.parametrize("external_id", ["c-1", "a/b c?d#ü", "x/"])
async def test_a_customer_is_read_and_changed_by_the_callers_own_id(surface, external_id):
    customer = await surface.create_customer(data={**ADA, "external_id": external_id})
    assert await surface.get_customer(external_id=external_id) == customer
    changed = await surface.update_customer(external_id=external_id, data={"name": "Ada"})
    assert (changed["id"], changed["name"]) == (customer["id"], "Ada")
    await refused(surface.get_customer(external_id="unknown"), 404, "not_found")


async def test_an_external_id_in_two_workspaces_is_ambiguous(surface, tenant, other_tenant, gateway):
    other = surface.with_token(other_tenant.token)
    for caller in (surface, other):
        await caller.create_customer(data={**ADA, "external_id": "c-1"})
    await join_too(gateway, tenant, other_tenant)
    person = surface.with_token(tenant.personal_token)
    assert await refusal(person.get_customer(external_id="c-1")) == {("external_id",): "ambiguous"}
    change = person.update_customer(external_id="c-1", data={"name": "Ada"})
    assert await refusal(change) == {("external_id",): "ambiguous"}


async def test_another_workspaces_customer_does_not_exist(surface, other_tenant):
    customer = await surface.create_customer(data={**ADA, "external_id": "c-1"})
    other = surface.with_token(other_tenant.token)
    for attempt in (
        other.get_customer(id=customer["id"]),
        other.get_customer(external_id="c-1"),
        other.update_customer(id=customer["id"], data={"name": "Eve"}),
        other.delete_customer(id=customer["id"]),
        other.list_customers(workspace_id=[customer["workspace_id"]]),
    ):
        await refused(attempt, 404, "not_found")
    assert (await other.list_customers())["data"] == []


async def test_a_missing_scope_is_named(surface, gateway, tenant):
    reader = surface.with_token(await make_token(gateway, tenant, Scope.CUSTOMERS_READ))
    with pytest.raises(Refused, match=r"insufficient_scope.*`customers:write`"):
        await reader.create_customer(data={})
    stranger = surface.with_token(await make_token(gateway, tenant, Scope.SHARES_WRITE))
    with pytest.raises(Refused, match=r"insufficient_scope.*`customers:read` or `customers:write`"):
        await stranger.list_customers()


async def test_a_retry_under_the_same_key_makes_one_customer(surface):
    once = surface.with_headers(idempotency_key=uuid4().hex)
    first = await once.create_customer(data=ADA)
    assert await once.create_customer(data=ADA) == first
    assert (await surface.list_customers())["meta"]["total"] == 1
    assert (await surface.list_events())["meta"]["total"] == 1
