"""The dashboard without a browser's scripts: what it shows, what it asks, and what it refuses."""

import html
import json
import re
from uuid import UUID

import pytest

from gateway.web.dashboard import page as dashboard
from gateway.web.dashboard import parts
from gateway.web.dashboard.metrics.layout import CUMULATIVE, HEADLINE
from gateway.web.dashboard.page import NEW_FOR
from resolvers.portal.portal import get_portal_customer
from storage.clock import now
from storage.metrics.definitions import METRICS
from storage.rows.rows import table_of, update_rows
from storage.tables.workspaces.workspaces import WorkspaceRow
from tests.support.browsers.browsing import browsing, signed_in
from tests.support.callers.surfaces import Rest
from tests.support.servers.gateways import make_tenant
from tests.support.tenants.dashboards import ADDRESS, RANGE, charts_in, compare_in, table_in
from tests.support.tenants.membership import make_member

MOST_ELEMENTS = 1_500
MOST_BYTES = 90 * 1024
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


async def test_every_metric_is_a_chart_and_that_of_the_chosen_headline_is_the_first(owner, path, activity):
    found = set()
    for slug in HEADLINE:
        page = (await owner.open(f"{path}?metric={slug}")).text
        charts = charts_in(page)
        assert charts[0] == slug
        assert re.findall(r'<a id="tab-(\w+)"[^>]* aria-current="true"', page) == [slug]
        assert page.count('role="img"') == len(charts) == len(set(charts))
        cumulative = charts_in((await owner.open(f"{path}?metric={slug}&cumulative=1")).text)
        assert [CUMULATIVE.get(each, each) for each in charts] == cumulative
        found |= {*charts, *cumulative}
    assert found == {metric.slug for metric in METRICS}
    assert charts_in((await owner.open(f"{path}?metric=costs")).text)[0] == HEADLINE[0]


async def test_what_the_address_chooses_stays_chosen_by_tabs_and_by_the_form(owner, path, rest, tenant):
    await compare_in(rest, tenant)
    page = (await owner.open(f"{path}?range=7d&metric=cashflow&cumulative=1&compare=none")).text
    address = f"{path}?range=7d&compare=none&metric=file_share_sessions&cumulative=1"
    assert address in map(html.unescape, re.findall(r'<a id="tab-[^>]* href="([^"]+)"', page))
    assert '<input type="hidden" name="metric" value="cashflow">' in page
    assert re.search(r'<input type="checkbox" [^>]*name="cumulative" value="1" checked>', page)


async def test_a_metric_has_a_page_with_its_table_and_only_those_there_are(owner, path, activity):
    page = (await owner.open(f"{path}?{ADDRESS}")).text
    address = next(link for link in owner.reading.links if "/metric/file_share_paid_sessions" in link)
    shown = table_in(page, "file_share_paid_sessions")
    page = (await owner.open(address.partition("#")[0])).text
    table = re.sub("</?a[^>]*>", "", page.partition("<tbody>")[2].partition("</table>")[0])
    rows = re.findall(r"<tr>(.*?)</tr>", table)
    assert [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows] == shown
    assert (await owner.open(f"{path}/metric/nothing")).status_code == 404
    for place in ("metric/costs", "metric/costs/csv", "top/share"):
        await owner.open(f"{path}/{place}?timezone=Mars")
        assert owner.path == path


async def test_the_values_are_those_of_the_operation(owner, path, rest, activity):
    asked = {**RANGE, "interval": "day", "timezone": "Asia/Kolkata"}
    answer = await rest.get_metrics(**asked)
    for slug in ("file_share_sessions", "file_share_downloads", "active_user_by_event"):
        page = (await owner.open(f"{path}?{ADDRESS}&interval=day&timezone=Asia/Kolkata&metric={slug}")).text
        rows = table_in(page, slug)
        assert [row[1] for row in rows] == [str(period[slug]) for period in answer["periods"]] + [
            str(answer["totals"][slug])
        ]
    assert table_in(page, "file_share_payment_conversion")[0][0] == "Mon 26 Jan 2026"
    revenue = (await owner.open(f"{path}?{ADDRESS}")).text
    assert table_in(revenue, "file_share_revenue")[-1][1] == "$15.00"
    assert table_in(page, "file_share_payment_conversion")[-1][1] == "100.0%"
    assert table_in(page, "file_share_total_size_bytes")[-1][1] == "4 kB"


async def test_the_interval_follows_from_the_range_unless_it_is_chosen(owner, path):
    for query, label in (
        ("start_date=2026-01-31&end_date=2026-01-31", "Sat 31 Jan 2026, 00:00"),
        ("start_date=2026-01-31&end_date=2026-02-28", "Sat 31 Jan 2026"),
        ("start_date=2025-02-01&end_date=2026-01-31", "February 2025"),
        ("start_date=2025-02-01&end_date=2026-01-31&interval=week", "Week of 27 Jan 2025"),
    ):
        page = (await owner.open(f"{path}?{query}&metric=file_share_sessions")).text
        assert table_in(page, "file_share_sessions")[0][0] == label


@pytest.mark.parametrize("range_", ["today", "7d", "30d", "90d", "12m", "month", "something"])
async def test_every_range_is_answered(owner, path, range_):
    answer = await owner.open(f"{path}?range={range_}")
    assert answer.status_code == 200
    assert charts_in(answer.text)[:1] == list(HEADLINE[:1])


async def test_it_compares_only_where_the_workspace_does(owner, path, rest, tenant, activity):
    query = "start_date=2026-01-31&end_date=2026-02-01&interval=day&metric=file_share_sessions"
    page = (await owner.open(f"{path}?{query}&compare=previous")).text
    assert "data-values-before" not in page
    assert "Compare with the period before" in owner.text
    await compare_in(rest, tenant)
    page = (await owner.open(f"{path}?{query}")).text
    assert table_in(page, "file_share_sessions") == [
        ["Sat 31 Jan 2026", "1", "1"],
        ["Sun 1 Feb 2026", "0", "0"],
        ["In all", "1", "1"],
    ]
    assert "Dashed: 29 January 2026 to 30 January 2026" in owner.text
    page = (await owner.open(f"{path}?{query}&compare=none")).text
    assert "data-values-before" not in page
    page = (await owner.open(f"{path}?{query}&compare=previous_year")).text
    assert "Dashed: 31 January 2025 to 1 February 2025" in owner.text


async def test_ninety_days_stay_small(owner, path, rest, tenant, activity):
    await compare_in(rest, tenant)
    page = (await owner.open(f"{path}?start_date=2025-11-10&end_date=2026-02-07&interval=day")).text
    assert len(json.loads(html.unescape(re.findall(r'data-periods="([^"]*)"', page)[0]))) == 90
    # The lists that come later have a few hundred.
    assert len(re.findall(r"<[a-z]", page)) < MOST_ELEMENTS
    files = re.findall(r'(?:href|src)="(/static/[^"]+\.(?:css|js)[^"]*)"', page)
    assert len(files) > 5
    headers = {**SAME_ORIGIN, "Accept-Encoding": "gzip"}
    sent = [await owner.client.get(file, headers=headers) for file in [owner.path, *files]]
    assert {answer.headers["content-encoding"] for answer in sent} == {"gzip"}
    assert sum(int(answer.headers["content-length"]) for answer in sent) < MOST_BYTES


async def test_a_share_and_a_customer_are_filters(owner, path, rest, activity):
    await rest.create_file_share_session(data={"file_size_bytes": 1, "created_at": "2026-01-31T10:00:00Z"})
    for query, sessions in (
        ("", "3"),
        (f"&share_id={activity['share']['id']}", "2"),
        (f"&customer_id={activity['customer']['id']}", "2"),
        ("&customer_id=Grace@example.com", "2"),
        ("&customer_id=grace", "2"),
    ):
        page = (await owner.open(f"{path}?{ADDRESS}&metric=file_share_sessions{query}")).text
        assert table_in(page, "file_share_sessions")[-1][1] == sessions


async def test_the_query_of_a_chart_gives_its_values_and_has_no_token(owner, path, gateway, tenant, activity):
    query = f"{ADDRESS}&share_id={activity['share']['id']}&currency=usd"
    page = (await owner.open(f"{path}/metric/file_share_sessions?{query}")).text
    document, command = map(html.unescape, re.findall(r"<pre[^>]*><code>(.*?)</code>", page, re.S))
    assert "$TOKEN" in command
    assert "dg_" not in document + command
    headers = {"Authorization": f"Bearer {tenant.token}"}
    answer = await gateway.client.post("/graphql", json={"query": document}, headers=headers)
    (series,) = answer.json()["data"]["metrics"]["series"]
    assert series["total"] == 2
    pairs = re.findall(r'--data-urlencode "(\w+)=([^"]*)"', command)
    answer = await gateway.client.get("/api/metrics/", params=pairs, headers=headers)
    assert answer.json()["totals"] == {"file_share_sessions": 2}


async def test_the_lists_show_what_happened_last(owner, path, activity):
    await owner.open(f"{path}?{ADDRESS}")
    text = owner.text
    assert "Latest sessions All sessions Field guide 31 Jan 2026, 09:00 Active $15.00" in text
    assert "Latest payments All payments Field guide 31 Jan 2026, 09:05 $15.00" in text


async def test_the_top_lists_are_pages_of_their_own(owner, path, rest, activity):
    await owner.open(f"{path}?{ADDRESS}")
    found = {}
    for address in [link for link in owner.reading.links if "/dashboard/top/" in link]:
        await owner.open(address)
        found[address.partition("?")[0].rpartition("/")[2]] = owner.text
    assert "Top shares Name Revenue Sessions Field guide $15.00 2" in found["share"]
    assert "Top customers Name Revenue Sessions Grace $15.00 2" in found["customer"]
    assert "Events by name Name Events file.opened 2 page.viewed 1" in found["event"]
    assert (await owner.open(f"{path}/top/nothing")).status_code == 404
    # Sessions without a share are in the list, and have no dashboard of their own.
    await rest.create_file_share_session(data={"file_size_bytes": 1, "created_at": "2026-01-31T10:00:00Z"})
    await owner.open(f"{path}/top/share?{ADDRESS}&rank=file_share_sessions")
    assert "Sessions Revenue Field guide 2 $15.00 No share 1 $0.00" in owner.text
    assert [f"{name}</a>" in owner.page.text for name in ("Field guide", "No share")] == [True, False]


async def test_problems_are_shown_beside_their_fields(owner, path):
    for query, message in (
        ("timezone=Mars", "Time zone: Enter an IANA time zone name"),
        ("start_date=never&end_date=2026-01-01", "First date: Enter a date"),
        ("start_date=2026-02-01&end_date=2026-01-01", "Last date: The last date should not be before"),
        ("start_date=1026-02-01&end_date=1026-02-02", "First date: This should be within the years"),
        ("range=12m&interval=hour", "Interval: This makes more than 750 periods"),
        ("customer_id=nobody", "Customer: No customer matches this"),
        ("share_id=x", "Share: "),
        ("currency=xxx", "Currency: "),
    ):
        answer = await owner.open(f"{path}?{query}")
        assert answer.status_code == 422, query
        assert message in owner.text, query
        assert charts_in(answer.text) == []


async def test_the_customer_of_another_workspace_is_not_found(owner, path, gateway, other_tenant):
    theirs = await Rest(gateway.client, gateway.app, other_tenant.token).create_customer(
        data={"email": "alan@example.com"}
    )
    await owner.open(f"{path}?customer_id={theirs['id']}")
    assert "No customer matches this" in owner.text
    await owner.open(f"{path}?customer_id=alan@example.com")
    assert "No customer matches this" in owner.text


async def test_a_new_workspace_is_shown_its_first_steps_checked_off_as_they_happen(
    gateway, owner, path, rest, tenant
):
    async def open_steps():
        page = (await owner.open(path)).text
        assert "$0.50" not in page  # Where all is 0, an axis has nothing else to name.
        return re.findall(r'<li class="(completed|open)">', page)

    assert await open_steps() == ["open", "completed", "open", "open"]
    await rest.create_share(data={"name": "Field guide", "prices": [{"amount_type": "free"}]})
    assert await open_steps() == ["completed", "completed", "open", "open"]
    await rest.ingest_events(data={"events": [{"name": "page.viewed", "external_customer_id": "reader-1"}]})
    assert await open_steps() == ["completed", "completed", "completed", "open"]
    await make_member(gateway, tenant)
    assert await open_steps() == []


async def test_what_has_happened_ends_the_first_steps_of_a_workspace_that_is_no_longer_new(
    gateway, owner, path, tenant, activity
):
    assert 'class="open"' in (await owner.open(f"{path}?{ADDRESS}")).text
    async with gateway.database.write() as connection:
        own = table_of(WorkspaceRow).c.id == UUID(tenant.id)
        await update_rows(connection, WorkspaceRow, own, created_at=now() - NEW_FOR)
    assert 'class="open"' not in (await owner.open(f"{path}?{ADDRESS}")).text


async def test_charts_that_are_refused_leave_the_rest_of_the_page(owner, path, activity, monkeypatch):
    """An operation that refuses the browser's session stands for any refusal of the metrics."""
    monkeypatch.setattr(dashboard, "get_metrics", get_portal_customer)
    answer = await owner.open(f"{path}?{ADDRESS}")
    assert answer.status_code == 200
    assert "A browser session cannot do this" in owner.text
    assert charts_in(answer.text) == []
    assert "Latest sessions All sessions Field guide" in owner.text


async def test_a_part_that_is_refused_leaves_the_others(owner, path, activity, monkeypatch):
    """An operation that refuses the browser's session stands for any refusal of a part."""
    monkeypatch.setattr(parts, "list_file_share_payments", get_portal_customer)
    answer = await owner.open(f"{path}?{ADDRESS}")
    assert answer.status_code == 200
    assert "All payments This could not be loaded. A browser session cannot do this" in owner.text
    assert "Latest sessions All sessions Field guide" in owner.text
    assert len(charts_in(answer.text)) > 1


async def test_members_see_it_and_others_do_not(gateway, owner, path, tenant, other_tenant):
    for place in ("", "/top/share", "/metric/costs", "/arrange"):
        await owner.open(f"{path}{place}")
        assert owner.page.status_code == 200
    async with signed_in(gateway, other_tenant) as stranger:
        for place in ("", "/top/share", "/top/event", "/metric/costs", "/arrange"):
            assert (await stranger.open(f"{path}{place}")).status_code == 404
            assert "Acme" not in stranger.text
    async with browsing(gateway) as visitor:
        await visitor.open(f"{path}?range=7d")
        assert visitor.path.startswith("/sign-in?next=")
        await visitor.press("Sign in", email=tenant.user_email, password="a long password")
        assert visitor.path == f"{path}?range=7d"


async def test_the_start_leads_to_the_workspace_used_last(gateway, tenant):
    async with signed_in(gateway, tenant) as owner:
        await owner.open("/dashboard")
        assert owner.path == f"/{tenant.slug}/dashboard"
        slug = f"another-{tenant.slug}"
        await owner.open("/workspaces")
        await owner.press("Create workspace", name="Aardvark", slug=slug)
        assert owner.path == f"/{slug}/dashboard"
        for start in ("/", "/dashboard"):
            await owner.open(start)
            assert owner.path == f"/{slug}/dashboard"
        assert f"/{tenant.slug}/dashboard" in owner.reading.links
        await owner.open(f"/{tenant.slug}/dashboard")
        await owner.open("/dashboard")
        assert owner.path == f"/{tenant.slug}/dashboard"


async def test_a_workspaces_text_is_text(gateway):
    tenant = await make_tenant(gateway, name="<script>alert(1)</script>")
    async with signed_in(gateway, tenant) as owner:
        answer = await owner.open(f"/{tenant.slug}/dashboard")
        assert "<script>alert" not in answer.text
