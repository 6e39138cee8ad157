"""Every count of the metrics can be opened: the lists with the same filters have what it counts."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random

import pytest

from tests.support.measures.cases import cases
from tests.support.tenants.file_shares import ingest

SESSION_METRICS = (
    "file_share_sessions",
    "file_share_free_sessions",
    "file_share_paid_sessions",
    "file_share_active_sessions",
    "file_share_completed_sessions",
    "file_share_expired_sessions",
)
ZONES = ("UTC", "Asia/Tokyo", "America/New_York", "Pacific/Apia")
CURRENCIES = ("usd", "eur", "jpy")
# Local midnights of the zones, and moments next to them.
MIDNIGHTS = [datetime(2026, 3, day, hour, tzinfo=UTC) for day in (7, 8, 9) for hour in (0, 4, 5, 11, 15)]
# Of each history, which two surfaces are asked about.
QUESTIONS = 6
DATES = ("2026-03-06", "2026-03-07", "2026-03-08", "2026-03-09", "2026-03-10")


class Teller:
    """Invents histories and events, most of them at or next to a local midnight."""

    def __init__(self, seed, share_ids, customer_ids):
        self.random = Random(seed)
        self.share_ids, self.customer_ids = share_ids, customer_ids

    def moment(self, after=None):
        moment = self.random.choice(MIDNIGHTS) + timedelta(microseconds=self.random.choice([-1, 0, 1]))
        return moment if after is None else max(after, moment)

    def about(self):
        return {
            "share_id": self.random.choice([None, *self.share_ids]),
            "customer_id": self.random.choice([None, *self.customer_ids]),
        }

    def history(self, number):
        created = self.moment()
        priced = self.random.random() < 0.6
        downloads = [self.moment(created) for _ in range(self.random.choice([0, 1, 2]))]
        history = self.about() | {
            "external_id": f"s-{number}",
            "created_at": created.isoformat(),
            "file_size_bytes": 7,
            "price_amount": self.random.choice([1, 1500]) if priced else self.random.choice([0, None]),
            "price_currency": self.random.choice(CURRENCIES) if priced else None,
            "downloads": [at.isoformat() for at in downloads],
            "payments": [self.payment(created) for _ in range(self.random.choice([0, 1, 2]))],
        }
        end = self.random.choice([None, "completed_at", "expired_at"])
        return history | ({} if end is None else {end: self.moment(max([created, *downloads])).isoformat()})

    def payment(self, created):
        at, amount = self.moment(created), self.random.randint(2, 5000)
        return {
            "amount": amount,
            "platform_fee": 2,
            "currency": self.random.choice(CURRENCIES),
            "at": at.isoformat(),
            "refunds": [
                {"amount": amount // 2, "platform_fee": 1, "at": self.moment(at).isoformat()}
                for _ in range(self.random.choice([0, 1]))
            ],
        }

    def event(self):
        cost = {"amount": f"{self.random.randint(0, 10**15)}e-12", "currency": self.random.choice(CURRENCIES)}
        cost["amount"] = str(Decimal(cost["amount"]).quantize(Decimal(10) ** -12))
        return self.about() | {
            "name": "page.viewed",
            "timestamp": self.moment().isoformat(),
            "cost": self.random.choice([None, cost]),
        }

    def filters(self):
        start, end = sorted(self.random.choices(DATES, k=2))
        some = {"share_id": self.share_ids, "customer_id": self.customer_ids}
        return {"start_date": start, "end_date": end, "timezone": self.random.choice(ZONES)} | {
            name: self.random.sample(ids, self.random.randint(1, 2))
            for name, ids in some.items()
            if self.random.random() < 0.4
        }


@pytest.fixture
async def owners(rest):
    price = [{"amount_type": "free"}]
    shares = [await rest.create_share(data={"name": "Mix", "prices": price}) for _ in range(2)]
    emails = ("ada@example.com", "bo@example.com")
    customers = [await rest.create_customer(data={"email": email}) for email in emails]
    return [share["id"] for share in shares], [customer["id"] for customer in customers]


@pytest.mark.parametrize("seed", range(cases(3, 2 * QUESTIONS)))
async def test_the_totals_of_lists_are_what_metrics_count(surface, rest, owners, seed):
    teller = Teller(seed, *owners)
    await ingest(rest, *(teller.history(number) for number in range(30)))
    await rest.ingest_events(data={"events": [teller.event() for _ in range(30)]})
    for _ in range(QUESTIONS):
        filters, currency = teller.filters(), teller.random.choice(CURRENCIES)
        measured = await rest.get_metrics(**filters, interval="day", currency=currency)
        for slug in SESSION_METRICS:
            page = await surface.list_file_share_sessions(**filters, metric=slug, limit=100)
            assert page["meta"]["total"] == len(page["data"]) == measured["totals"][slug], (slug, filters)
        plain = await surface.list_file_share_sessions(**filters)
        assert plain["meta"]["total"] == measured["totals"]["file_share_sessions"]
        downloads = await surface.list_file_share_downloads(**filters)
        assert downloads["meta"]["total"] == measured["totals"]["file_share_downloads"]
        await compare_money(surface, filters, currency, measured["totals"])


async def compare_money(surface, filters, currency, totals):
    """Payments minus refunds are the revenue and the fees, and the costs of events are the costs."""
    money = {**filters, "currency": [currency], "limit": 100}
    payments = (await surface.list_file_share_payments(**money))["data"]
    refunds = (await surface.list_file_share_refunds(**money))["data"]
    for metric, field in (("file_share_revenue", "amount"), ("file_share_platform_fees", "platform_fee")):
        paid, back = (sum(item[field] for item in items) for items in (payments, refunds))
        assert paid - back == totals[metric], filters
    costly = (await surface.list_events(**money))["data"]
    assert float(sum(Decimal(event["cost"]["amount"]) for event in costly)) == totals["costs"]
    events = (await surface.list_events(**filters, source="user", limit=100))["data"]
    persons = {event["customer_id"] for event in events} - {None}
    assert len(persons) == totals["active_user_by_event"]
