"""Requests for groups: who may ask, names, bounds, costs, statements, and the export."""

import csv
from datetime import UTC, datetime
from io import StringIO
from uuid import UUID

import pytest
import pytest_asyncio

from oauth.scopes import Scope
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


async def test_the_statements_are_as_many_for_three_groups_as_for_one(gateway, surface, sold):
    await fold_all(gateway, UUID(sold.id))

    async def statements(top):
        # The first answer to a document tells that no plan can write it, and is read again.
        await surface.get_metrics(**JANUARY, group_by="share", top=top)
        with noted(gateway.database) as noted_statements:
            await surface.get_metrics(**JANUARY, group_by="share", top=top)
        return len(noted_statements)

    assert await statements(3) == await statements(1)


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
    ]
