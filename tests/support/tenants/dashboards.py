"""A workspace with activity to look at, and what its dashboard shows."""

from __future__ import annotations

import html
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.callers.surfaces import Rest
from tests.support.servers.gateways import Tenant

# Every range of these dates is over, so that nothing depends on when the tests run.
RANGE = {"start_date": "2026-01-26", "end_date": "2026-02-01"}
ADDRESS = "range=custom&start_date=2026-01-26&end_date=2026-02-01"
CHART = re.compile(r'<section class="metric" id="(\w+)"')


async def make_activity(rest: Rest) -> dict[str, Any]:
    """A share, a customer, a paid session, a free one and two events, on the last days of January 2026."""
    begun = datetime(2026, 1, 31, 9, tzinfo=UTC)

    def at(minutes: int) -> str:
        return (begun + timedelta(minutes=minutes)).isoformat()

    price = {"amount_type": "fixed", "price_amount": 1500}
    share = await rest.create_share(data={"name": "Field guide", "prices": [price]})
    customer = await rest.create_customer(data={"email": "grace@example.com", "name": "Grace"})
    own = {"share_id": share["id"], "customer_id": customer["id"], "file_size_bytes": 2_000}
    paid = await rest.create_file_share_session(data={**own, "price_amount": 1500, "created_at": at(0)})
    await rest.record_payment(id=paid["id"], data={"amount": 1500, "currency": "usd", "at": at(5)})
    await rest.record_download(id=paid["id"], data={"at": at(6)})
    await rest.create_file_share_session(data={**own, "created_at": at(-2 * 24 * 60)})
    names = ["file.opened", "file.opened", "page.viewed"]
    events = [{"name": name, "customer_id": customer["id"], "timestamp": at(7)} for name in names]
    await rest.ingest_events(data={"events": events})
    return {"share": share, "customer": customer}


def charts_in(page: str) -> list[str]:
    """The slugs of the charts on a page."""
    return CHART.findall(page)


def table_in(page: str, slug: str) -> list[list[str]]:
    """The values of a chart as its script reads them: a row for each period, then the totals."""
    periods = json.loads(html.unescape(_attribute(page, "data-periods")))
    section = page.partition(f'<section class="metric" id="{slug}"')[2].partition("</section>")[0]
    columns = [periods, _attribute(section, "data-values").split("|")]
    totals = ["In all", *re.findall(r"<strong>(.*?)</strong>", section)]
    if "data-values-before" in section:
        columns.append(_attribute(section, "data-values-before").split("|"))
        totals += re.findall(r'class="before">from (.*?)<', section)
    return [*(list(row) for row in zip(*columns, strict=True)), totals]


def _attribute(text: str, name: str) -> str:
    (value,) = re.findall(rf'{name}="([^"]*)"', text)[:1]
    return value


async def compare_in(rest: Rest, tenant: Tenant) -> None:
    """Let the dashboard of the tenant's workspace compare with the time before."""
    await rest.update_workspace(id=tenant.id, data={"feature_settings": {"analytics_compare": True}})
