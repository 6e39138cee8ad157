"""Shares, from outside: every case runs over GraphQL and over REST, on both databases."""

from uuid import uuid4

import pytest
from strawberry.utils.str_converters import to_camel_case

from tests.support.callers.refusals import refused
from tests.support.servers.gateways import bearer

FIXED = {"amount_type": "fixed", "price_amount": 1500}


async def test_a_new_share_has_the_defaults(surface, tenant):
    share = await surface.create_share(data={"name": "Quarterly report", "prices": [FIXED]})

    (price,) = share["prices"]
    assert share["visibility"] == "public"
    assert share["description"] is None
    assert share["metadata"] == {}
    assert share["modified_at"] is None
    assert share["workspace_id"] == tenant.id
    assert price["price_amount"] == 1500
    assert price["price_currency"] == "usd"
    assert price["share_id"] == share["id"]
    assert await surface.get_share(id=share["id"]) == share


async def test_a_field_left_out_keeps_its_value_and_null_clears_it(surface):
    share = await surface.create_share(
        data={"name": "Quarterly report", "description": "Draft", "prices": [{"amount_type": "free"}]}
    )
    renamed = await surface.update_share(id=share["id"], data={"name": "Annual report"})
    assert renamed == share | {"name": "Annual report", "modified_at": renamed["modified_at"]}
    assert renamed["modified_at"] is not None

    cleared = await surface.update_share(id=share["id"], data={"description": None, "name": None})
    assert cleared == renamed | {"description": None, "modified_at": cleared["modified_at"]}


async def test_every_problem_of_a_body_is_named_at_its_place(surface):
    failure = await refused(
        surface.create_share(
            data={
                "name": "ab",
                "prices": [{"amount_type": "fixed", "price_amount": 0}],
                "metadata": {"k" * 41: "v", "list": [1]},
                "colour": "red",
            }
        ),
        422,
        "invalid",
    )
    assert failure.problems == {
        ("name",): "string_too_short",
        ("prices", 0, "price_amount"): "greater_than_equal",
        ("metadata", "k" * 41): "string_too_long",
        ("metadata", "list"): "metadata_value",
        ("colour",): "extra_forbidden",
    }


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("free", "price_currency", "usd"),
        ("free", "price_amount", 0),
        ("free", "price_amount", 100),
        ("fixed", "preset_amount", 500),
        ("custom", "price_amount", 0),
    ],
)
async def test_a_field_of_another_kind_of_price_is_refused_by_the_kind(surface, kind, field, value):
    price = {"amount_type": kind, field: value} | ({"price_amount": 900} if kind == "fixed" else {})
    failure = await refused(
        surface.create_share(data={"name": "Quarterly report", "prices": [price]}), 422, "invalid"
    )
    assert failure.problems == {("prices", 0, field): "price_kind"}
    (problem,) = failure.detail
    spelled = to_camel_case(field) if surface.name == "graphql" else field
    assert problem["msg"] == f"`prices.0.{spelled}`: A {kind} price does not have {spelled}"


async def test_another_workspaces_share_does_not_exist(surface, other_tenant):
    share = await surface.create_share(data={"name": "Quarterly report", "prices": [FIXED]})
    other = surface.with_token(other_tenant.token)
    for attempt in (other.get_share, other.delete_share):
        await refused(attempt(id=share["id"]), 404, "not_found")


async def test_lists_read_on_by_page_and_by_cursor(surface):
    names = ["Alpha", "beta", "Gamma", "délta", "ähre"]
    for name in names:
        await surface.create_share(data={"name": name, "prices": [FIXED]})
    by_page = [(await surface.list_shares(page=page, limit=2, sorting=["name"])) for page in (1, 2, 3)]
    assert [s["name"] for page in by_page for s in page["data"]] == [
        "Alpha",
        "beta",
        "délta",
        "Gamma",
        "ähre",
    ]
    assert by_page[0]["meta"]["total"] == 5
    assert by_page[0]["meta"]["pages"] == 3
    assert by_page[2]["meta"]["next_cursor"] is None

    read, cursor = [s["name"] for s in by_page[0]["data"]], by_page[0]["meta"]["next_cursor"]
    while cursor:
        page = await surface.list_shares(after=cursor, limit=2, sorting=["name"])
        read += [s["name"] for s in page["data"]]
        cursor = page["meta"]["next_cursor"]
        assert page["meta"]["total"] is None
        assert page["pagination"] is None
    assert read == ["Alpha", "beta", "délta", "Gamma", "ähre"]


async def test_a_retry_under_the_same_key_does_nothing(surface):
    once = surface.with_headers(idempotency_key=uuid4().hex)
    data = {"name": "Quarterly report", "prices": [FIXED]}
    first = await once.create_share(data=data)
    again = await once.ask("create_share", {"data": data})
    assert again.value == first
    assert again.headers["idempotency-replayed"] == "true"
    await refused(once.create_share(data=data | {"name": "Another"}), 409, "idempotency_conflict")
    assert (await surface.list_shares())["meta"]["total"] == 1


async def test_a_stale_etag_stops_a_change(surface, gateway):
    share = await surface.create_share(data={"name": "Quarterly report", "prices": [FIXED]})
    read = await gateway.client.get(f"/api/shares/{share['id']}", headers=bearer(surface.token))
    etag = read.headers["etag"]
    changed = await surface.update_share(id=share["id"], data={"name": "Annual report"}, if_match=etag)
    assert changed["name"] == "Annual report"
    await refused(
        surface.update_share(id=share["id"], data={"name": "Third"}, if_match=etag),
        412,
        "precondition_failed",
    )
