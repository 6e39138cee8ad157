"""A customer in its portal, from outside: over GraphQL and REST, on both databases."""

import json
from uuid import uuid4

import pytest

from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.tenants.uploads import upload_image

FREE = [{"amount_type": "free"}]
FIXED = [{"amount_type": "fixed", "price_amount": 1500, "price_currency": "eur"}]


@pytest.fixture
async def customer(surface):
    address = f"ada-{uuid4().hex}@example.com"
    return await surface.create_customer(
        data={"email": address, "name": "Ada", "external_id": "c-1", "metadata": {"rating": "poor"}}
    )


@pytest.fixture
async def other_customer(surface):
    return await surface.create_customer(data={"email": f"bo-{uuid4().hex}@example.com"})


async def enter(surface, customer, **values):
    session = await surface.create_customer_session(data={"customer_id": customer["id"], **values})
    return surface.with_token(session["token"])


@pytest.fixture
async def portal(surface, customer):
    """The surface with a token of the customer."""
    return await enter(surface, customer)


async def not_found(call):
    await refused(call, 404, "not_found")


async def test_a_session_has_its_return_url_and_its_workspace(surface, tenant, customer):
    await surface.update_workspace(
        id=tenant.id, data={"customer_portal_settings": {"usage": {"show": False}}}
    )
    portal = await enter(surface, customer, return_url="https://shop.example/?a=b#c")
    session = await portal.get_portal_session()
    assert session["return_url"] == "https://shop.example/?a=b#c"
    assert session["customer_id"] == customer["id"]
    assert session["workspace"]["id"] == tenant.id
    assert session["workspace"]["customer_portal_settings"] == {"usage": {"show": False}}


async def test_an_ended_session_is_over_at_once_and_the_others_go_on(surface, portal, customer):
    other = await enter(surface, customer)
    await portal.end_portal_session()
    await refused(portal.get_portal_customer(), 401, "invalid_token")
    assert (await other.get_portal_customer())["id"] == customer["id"]


async def test_a_customer_sees_itself_without_what_the_workspace_notes_about_it(portal, customer):
    expected = {
        name: value for name, value in customer.items() if name not in ("metadata", "members", "deleted_at")
    }
    assert await portal.get_portal_customer() == expected


async def test_a_customer_changes_its_name_and_address_and_nothing_else(surface, portal, customer):
    address = {"line1": "Main Street 1", "city": "Berlin", "country": "DE"}
    changed = await portal.update_portal_customer(data={"name": "Ada L.", "billing_address": address})
    assert changed["name"] == "Ada L."
    assert {name: value for name, value in changed["billing_address"].items() if value} == address
    seen = await surface.get_customer(id=customer["id"])
    assert (seen["name"], seen["billing_address"]) == (changed["name"], changed["billing_address"])
    assert (await portal.update_portal_customer(data={}))["modified_at"] == changed["modified_at"]
    assert (await portal.update_portal_customer(data={"name": None}))["name"] is None
    for field in ("email", "type", "external_id", "metadata", "email_verified"):
        with pytest.raises(Refused) as refused:
            await portal.update_portal_customer(data={field: 1})
        is_repeated = portal.name == "rest" and field != "metadata"  # Which the portal does not show.
        assert refused.value.problems == {(field,): "read_only" if is_repeated else "extra_forbidden"}


async def test_a_bad_address_is_named(portal):
    assert await refusal(
        portal.update_portal_customer(data={"name": "x" * 257, "billing_address": {"country": "Mars"}})
    ) == {("name",): "string_too_long", ("billing_address", "country"): "country"}


async def test_a_change_of_oneself_can_be_conditional_and_retried(portal):
    first = await portal.ask("get_portal_customer", {})
    once = portal.with_headers(idempotency_key=uuid4().hex)
    changed = await once.update_portal_customer(data={"name": "Once"})
    await portal.update_portal_customer(data={"name": "Twice"})
    again = await once.ask("update_portal_customer", {"data": {"name": "Once"}})
    assert again.headers["idempotency-replayed"] == "true"
    assert again.value["name"] == "Twice"
    assert changed["id"] == first.value["id"]
    await refused(
        portal.update_portal_customer(data={"name": "Thrice"}, if_match='"stale"'), 412, "precondition_failed"
    )


async def test_a_customer_sees_the_public_shares_that_are_not_archived(surface, portal, other_tenant):
    media = await upload_image(surface)
    shown = await surface.create_share(
        data={"name": "Shown", "prices": FIXED, "medias": [media["id"]], "metadata": {"margin": "high"}}
    )
    hidden = [
        await surface.create_share(data={"name": "Draft", "prices": FREE, "visibility": "draft"}),
        await surface.create_share(data={"name": "Private", "prices": FREE, "visibility": "private"}),
        await surface.create_share(data={"name": "Archived", "prices": FREE}),
        await surface.with_token(other_tenant.token).create_share(data={"name": "Other", "prices": FREE}),
    ]
    await surface.delete_share(id=hidden[2]["id"])
    page = await portal.list_portal_shares()
    (share,) = page["data"]
    assert page["meta"]["total"] == 1
    assert share == {
        name: value
        for name, value in shown.items()
        if name not in ("metadata", "downloads", "attached_custom_fields")
    }
    assert share["medias"][0]["public_url"]
    assert await portal.get_portal_share(id=shown["id"]) == share
    for share in hidden:
        await not_found(portal.get_portal_share(id=share["id"]))


async def test_the_shares_are_found_by_name_and_sorted(surface, portal):
    for name in ("Beta report", "Alpha report", "Gamma"):
        await surface.create_share(data={"name": name, "prices": FREE})
    page = await portal.list_portal_shares(query="REPORT", sorting=["name"], limit=1)
    assert [share["name"] for share in page["data"]] == ["Alpha report"]
    rest = await portal.list_portal_shares(
        query="REPORT", sorting=["name"], limit=1, after=page["meta"]["next_cursor"]
    )
    assert [share["name"] for share in rest["data"]] == ["Beta report"]


async def test_a_customer_sees_its_own_sessions_with_downloads_and_payments(
    surface, portal, customer, other_customer
):
    share = await surface.create_share(data={"name": "Report", "prices": FIXED})
    session = await surface.create_file_share_session(
        data={
            "share_id": share["id"],
            "customer_id": customer["id"],
            "price_amount": 1500,
            "price_currency": "eur",
            "file_size_bytes": 7,
            "created_at": "2026-01-31T09:00:00Z",
        }
    )
    for at in ("2026-01-31T10:00:00Z", "2026-01-31T11:00:00Z"):
        session = await surface.record_download(id=session["id"], data={"at": at})
    payment = await surface.record_payment(
        id=session["id"],
        data={"amount": 1500, "currency": "eur", "platform_fee": 99, "at": "2026-01-31T09:30:00Z"},
    )
    await surface.refund_payment(id=payment["id"], data={"amount": 500, "at": "2026-01-31T12:00:00Z"})
    others = await surface.create_file_share_session(
        data={"customer_id": other_customer["id"], "file_size_bytes": 7}
    )
    nobodys = await surface.create_file_share_session(data={"file_size_bytes": 7})
    await surface.delete_share(id=share["id"])

    page = await portal.list_portal_file_share_sessions()
    (seen,) = page["data"]
    extra = {
        "share_name": "Report",
        "share_description": None,
        "share_medias": [],
        "left_to_pay": 500,
        "can_download": False,
        "files": [],
        "downloads": seen["downloads"],
        "payments": seen["payments"],
    }
    assert seen == await surface.get_file_share_session(id=session["id"]) | extra
    assert [download["at"] for download in seen["downloads"]] == [
        "2026-01-31T11:00:00.000000Z",
        "2026-01-31T10:00:00.000000Z",
    ]
    (paid,) = seen["payments"]
    assert (paid["amount"], paid["currency"], paid["refunded_amount"]) == (1500, "eur", 500)
    assert [refund["amount"] for refund in paid["refunds"]] == [500]
    assert "platform_fee" not in json.dumps(seen)
    assert await portal.get_portal_file_share_session(id=session["id"]) == seen
    for session in (others, nobodys):
        await not_found(portal.get_portal_file_share_session(id=session["id"]))


async def test_of_many_downloads_the_latest_hundred_are_shown(surface, portal, customer):
    moments = [f"2026-01-31T{hour:02}:{minute:02}:00Z" for hour in (9, 10) for minute in range(60)]
    history = {
        "external_id": uuid4().hex,
        "created_at": "2026-01-31T08:00:00Z",
        "customer_id": customer["id"],
        "file_size_bytes": 7,
        "downloads": moments,
    }
    await surface.ingest_file_share_sessions(data={"sessions": [history]})
    (session,) = (await portal.list_portal_file_share_sessions())["data"]
    assert session["download_count"] == 120
    shown = [download["at"] for download in session["downloads"]]
    assert (len(shown), shown[0]) == (100, "2026-01-31T10:59:00.000000Z")
    assert shown == sorted(shown, reverse=True)


async def test_a_deleted_customers_sessions_are_over(surface, portal, customer):
    await surface.delete_customer(id=customer["id"])
    await refused(portal.get_portal_customer(), 401, "invalid_token")


async def test_one_document_reads_the_whole_portal(graphql, portal, customer):
    document = """{ portal {
        customer { id } shares { meta { total } } fileShareSessions { data { id } } members { data { name } }
    } }"""
    answer = await graphql(document, portal.token)
    assert answer == {
        "data": {
            "portal": {
                "customer": {"id": customer["id"]},
                "shares": {"meta": {"total": 0}},
                "fileShareSessions": {"data": []},
                "members": {"data": [{"name": "Ada"}]},
            }
        }
    }


async def test_no_link_leads_a_customer_out_of_its_portal(graphql, portal, customer):
    document = "{ portal { customer { id } } customers { data { id } } }"
    answer = await graphql(document, portal.token)
    (error,) = answer["errors"]
    assert answer["data"] == {"portal": {"customer": {"id": customer["id"]}}, "customers": None}
    assert (error["path"], error["extensions"]["code"]) == (["customers"], "not_permitted")
