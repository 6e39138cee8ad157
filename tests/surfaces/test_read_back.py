"""A resource can be sent back as it was read."""

import pytest
import pytest_asyncio

from rest_compat.api import operation_routes
from tests.support.callers.examples import EXAMPLES, IN_A_BROWSER, PERSONAL
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Rest
from tests.support.callers.world import world_of
from tests.support.servers.gateways import make_tenant
from tests.support.tenants.uploads import upload_file, upload_image

pytestmark = pytest.mark.both_databases

UPDATES = {
    name
    for name, route in operation_routes().items()
    if name.startswith("update_") and route.method == "PATCH" and "portal" not in name
}


@pytest_asyncio.fixture(scope="module")
async def home(gateway):
    """A workspace with one of each resource, which these tests leave as it is."""
    tenant = await make_tenant(gateway)
    return tenant, await world_of(gateway, tenant)


@pytest.fixture
def rest_at_home(gateway, home):
    return Rest(gateway.client, gateway.app, home[0].token)


@pytest.mark.parametrize("name", sorted(UPDATES - IN_A_BROWSER))
async def test_a_resource_is_accepted_as_it_was_read_and_stays_as_it_is(name, home, rest_at_home):
    tenant, world = home
    caller = rest_at_home.with_token(tenant.personal_token) if name in PERSONAL else rest_at_home
    id = EXAMPLES[name](world)["id"]
    read = operation_routes()[name].operation.gives.name
    before = await caller.ask(read, {"id": id})
    sent = before.value
    answer = await caller.ask(name, {"id": id, "data": sent})
    assert answer.value == before.value
    assert answer.headers["etag"] == before.headers["etag"]
    for field, other in (("id", world.event), ("created_at", "2001-01-01T00:00:00.000000Z")):
        assert await refusal(caller.ask(name, {"id": id, "data": {field: other}})) == {(field,): "read_only"}
    assert await refusal(caller.ask(name, {"id": id, "data": {"colour": "red"}})) == {
        ("colour",): "extra_forbidden"
    }


async def test_the_time_of_the_last_use_may_be_another_time_but_nothing_else(rest, tenant):
    user = rest.with_token(tenant.personal_token)
    (token,) = (await user.list_workspace_access_tokens())["data"]
    wrong = user.update_workspace_access_token(id=token["id"], data={"last_used_at": 5})
    assert await refusal(wrong) == {("last_used_at",): "read_only"}
    earlier = {"comment": "Shop", "last_used_at": "2026-01-01T00:00:00.000000Z"}
    assert (await user.update_workspace_access_token(id=token["id"], data=earlier))["comment"] == "Shop"


async def test_1_is_not_true_in_a_field_that_cannot_change(rest):
    customer = await rest.create_customer(data={"email": "ada@example.com"})
    assert customer["email_verified"] is False
    changing = rest.update_customer(id=customer["id"], data={"email_verified": 0})
    assert await refusal(changing) == {("email_verified",): "read_only"}


@pytest.fixture
async def share(surface):
    field = await surface.create_custom_field(data={"type": "text", "slug": "size", "name": "Size"})
    media, download = await upload_image(surface), await upload_file(surface)
    return await surface.create_share(
        data={
            "name": "Quarterly report",
            "prices": [{"amount_type": "fixed", "price_amount": 1500}],
            "medias": [media["id"]],
            "downloads": [download["id"]],
            "attached_custom_fields": [{"custom_field_id": field["id"], "required": True}],
            "metadata": {"year": 2026},
            "description": "Numbers",
        }
    )


async def test_one_field_of_a_share_that_was_read_can_change(gateway, rest, tenant):
    world = await world_of(gateway, tenant)
    share = await rest.get_share(id=world.share)
    changed = await rest.update_share(id=world.share, data=share | {"name": "Annual report"})
    assert changed == share | {"name": "Annual report", "modified_at": changed["modified_at"]}
    stale = {**share, "name": "Report"}
    await refused(rest.update_share(id=world.share, data=stale), 412, "precondition_failed")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("prices", 0, "is_archived"), True),
        (("prices", 0, "share_id"), "00000000-0000-4000-8000-000000000000"),
        (("medias", 0, "name"), "other.png"),
        (("medias", 0, "size"), 7),
        (("downloads", 0, "name"), "other.zip"),
        (("attached_custom_fields", 0, "order"), 3),
        (("attached_custom_fields", 0, "custom_field"), {}),
    ],
)
async def test_another_value_for_a_field_that_cannot_change_is_named(home, rest_at_home, place, value):
    share = await rest_at_home.get_share(id=home[1].share)
    list_name, index, field = place
    share[list_name][index][field] = value
    data = {list_name: share[list_name]}
    assert await refusal(rest_at_home.update_share(id=share["id"], data=data)) == {place: "read_only"}


async def test_null_empties_what_an_object_or_a_list_holds(surface, share):
    lists = ("medias", "downloads", "attached_custom_fields")
    nulls = dict.fromkeys(("metadata", *lists, "name", "prices", "description"))
    emptied = await surface.update_share(id=share["id"], data=nulls)
    expected = {"metadata": {}, **{name: [] for name in lists}, "description": None}
    assert emptied == share | expected | {"modified_at": emptied["modified_at"]}
    assert emptied["modified_at"] is not None
    assert await surface.update_share(id=share["id"], data=nulls) == emptied

    field = await surface.create_custom_field(
        data={"type": "text", "slug": "colour", "name": "Colour", "metadata": {"a": 1}}
    )
    nulls = dict.fromkeys(("metadata", "slug", "name", "properties"))
    emptied = await surface.update_custom_field(id=field["id"], data=nulls)
    assert emptied == field | {"metadata": {}, "modified_at": emptied["modified_at"]}


async def test_null_empties_the_metadata_and_the_address_of_a_customer(surface, caller):
    address = {"line1": "1 Street", "city": "Paris", "country": "FR"}
    sent = {"email": "ada@example.com", "metadata": {"a": 1}, "billing_address": address}
    customer = await surface.create_customer(data=sent)
    session = await surface.create_customer_session(data={"customer_id": customer["id"]})
    portal = caller(session["token"])
    emptied = await portal.update_portal_customer(data={"billing_address": None})
    assert emptied["billing_address"] == dict.fromkeys(customer["billing_address"])
    await portal.update_portal_customer(data={"billing_address": address})
    emptied = await surface.update_customer(
        id=customer["id"], data={"metadata": None, "billing_address": None}
    )
    assert (emptied["metadata"], set(emptied["billing_address"].values())) == ({}, {None})


async def test_a_change_to_the_same_values_does_not_modify(surface, share):
    same = {
        "name": share["name"],
        "metadata": share["metadata"],
        "visibility": "public",
        "is_archived": False,
        "prices": [{"id": share["prices"][0]["id"]}],
        "medias": [share["medias"][0]["id"]],
        "downloads": [share["downloads"][0]["id"]],
        "attached_custom_fields": [
            {"custom_field_id": share["attached_custom_fields"][0]["custom_field_id"], "required": True}
        ],
    }
    assert await surface.update_share(id=share["id"], data=same) == share
    for name, other in (("metadata", {"year": True}), ("medias", []), ("downloads", [])):
        changed = await surface.update_share(id=share["id"], data={name: other})
        assert changed["modified_at"] is not None
        assert changed["modified_at"] != share["modified_at"]
        share = changed


async def test_a_share_changes_when_one_of_its_custom_fields_is_deleted(surface, share):
    field_id = share["attached_custom_fields"][0]["custom_field_id"]
    await surface.delete_custom_field(id=field_id)
    changed = await surface.get_share(id=share["id"])
    assert changed["attached_custom_fields"] == []
    assert changed["modified_at"] is not None


async def test_free_shares_sort_by_price_as_0_and_custom_prices_last(surface):
    prices = {
        "custom": {"amount_type": "custom", "minimum_amount": 1},
        "dear": {"amount_type": "fixed", "price_amount": 900},
        "free": {"amount_type": "free"},
        "cheap": {"amount_type": "fixed", "price_amount": 1},
    }
    for name, price in prices.items():
        await surface.create_share(data={"name": name, "prices": [price]})
    for sorting, names in (
        ("price_amount", ["free", "cheap", "dear", "custom"]),
        ("-price_amount", ["dear", "cheap", "free", "custom"]),
    ):
        listed = (await surface.list_shares(sorting=[sorting]))["data"]
        assert [share["name"] for share in listed] == names
