"""Requests for groups: who may ask, names, bounds, costs, statements, and the export."""

import csv
from datetime import UTC, datetime
from io import StringIO
from uuid import UUID

import pytest
import pytest_asyncio

from oauth.scopes import Scope
from resolvers.metrics import requests
from storage.enums import FactKind
from storage.metrics.facts import Fact, record_facts
from storage.rows.rows import insert_rows
from storage.tables.customers.customers import CustomerRow
from storage.tables.shares.shares import ShareRow
from tests.metrics.test_reading import JANUARY, ask_graphql
from tests.support.callers.surfaces import Refused
from tests.support.databases.facts import fold_all
from tests.support.servers.gateways import make_token
from tests.support.statements.statements import noted

MORNING = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
REVENUE = {"metrics": ["file_share_revenue", "active_user_by_event"]}


@pytest_asyncio.fixture
async def sold(gateway, tenant):
    """Three shares with revenue 300, 200 and 100 of three customers, and 50 without either."""
    home = UUID(tenant.id)
    async with gateway.database.write() as connection:
        shares = await insert_rows(
            connection, ShareRow, [{"workspace_id": home, "name": f"Share {n}"} for n in range(3)]
        )
        customers = [
            {"workspace_id": home, "email": f"{n}@example.com", "name": name, "person": n}
            for n, name in ((1, "Ada"), (2, None), (3, "Cy"))
        ]
        await insert_rows(connection, CustomerRow, customers)
        sales = [(share.id, n + 1, 300 - 100 * n) for n, share in enumerate(shares)]
        facts = [
            Fact(home, kind, MORNING, share_id=share, person=person, **money)
            for share, person, amount in [*sales, (None, None, 50)]
            for kind, money in (
                (FactKind.PAYMENT, {"currency": "usd", "amount": amount}),
                (FactKind.EVENT, {}),
            )
        ]
        await record_facts(connection, facts)
    return tenant


def amounts(answer, slug="file_share_revenue"):
    return [(group["label"], group["totals"][slug], group["is_rest"]) for group in answer["groups"]]


async def test_the_largest_groups_come_first_and_the_rest_last(surface, sold):
    answer = await surface.get_metrics(**JANUARY, **REVENUE, group_by="share", top=2)
    assert amounts(answer) == [("Share 0", 300, False), ("Share 1", 200, False), ("Other", 150, True)]
    assert sum(group["totals"]["file_share_revenue"] for group in answer["groups"]) == 650
    everything = await surface.get_metrics(**JANUARY, **REVENUE, group_by="share")
    assert amounts(everything)[2:] == [("Share 2", 100, False), ("No share", 50, False)]
    assert [group["key"] is None for group in everything["groups"]] == [False, False, False, True]


async def test_top_by_ranks_groups_by_a_metric_that_need_not_be_answered(surface, sold):
    answer = await surface.get_metrics(
        **JANUARY, metrics=["costs"], group_by="share", top_by="cashflow", top=1
    )
    assert amounts(answer, "costs") == [("Share 0", 0.0, False)]


async def test_customers_have_their_names_or_emails_even_when_deleted(surface, sold):
    ada = next(item for item in (await surface.list_customers())["data"] if item["name"] == "Ada")
    await surface.delete_customer(id=ada["id"])
    answer = await surface.get_metrics(**JANUARY, **REVENUE, group_by="customer")
    assert [label for label, *_ in amounts(answer)] == ["Ada", "2@example.com", "Cy", "No customer"]
    assert answer["groups"][0]["key"] == ada["id"]
    assert [group["totals"]["active_user_by_event"] for group in answer["groups"]] == [1, 1, 1, 0]


async def test_a_question_about_some_customers_reads_only_them(gateway, surface, sold):
    (ada,) = (await surface.list_customers(query="Ada"))["data"]
    with noted(gateway.database) as statements:
        answer = await surface.get_metrics(**JANUARY, **REVENUE, group_by="customer", customer_id=[ada["id"]])
    assert amounts(answer) == [("Ada", 300, False)]
    of_customers = [each for each in statements if "FROM customers" in each and "person" in each]
    assert of_customers
    assert all("customers.id IN" in each for each in of_customers)


async def test_a_share_filter_leaves_only_its_group(surface, sold):
    shares = (await surface.list_shares())["data"]
    first = next(share["id"] for share in shares if share["name"] == "Share 1")
    answer = await surface.get_metrics(**JANUARY, **REVENUE, group_by="share", share_id=[first])
    assert amounts(answer) == [("Share 1", 200, False)]


GROUPINGS = [("share", "shares:read"), ("customer", "customers:read"), ("event_name", "events:read")]


@pytest.mark.parametrize(("grouping", "scope"), GROUPINGS)
async def test_groups_need_the_scope_that_reads_them(gateway, caller, sold, grouping, scope):
    narrow = await make_token(gateway, sold, Scope.METRICS_READ)
    with pytest.raises(Refused) as refused:
        await caller(narrow).get_metrics(**JANUARY, group_by=grouping)
    assert (refused.value.status, refused.value.code) == (403, "insufficient_scope")
    assert scope in refused.value.detail
    wide = await make_token(gateway, sold, Scope.METRICS_READ, Scope(scope))
    assert await caller(wide).get_metrics(**JANUARY, group_by=grouping)
    assert await caller(narrow).get_metrics(**JANUARY, group_by="currency")


async def test_groups_show_nothing_of_another_workspace(caller, sold, other_tenant):
    for grouping in ("share", "customer", "currency", "event_name"):
        answer = await caller(other_tenant.token).get_metrics(**JANUARY, group_by=grouping)
        assert answer["groups"] == []


@pytest.mark.parametrize(
    ("changed", "place", "type_"),
    [
        ({"top_by": "costs"}, "top_by", "needs_group_by"),
        ({"group_by": "share", "top": 101}, "top", "less_than_equal"),
        ({"group_by": "share", "top": 0}, "top", "greater_than_equal"),
        ({"group_by": "share", "end_date": "2026-12-31", "top": 100}, "group_by", "too_many_values"),
    ],
)
async def test_bad_groups_are_refused_with_their_bound(surface, sold, changed, place, type_):
    with pytest.raises(Refused) as refused:
        await surface.get_metrics(**{**JANUARY, **changed})
    assert refused.value.problems == {(place,): type_}


async def test_an_answer_may_have_just_as_many_values_as_the_limit(surface, sold, monkeypatch):
    # 31 days of two shares and the rest, with two metrics.
    asked = {**JANUARY, **REVENUE, "group_by": "share", "top": 2}
    monkeypatch.setattr(requests, "MOST_VALUES", 31 * 3 * 2)
    assert len((await surface.get_metrics(**asked))["groups"]) == 3
    monkeypatch.setattr(requests, "MOST_VALUES", 31 * 3 * 2 - 1)
    with pytest.raises(Refused) as refused:
        await surface.get_metrics(**asked)
    assert refused.value.problems == {("group_by",): "too_many_values"}


async def statements_of(gateway, surface, **asked):
    """How many statements about metrics a question takes that was asked before."""
    await surface.get_metrics(**JANUARY, group_by="share", **asked)
    with noted(gateway.database) as statements:
        await surface.get_metrics(**JANUARY, group_by="share", **asked)
    return sum("metric_" in statement for statement in statements)


async def test_the_statements_are_as_many_for_three_groups_as_for_one(gateway, surface, sold):
    await fold_all(gateway, UUID(sold.id))
    one, three = [await statements_of(gateway, surface, top=top) for top in (1, 3)]
    assert one == three


async def test_metrics_of_the_same_sums_are_read_once_for_all_groups(gateway, surface, sold):
    await fold_all(gateway, UUID(sold.id))
    sessions = ["file_share_sessions", "file_share_free_sessions"]
    one, both = [await statements_of(gateway, surface, metrics=some) for some in (sessions[:1], sessions)]
    assert one == both


async def test_a_currency_of_null_gives_every_currency_side_by_side(gateway, sold):
    fields = (
        "currency groups { key currency exponent totals { fileShareRevenue } } totals { fileShareRevenue }"
    )
    asked = "metrics: [FILE_SHARE_REVENUE]"
    body = await ask_graphql(gateway, sold, fields, f"{asked} currency: null")
    by_currency = await ask_graphql(gateway, sold, fields, f"{asked} groupBy: CURRENCY")
    assert body == by_currency
    assert body["data"]["metrics"]["groups"] == [
        {"key": "usd", "currency": "USD", "exponent": 2, "totals": {"fileShareRevenue": 650}}
    ]
    left_out = await ask_graphql(gateway, sold, fields, asked)
    assert left_out["data"]["metrics"]["groups"] == []


async def test_the_export_has_a_column_for_the_range_and_the_group(gateway, sold):
    query = {
        **JANUARY,
        "interval": "year",
        "metrics": "file_share_revenue",
        "group_by": "share",
        "top": 1,
        "compare": "previous_year",
    }
    headers = {"Authorization": f"Bearer {sold.token}"}
    answer = await gateway.client.get("/api/metrics/export", params=query, headers=headers)
    head, *rows = csv.reader(StringIO(answer.text))
    assert head == ["range", "group", "label", "timestamp", "currency", "file_share_revenue"]
    totals = [(row[0], row[2], row[5]) for row in rows if row[3] == "totals"]
    assert totals == [
        ("asked", "", "650"),
        ("asked", "Share 0", "300"),
        ("asked", "Other", "350"),
        ("compared", "", "0"),
        ("compared", "Share 0", "0"),
        ("compared", "Other", "0"),
    ]


@pytest_asyncio.fixture
async def fallen(gateway, tenant):
    """What sold in December and in January, in dollars, and a free share with three sessions in January."""
    home = UUID(tenant.id)
    december = datetime(2025, 12, 10, 9, 30, tzinfo=UTC)
    async with gateway.database.write() as connection:
        names = ["Fallen", "Steady", "Free", "Refunded"]
        shares = await insert_rows(
            connection, ShareRow, [{"workspace_id": home, "name": name} for name in names]
        )
        ids = {share.name: share.id for share in shares}
        payments = [
            ("Fallen", FactKind.PAYMENT, december, 900),
            ("Steady", FactKind.PAYMENT, december, 100),
            ("Steady", FactKind.PAYMENT, MORNING, 200),
            ("Refunded", FactKind.PAYMENT, MORNING, 50),
            ("Refunded", FactKind.REFUND, MORNING, -50),
        ]
        facts = [
            Fact(home, kind, at, share_id=ids[name], currency="usd", amount=amount)
            for name, kind, at, amount in payments
        ]
        facts += [Fact(home, FactKind.FREE_SESSION, MORNING, share_id=ids["Free"]) for _ in range(3)]
        await record_facts(connection, facts)
    return tenant


SOLD = {"metrics": ["file_share_revenue", "file_share_sessions"], "group_by": "share"}


async def test_a_group_is_left_out_only_if_every_metric_asked_is_0(surface, fallen):
    answer = await surface.get_metrics(**JANUARY, **SOLD)
    totals = [
        (group["label"], *(group["totals"][slug] for slug in SOLD["metrics"])) for group in answer["groups"]
    ]
    assert totals == [("Steady", 200, 0), ("Free", 0, 3), ("Refunded", 0, 0)]
    revenue = await surface.get_metrics(**JANUARY, metrics=["file_share_revenue"], group_by="share")
    assert amounts(revenue) == [("Steady", 200, False), ("Refunded", 0, False)]


async def test_a_group_that_sold_in_the_compared_range_only_is_shown_with_its_fall(surface, fallen):
    answer = await surface.get_metrics(**JANUARY, **SOLD, compare="previous")
    assert amounts(answer) == [
        ("Fallen", 0, False),
        ("Steady", 200, False),
        ("Free", 0, False),
        ("Refunded", 0, False),
    ]
    assert amounts(answer["comparison"])[:2] == [("Fallen", 900, False), ("Steady", 100, False)]
    by_this_range = await surface.get_metrics(
        **JANUARY, **SOLD, compare="previous", top_by="file_share_revenue", top=1
    )
    assert amounts(by_this_range) == [("Steady", 200, False), ("Other", 0, True)]
    assert amounts(by_this_range["comparison"]) == [("Steady", 100, False), ("Other", 900, True)]


@pytest.mark.parametrize("top", range(1, 6))
async def test_the_top_groups_are_as_many_as_there_are(surface, fallen, top):
    groups = (await surface.get_metrics(**JANUARY, **SOLD, compare="previous", top=top))["groups"]
    assert len([group for group in groups if not group["is_rest"]]) == min(top, 4)
    assert groups[-1]["is_rest"] is (top < 4)


async def test_a_loss_ranks_by_the_nothing_of_the_other_range(surface):
    share = await surface.create_share(data={"name": "Lossy", "prices": [{"amount_type": "free"}]})
    costs = [{"share_id": share["id"], "cost": {"amount": 5, "currency": "usd"}}]
    costs.append({"cost": {"amount": 1, "currency": "usd"}})
    events = [{"name": "seen", "timestamp": MORNING.isoformat(), **cost} for cost in costs]
    await surface.ingest_events(data={"events": events})
    # Both were 0 before; of two equals, what has no share comes last.
    asked = {**JANUARY, "metrics": ["cashflow"], "group_by": "share", "compare": "previous", "top": 1}
    answer = await surface.get_metrics(**asked, currency="usd")
    assert amounts(answer, "cashflow") == [("Lossy", -5.0, False), ("Other", -1.0, True)]


async def test_a_currency_of_one_range_is_a_group_of_both(gateway, surface, fallen):
    async with gateway.database.write() as connection:
        euros = {"currency": "eur", "amount": 70}
        await record_facts(connection, [Fact(UUID(fallen.id), FactKind.PAYMENT, MORNING, **euros)])
    asked = {**JANUARY, "metrics": ["file_share_revenue"], "group_by": "currency", "compare": "previous"}
    answer = await surface.get_metrics(**asked)
    assert amounts(answer) == [("EUR", 70, False), ("USD", 200, False)]
    assert amounts(answer["comparison"]) == [("EUR", 0, False), ("USD", 1000, False)]


async def test_the_groups_are_the_same_whatever_fields_of_them_are_selected(gateway, fallen):
    for by in ("SHARE", "CURRENCY"):
        asked = f"metrics: [FILE_SHARE_REVENUE, FILE_SHARE_SESSIONS], groupBy: {by}, compare: PREVIOUS"
        both = await ask_graphql(gateway, fallen, "groups { key } comparison { groups { key } }", asked)
        only = await ask_graphql(gateway, fallen, "groups { key }", asked)
        assert only["data"]["metrics"]["groups"] == both["data"]["metrics"]["groups"]
        assert both["data"]["metrics"]["groups"] == both["data"]["metrics"]["comparison"]["groups"]
