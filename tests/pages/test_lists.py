"""Lists of records: the filters in force, the rows of a page, and the list as a file."""

import csv
from datetime import timedelta
from io import StringIO
from urllib.parse import unquote

import pytest

from gateway.web.records.kit import exports, figures
from resolvers.portal.portal import get_portal_customer
from storage.clock import now
from tests.support.browsers.browsing import signed_in

FREE = {"prices": [{"amount_type": "free"}]}


@pytest.fixture
def base(tenant):
    return f"/{tenant.slug}"


def links_to(owner, *parts):
    return [link for link in owner.reading.links if all(part in link for part in parts)]


async def test_each_filter_in_force_is_shown_and_can_be_taken_away(owner, rest, base, customer):
    share = await rest.create_share(data={"name": "Atlas", **FREE})
    await rest.create_file_share_session(
        data={"share_id": share["id"], "customer_id": customer["id"], "file_size_bytes": 1}
    )
    filters = f"share_id={share['id']}&status=created&start_date=2026-01-31&customer_id=none"
    await owner.open(f"{base}/sessions?{filters}&sorting=created_at&page=1")
    assert "No sessions match these filters" in owner.text
    for chip in ("Share: Atlas", "Status: Created", "31 January 2026", "Customer: None"):
        assert chip in owner.text
    of_chips = [
        link for link in links_to(owner, "/sessions?", "start_date=", "status=") if "page" not in link
    ]
    [without] = [link for link in of_chips if "customer_id" not in link]
    assert f"share_id={share['id']}" in without
    assert "sorting=created_at" in without
    await owner.open(without)
    assert "1 session " in owner.text
    await owner.open(f"{base}/sessions?share_id_not=atlas")
    assert "Not this share: Atlas" in owner.text
    assert "No sessions match these filters" in owner.text
    await owner.open(f"{base}/shares?metadata.0.key=shelf&metadata.0.value=7a&query=Atlas")
    assert "Metadata: shelf = 7a" in owner.text
    [without] = links_to(owner, "metadata.0.key=shelf&metadata.0.value=7a")[:1]
    assert "query" not in without
    # The form always has one more row, which says nothing.
    await owner.open(
        f"{base}/shares?metadata.0.key=shelf&metadata.0.value=7a&metadata.1.key=&metadata.1.value="
    )
    assert owner.page.text.count("Remove the filter") == 1
    await owner.open(f"{base}/shares?visibility=secret")
    assert "Remove the filter" not in owner.text


async def test_a_filter_by_what_there_is_not_stays_chosen(owner, base):
    await owner.open(f"{base}/events?name=nothing.yet")
    assert dict(owner.form("Show").fields)["name"] == "nothing.yet"


async def test_a_page_has_as_many_rows_as_were_asked_for(owner, rest, base):
    for number in range(27):
        await rest.create_share(data={"name": f"Guide {number:02}", **FREE})
    await owner.open(f"{base}/shares?query=guide&sorting=name&page=2")
    [link] = links_to(owner, "limit=50")
    assert "query=guide" in link
    assert "page" not in link
    await owner.open(link)
    assert "Guide 26" in owner.text
    assert dict(owner.form("Show").fields)["limit"] == "50"
    await owner.open(f"{base}/shares?limit=1000")
    assert "Page 1 of 2" in owner.text


async def sheet(owner, path):
    """The rows of the file behind the page's link, with its name."""
    await owner.open(path)
    [link] = links_to(owner, "/csv")
    answer = await owner.client.get(link)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    name = unquote(answer.headers["content-disposition"].partition("filename*=UTF-8''")[2])
    return list(csv.DictReader(StringIO(answer.content.decode("utf-8-sig")))), name


async def test_a_list_is_exported_as_it_is_shown(owner, rest, base, tenant, customer):
    await rest.update_workspace(id=tenant.id, data={"name": "Harbour", "timezone": "Europe/Berlin"})
    costs = {"amount_type": "fixed", "price_amount": 1250, "price_currency": "eur"}
    for number in range(101):
        await rest.create_share(data={"name": f"Guide {number:03}", "prices": [costs]})
    formula = await rest.create_share(data={"name": "=1+1", **FREE})
    rows, name = await sheet(owner, f"{base}/shares?query=guide&sorting=-name&page=2")
    assert name == "Shares of Harbour.csv"
    assert [row["Name"] for row in rows] == [f"Guide {number:03}" for number in reversed(range(101))]
    assert (rows[0]["Price"], rows[0]["Price: unit"], rows[0]["State"]) == ("12.50", "EUR", "Public")
    assert "Created (Europe/Berlin)" in rows[0]
    rows, _ = await sheet(owner, f"{base}/shares?query=1%2B1")
    assert (rows[0]["Name"], rows[0]["Price"], rows[0]["ID"]) == ("'=1+1", "Free", formula["id"])
    at = now() - timedelta(days=1)
    session = await rest.create_file_share_session(
        data={"share_id": formula["id"], "customer_id": customer["id"], "file_size_bytes": 1}
        | {"price_amount": 500, "price_currency": "jpy", "created_at": at.isoformat()}
    )
    await rest.record_payment(id=session["id"], data={"amount": 500, "currency": "jpy"})
    rows, _ = await sheet(owner, f"{base}/payments")
    assert (rows[0]["Amount"], rows[0]["Amount: unit"], rows[0]["Customer"]) == ("500", "JPY", "Ada")
    assert rows[0]["Refunds"] == ""
    await rest.ingest_events(
        data={
            "events": [{"name": "page.viewed", "external_customer_id": "x", "metadata": {"a": 1, "b": "c"}}]
        }
    )
    rows, _ = await sheet(owner, f"{base}/events?name=page.viewed")
    assert rows[0]["Metadata"] == "a: 1; b: c"
    # Revenue of a customer is in the workspace's currency, and each other currency has a column.
    rows, _ = await sheet(owner, f"{base}/customers")
    revenue = {name: value for name, value in rows[0].items() if name.startswith("Revenue")}
    assert list(revenue.items()) == [
        ("Revenue, 30 days", "0.00"),
        ("Revenue, 30 days: unit", "USD"),
        ("Revenue, 30 days: JPY", "500"),
    ]


async def test_what_is_no_file_leads_back_to_the_list(owner, rest, base, gateway, other_tenant, monkeypatch):
    await rest.create_share(data={"name": "Atlas", **FREE})
    await owner.open(f"{base}/shares/csv?visibility=secret")
    assert owner.path == f"{base}/shares?visibility=secret"
    monkeypatch.setattr(exports, "MOST_ROWS", 0)
    await owner.open(f"{base}/shares/csv?query=atlas")
    assert owner.path == f"{base}/shares?query=atlas"
    assert "A file has at most 0 rows" in owner.text
    async with signed_in(gateway, other_tenant) as stranger:
        assert (await stranger.open(f"{base}/shares/csv")).status_code == 404


async def test_a_list_is_shown_without_the_figures_that_cannot_be_had(owner, rest, base, sale, monkeypatch):
    """An operation that refuses the browser's session stands for any refusal."""
    await owner.open(f"{base}/shares")
    assert "¥1,900" in owner.text
    monkeypatch.setattr(figures, "get_totals", get_portal_customer)
    await owner.open(f"{base}/shares")
    assert owner.page.status_code == 200
    assert "Field guide" in owner.text
    assert "¥1,900" not in owner.text
