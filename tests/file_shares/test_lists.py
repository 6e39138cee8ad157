"""Lists of downloads, payments and refunds: read back, filtered, counted, and linked to their sessions."""

import pytest

from tests.support.callers.refusals import UNKNOWN_ID, refusal, refused
from tests.support.callers.surfaces import GraphQL
from tests.support.tenants.file_shares import FREE, PAID, PRICED, at, ids_of

NOUNS = ("downloads", "payments", "refunds")


@pytest.fixture
async def customer(surface):
    return await surface.create_customer(data={"email": "ada@example.com"})


@pytest.fixture
async def sold(surface, share, customer):
    """A session of the share and the customer with two downloads, a payment and a refund; and another one."""
    histories = [
        PRICED
        | {
            "external_id": "s-1",
            "share_id": share["id"],
            "customer_id": customer["id"],
            "downloads": [at(2), at(9)],
            "payments": [PAID | {"external_id": "p-1", "refunds": [{"amount": 400, "at": at(20)}]}],
        },
        FREE
        | {
            "external_id": "s-2",
            "downloads": [at(5)],
            "payments": [
                {"amount": 7, "currency": "jpy", "at": at(1), "refunds": [{"amount": 1, "at": at(3)}]}
            ],
        },
    ]
    return await ids_of(surface, *histories)


async def listed(surface, noun, **filters):
    return await getattr(surface, f"list_file_share_{noun}")(**filters)


async def test_what_happened_is_listed_latest_first_with_its_session(surface, share, customer, sold):
    payments = (await listed(surface, "payments"))["data"]
    assert [payment["at"] for payment in payments] == [at(5), at(1)]
    refund = payments[0]["refunds"][0]
    about = {"share_id": share["id"], "customer_id": customer["id"], "file_share_session_id": sold[0]}
    assert payments[0] == {
        "id": payments[0]["id"],
        "created_at": payments[0]["created_at"],
        "modified_at": payments[0]["modified_at"],
        "workspace_id": refund["workspace_id"],
        **about,
        **PAID,
        "external_id": "p-1",
        "refunded_amount": 400,
        "refunds": [refund],
    }
    refunds = (await listed(surface, "refunds"))["data"]
    assert refunds[0] == refund
    assert {name: refund[name] for name in about} == about
    assert (refund["currency"], refund["amount"], refund["at"]) == ("eur", 400, at(20))
    assert refund["file_share_payment_id"] == payments[0]["id"]
    downloads = (await listed(surface, "downloads", sorting=["at"]))["data"]
    assert [download["at"] for download in downloads] == [at(2), at(5), at(9)]
    assert {name: downloads[0][name] for name in about} == about


@pytest.mark.parametrize("noun", NOUNS)
async def test_each_is_read_by_its_id_and_only_in_its_workspace(surface, other_tenant, sold, noun):
    items = (await listed(surface, noun))["data"]
    read = getattr(surface, f"get_file_share_{noun.removesuffix('s')}")
    assert [await read(id=item["id"]) for item in items] == items
    elsewhere = surface.with_token(other_tenant.token)
    assert (await listed(elsewhere, noun))["meta"]["total"] == 0
    for caller, id in ((elsewhere, items[0]["id"]), (surface, UNKNOWN_ID)):
        await refused(getattr(caller, f"get_file_share_{noun.removesuffix('s')}")(id=id), 404, "not_found")


async def test_filters_narrow_each_list_and_its_total(surface, share, customer, sold):
    expected = {
        "downloads": [2, 2, 2, 1, 3, 0],
        "payments": [1, 1, 1, 1, 2, 0],
        "refunds": [1, 1, 1, 1, 2, 0],
    }
    for noun, totals in expected.items():
        filters = [
            {"share_id": [share["id"]]},
            {"customer_id": [customer["id"]]},
            {"file_share_session_id": [sold[0]]},
            {"file_share_session_id": [sold[1]]},
            {"start_date": "2026-01-31", "end_date": "2026-01-31"},
            {"start_date": "2026-02-01"},
        ]
        found = []
        for each in filters:
            page = await listed(surface, noun, **each)
            assert page["meta"]["total"] == len(page["data"])
            found.append(len(page["data"]))
        assert found == totals, noun
    for noun in ("payments", "refunds"):
        assert (await listed(surface, noun, currency=["jpy"]))["meta"]["total"] == 1
        assert (await listed(surface, noun, currency=["jpy", "eur"]))["meta"]["total"] == 2
    (payment,) = (await listed(surface, "payments", external_id=["p-1", "p-2"]))["data"]
    (refund,) = (await listed(surface, "refunds", file_share_payment_id=[payment["id"]]))["data"]
    assert payment["refunds"] == [refund]
    assert (await surface.list_file_share_sessions(external_id=["s-2", "s-3"]))["data"][0]["id"] == sold[1]
    assert (await surface.list_file_share_sessions(currency=["eur"]))["meta"]["total"] == 1


@pytest.mark.both_databases
async def test_what_has_no_share_or_customer_is_opened_and_left_out(surface, share, customer, sold):
    async def many(noun, **filters):
        page = await listed(surface, noun, **filters)
        assert page["meta"]["total"] == len(page["data"])
        return len(page["data"])

    for noun, own in (("sessions", 1), ("downloads", 2), ("payments", 1), ("refunds", 1)):
        for name, id in (("share_id", share["id"]), ("customer_id", customer["id"])):
            assert await many(noun, **{name: ["none"]}) == 1
            assert await many(noun, **{name: ["none", id]}) == own + 1
            assert await many(noun, **{name: ["none", UNKNOWN_ID]}) == 1
            assert await many(noun, **{f"{name}_not": [id]}) == 1
            assert await many(noun, **{f"{name}_not": ["none"]}) == own
            assert await many(noun, **{f"{name}_not": ["none", id]}) == 0
            assert await many(noun, **{f"{name}_not": [UNKNOWN_ID]}) == own + 1


@pytest.mark.both_databases
async def test_the_lists_by_external_id_have_what_metrics_count_of_its_customer(surface, share):
    """Also what was reported before the customer had the id, whether it was measured before or not."""
    details = {"downloads": [at(2)], "payments": [PAID | {"refunds": [{"amount": 400, "at": at(20)}]}]}
    customer = await surface.create_customer(data={"email": "late@example.com"})
    for number, who in enumerate(
        [{"customer_id": customer["id"]}, {"external_customer_id": "late"}, {"external_customer_id": "other"}]
    ):
        await ids_of(surface, PRICED | {"external_id": f"s-{number}"} | who | details)
    await surface.update_customer(id=customer["id"], data={"external_id": "late"})
    await ids_of(surface, PRICED | {"external_id": "s-3", "external_customer_id": "late"} | details)
    adopter = await surface.create_customer(data={"email": "new@example.com", "external_id": "other"})
    asked = {"start_date": "2026-01-31", "end_date": "2026-01-31", "interval": "day", "currency": "eur"}
    for id, external_id, many in ((customer["id"], "late", 3), (adopter["id"], "other", 1)):
        counted = (await surface.get_metrics(**asked, customer_id=[id]))["totals"]
        found = {
            noun: await listed(surface, noun, external_customer_id=external_id)
            for noun in ("sessions", *NOUNS)
        }
        for page in found.values():
            assert page["meta"]["total"] == len(page["data"]) == many
        assert counted["file_share_sessions"] == counted["file_share_downloads"] == many
        paid, refunded = (sum(item["amount"] for item in found[noun]["data"]) for noun in NOUNS[1:])
        assert counted["file_share_revenue"] == paid - refunded == many * 1100
    assert (await listed(surface, "sessions", external_customer_id="unknown"))["data"] == []


async def test_the_lists_by_external_id_show_nothing_of_another_workspace(surface, other_tenant, share):
    await ids_of(
        surface, FREE | {"external_id": "s-1", "external_customer_id": "shared", "downloads": [at(2)]}
    )
    other = surface.with_token(other_tenant.token)
    for noun in ("sessions", "downloads"):
        assert (await listed(surface, noun, external_customer_id="shared"))["meta"]["total"] == 1
        assert (await listed(other, noun, external_customer_id="shared"))["meta"]["total"] == 0


async def test_pages_of_a_list_cover_it_once(surface, sold):
    whole = [item["id"] for item in (await listed(surface, "downloads"))["data"]]
    first = await listed(surface, "downloads", limit=2)
    second = await listed(surface, "downloads", limit=2, after=first["meta"]["next_cursor"])
    assert [item["id"] for item in first["data"] + second["data"]] == whole
    assert second["meta"]["next_cursor"] is None


async def test_sessions_link_to_what_happened_in_them_and_back(gateway, graphql, tenant, share, sold):
    document = """
    { fileShareSessions(sorting: [CREATED_AT]) { data { id
        downloads(limit: 1) { data { at fileShareSession { externalId } } meta { total nextCursor } }
        payments { data { amount share { name } refunds { amount } } meta { total } }
        refunds { data { amount customer { email } } meta { total } } } } }
    """
    answer = await graphql(document)
    by_id = {item.pop("id"): item for item in answer["data"]["fileShareSessions"]["data"]}
    cursor = by_id[sold[0]]["downloads"]["meta"].pop("nextCursor")
    assert by_id[sold[0]] == {
        "downloads": {
            "data": [{"at": at(9), "fileShareSession": {"externalId": "s-1"}}],
            "meta": {"total": 2},
        },
        "payments": {
            "data": [{"amount": 1500, "share": {"name": share["name"]}, "refunds": [{"amount": 400}]}],
            "meta": {"total": 1},
        },
        "refunds": {
            "data": [{"amount": 400, "customer": {"email": "ada@example.com"}}],
            "meta": {"total": 1},
        },
    }
    surface = GraphQL(gateway.client, gateway.app, tenant.token)
    rest = await surface.list_file_share_downloads(file_share_session_id=[sold[0]], limit=1, after=cursor)
    assert [item["at"] for item in rest["data"]] == [at(2)]


async def test_a_refund_changes_its_payment_and_nothing_else_does(surface):
    session = await surface.create_file_share_session(data=PRICED)
    payment = await surface.record_payment(id=session["id"], data=PAID)
    assert payment["modified_at"] is None
    refunded = await surface.refund_payment(id=payment["id"], data={"amount": 1, "external_id": "r-1"})
    assert refunded["modified_at"] is not None
    assert await surface.refund_payment(id=payment["id"], data={"external_id": "r-1"}) == refunded


async def test_ingest_answers_the_ids_in_the_order_sent(surface):
    histories = [FREE | {"external_id": external_id} for external_id in ("s-2", "s-1", "s-2")]
    ids = await ids_of(surface, *histories)
    assert ids[0] == ids[2] != ids[1]
    for id, external_id in zip(ids, ("s-2", "s-1", "s-2"), strict=True):
        assert (await surface.get_file_share_session(id=id))["external_id"] == external_id
    assert await ids_of(surface, *histories[1:]) == ids[1:]


@pytest.mark.parametrize(
    ("filters", "problems"),
    [
        ({"start_date": "1972-12-31"}, {("start_date",): "date_range"}),
        ({"start_date": "2026-02-01", "end_date": "2026-01-31"}, {("end_date",): "date_order"}),
        ({"timezone": "Mars/Olympus"}, {("timezone",): "timezone"}),
        ({"file_share_session_id": ["x"]}, {("file_share_session_id", 0): "uuid_parsing"}),
    ],
)
async def test_what_is_wrong_with_a_filter_is_named(surface, filters, problems):
    for noun in NOUNS:
        assert await refusal(listed(surface, noun, **filters)) == problems
