"""Every number of a group can be opened, also where a customer took an external id that had facts."""

import os
from decimal import Decimal

import pytest

from tests.file_shares.test_lineage import CURRENCIES, SESSION_METRICS, Teller, owners
from tests.support.tenants.file_shares import ingest

__all__ = ["owners"]

NAMES = ("page.viewed", "page.read", "page.shared")
SEEDS = max(2, int(os.environ.get("EXAMPLES", "0")) // 10)


class LateTeller(Teller):
    """Also reports under external ids, which customers take later, and names events differently."""

    external_ids = ("late", "later")

    def about(self):
        about = super().about()
        external_id = self.random.choice([None, *self.external_ids])
        if about["customer_id"] is not None or external_id is None:
            return about
        return {"share_id": about["share_id"], "external_customer_id": external_id}

    def event(self):
        return super().event() | {"name": self.random.choice(NAMES)}


def opening(grouping, group, shown):
    """The filter of lists that opens a group, as docs/metrics.md says; None for groups without one."""
    key, field = group["key"], {"share": "share_id", "customer": "customer_id", "event_name": "name"}[grouping]
    if group["is_rest"]:
        return {f"{field}_not": shown}
    if key is None:
        return None if grouping == "event_name" else {field: ["none"]}
    return {field: [key]}


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_the_rows_of_a_group_add_up_to_its_numbers(surface, rest, owners, seed):
    share_ids, (first, second) = owners
    teller = LateTeller(seed, share_ids, [first, second])
    await ingest(rest, *(teller.history(number) for number in range(20)))
    await rest.ingest_events(data={"events": [teller.event() for _ in range(20)]})
    await rest.update_customer(id=first, data={"external_id": "late"})
    await rest.create_customer(data={"email": "cy@example.com", "external_id": "later"})
    await ingest(rest, *(teller.history(number) for number in range(20, 30)))
    await rest.ingest_events(data={"events": [teller.event() for _ in range(20)]})
    opened = 0
    for grouping in ("share", "customer", "event_name"):
        dates = {name: value for name, value in teller.filters().items() if not name.endswith("_id")}
        asked = {"currency": teller.random.choice(CURRENCIES), "top": teller.random.randint(1, 4)}
        answer = await surface.get_metrics(
            **dates, **asked, group_by=grouping, interval="day", compare="previous"
        )
        shown = [group["key"] or "none" for group in answer["groups"] if not group["is_rest"]]
        if grouping == "event_name":
            shown = [key for key in shown if key != "none"]
        for group in answer["groups"]:
            filters = opening(grouping, group, shown)
            if filters is not None:
                await compare(surface, dates | filters, asked["currency"], grouping, group["totals"])
                opened += 1
    assert opened


async def compare(surface, filters, currency, grouping, totals):
    """The sums and counts of the rows are the totals."""
    money = {**filters, "currency": [currency], "limit": 100}
    costly = (await surface.list_events(**money))["data"]
    assert float(sum(Decimal(event["cost"]["amount"]) for event in costly)) == totals["costs"], filters
    if grouping == "event_name":
        return
    for slug in SESSION_METRICS:
        page = await surface.list_file_share_sessions(**filters, metric=slug, limit=100)
        assert page["meta"]["total"] == len(page["data"]) == totals[slug], (slug, filters)
    downloads = await surface.list_file_share_downloads(**filters)
    assert downloads["meta"]["total"] == totals["file_share_downloads"], filters
    payments = (await surface.list_file_share_payments(**money))["data"]
    refunds = (await surface.list_file_share_refunds(**money))["data"]
    for metric, field in (("file_share_revenue", "amount"), ("file_share_platform_fees", "platform_fee")):
        paid, back = (sum(item[field] for item in items) for items in (payments, refunds))
        assert paid - back == totals[metric], filters
