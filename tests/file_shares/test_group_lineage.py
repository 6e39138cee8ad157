"""Every number is opened by the call that is given with it, also where customers took external ids late."""

from collections import defaultdict
from decimal import Decimal
from fractions import Fraction

import pytest

from storage.metrics.definitions import BY_SLUG
from tests.file_shares.test_lineage import CURRENCIES, DATES, Teller, owners
from tests.support.measures.cases import cases
from tests.support.tenants.file_shares import ingest

__all__ = ["owners"]

NAMES = ("page.viewed", "page read & shared", "none")
GROUPINGS = (None, "share", "customer", "event_name", "currency")
# A case is an answer: each history is asked once for each grouping, over two surfaces.
HISTORIES = cases(2, 2 * len(GROUPINGS))


class LateTeller(Teller):
    """Also reports under external ids, which customers take later, and names events differently."""

    external_ids = ("late", "later", "never")

    def about(self):
        about = super().about()
        external_id = self.random.choice([None, *self.external_ids])
        if about["customer_id"] is not None or external_id is None:
            return about
        return {"share_id": about["share_id"], "external_customer_id": external_id}

    def event(self):
        return super().event() | {"name": self.random.choice(NAMES)}


class Reader:
    """Follows the calls of numbers, each once."""

    def __init__(self, client, token):
        self.client, self.headers = client, {"Authorization": f"Bearer {token}"}
        self.pages = {}

    async def rows(self, call):
        address = f"{call['path']}?{call['query']}"
        if address not in self.pages:
            answer = await self.client.get(f"{address}&limit=100", headers=self.headers)
            assert answer.status_code == 200, answer.text
            page = answer.json()
            assert page["meta"]["total"] == len(page["data"])
            self.pages[address] = page["data"]
        return self.pages[address]

    async def value(self, call):
        rows = await self.rows(call)
        match call["value"]:
            case "rows":
                return len(rows)
            case "people":
                who = {row["customer_id"] or row["external_customer_id"] for row in rows}
                return len(who - {None})
            case "cost":
                return sum(Fraction(Decimal(row["cost"]["amount"])) for row in rows)
        return sum(row[call["value"]] for row in rows)

    async def check(self, measured, slugs):
        """The rows make each total, as their parts and values say."""
        parts = defaultdict(lambda: {"added": 0, "subtracted": 0, "divisor": 0})
        for call in measured["rows"]:
            parts[call["slug"]][call["part"]] += await self.value(call)
        assert list(parts) == [slug for slug in slugs if slug in parts]
        for slug in slugs:
            made = parts[slug]["added"] - parts[slug]["subtracted"]
            if BY_SLUG[slug].per is not None:
                made = Fraction(made) / parts[slug]["divisor"] if parts[slug]["divisor"] else 0
            total = measured["totals"][slug]
            assert float(made) == float(total), (
                slug,
                [call for call in measured["rows"] if call["slug"] == slug],
            )


@pytest.fixture
async def told(rest, owners, request):
    """A history, of which customers took over parts with external ids, one of them deleted later."""
    share_ids, (first, second) = owners
    teller = LateTeller(request.param, share_ids, [first, second])
    await ingest(rest, *(teller.history(number) for number in range(20)))
    await rest.ingest_events(data={"events": [teller.event() for _ in range(20)]})
    await rest.update_customer(id=first, data={"external_id": "late"})
    third = await rest.create_customer(data={"email": "cy@example.com", "external_id": "later"})
    await ingest(rest, *(teller.history(number) for number in range(20, 30)))
    await rest.ingest_events(data={"events": [teller.event() for _ in range(20)]})
    if teller.random.random() < 0.3:
        await rest.delete_customer(id=third["id"])
    return teller


@pytest.mark.parametrize("told", range(HISTORIES), indirect=True)
async def test_the_rows_that_a_number_is_opened_by_make_it(surface, gateway, tenant, told):
    reader, random = Reader(gateway.client, tenant.token), told.random
    opened = 0
    for grouping in GROUPINGS:
        slugs = random.sample(list(BY_SLUG), random.choice([2, len(BY_SLUG)]))
        start, end = sorted(random.choices(DATES, k=2))
        asked = {"start_date": start, "end_date": end, "timezone": told.filters()["timezone"]}
        some = {"share_id": told.share_ids, "customer_id": told.customer_ids}
        asked |= {
            name: random.sample(ids, random.randint(1, 2))
            for name, ids in some.items()
            if random.random() < 0.2
        }
        if grouping is not None:
            asked |= {"group_by": grouping, "top": random.randint(1, 4)}
        answer = await surface.get_metrics(
            **asked, metrics=slugs, currency=random.choice(CURRENCIES), interval="day", compare="previous"
        )
        for range_ in (answer, answer["comparison"]):
            for measured in (range_, *range_["groups"]):
                await reader.check(measured, slugs)
                opened += len(measured["rows"])
    assert opened


async def test_a_call_is_given_for_what_a_metric_is_made_of(surface):
    answer = await surface.get_metrics(
        start_date="2026-03-01",
        end_date="2026-03-31",
        timezone="Europe/Berlin",
        interval="month",
        currency="eur",
        metrics=["cashflow", "file_share_completed_sessions"],
    )
    query = "start_date=2026-03-01&end_date=2026-03-31&timezone=Europe/Berlin"
    payments, refunds, costs, completed = answer["rows"]
    assert payments == {
        "slug": "cashflow",
        "part": "added",
        "value": "amount",
        "path": "/api/file-share-payments/",
        "query": f"{query}&currency=eur",
    }
    assert (refunds["path"], refunds["part"]) == ("/api/file-share-refunds/", "subtracted")
    assert (costs["path"], costs["part"], costs["value"]) == ("/api/events/", "subtracted", "cost")
    assert (completed["path"], completed["value"]) == ("/api/file-share-sessions/", "rows")
    assert completed["query"] == f"{query}&metric=file_share_completed_sessions"
