"""Plausible activity: histories of sessions, as a backfill sends them, and events."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from random import Random
from uuid import UUID
from zoneinfo import ZoneInfo

from resolvers.file_shares.histories import History
from resolvers.file_shares.opening import row_of_session
from schema.file_shares.backfill import FileShareSessionHistory, PaymentHistory, RefundHistory
from schema.values.scalars import Long
from storage.enums import Currency, EventSource
from storage.persons.persons import ResolvedPerson
from storage.rows.rows import Values, new_row
from storage.tables.events.events import EventRow

ZONES = tuple(
    map(ZoneInfo, ("America/New_York", "Europe/Berlin", "Europe/London", "Asia/Kolkata", "Asia/Tokyo"))
)
EVENT_NAMES = ("file.opened", "page.viewed", "preview.played", "link.shared")
# Weights of the days of the week, from Monday, and of the hours of a day in the customer's time zone.
WEEKDAYS = (10, 11, 11, 10, 12, 15, 14)
HOURS = (2, 1, 1, 1, 1, 2, 4, 6, 8, 9, 9, 9, 10, 9, 8, 8, 9, 10, 12, 14, 15, 12, 8, 4)
# The weight of the busiest day and how many days ago it was; the share of its custom that a quiet week has.
RUSH, RUSH_AGO = 45, 17
QUIET, QUIET_AGO = 0.35, range(33, 40)
PARTS_PER_UNIT = 10**12
EXPIRY = timedelta(days=7)


@dataclass(frozen=True)
class Item:
    """A share to buy: its price in minor units, None if it is free, and the size of its files in bytes."""

    share_id: UUID
    price_amount: int | None
    currency: Currency
    size: Long


@dataclass(frozen=True)
class Buyer:
    """A customer with a time zone."""

    person: ResolvedPerson
    zone: ZoneInfo


@dataclass(frozen=True)
class Activity:
    """The activity of a workspace in the `days` before `until`. The same seed of `random` repeats it."""

    random: Random
    workspace_id: UUID
    items: Sequence[Item]
    buyers: Sequence[Buyer]
    days: int
    until: datetime

    def batches(self, sessions: int, size: int) -> Iterator[tuple[list[History], list[EventRow]]]:
        """Yield this many sessions and as many events in order of their days, `size` in each batch."""
        # A few customers buy often, many buy once.
        weights = tuple(accumulate(1 / (rank + 10) for rank in range(len(self.buyers))))
        days = sorted(self._day() for _ in range(sessions))
        for start in range(0, sessions, size):
            days_of_batch = days[start : start + size]
            buyers = self.random.choices(self.buyers, cum_weights=weights, k=len(days_of_batch))
            both = list(enumerate(zip(buyers, days_of_batch, strict=True), start))
            yield (
                [self._session(f"session-{number}", buyer, day) for number, (buyer, day) in both],
                [self._event(buyer, day) for _, (buyer, day) in both],
            )

    def _item(self) -> Item:
        """A random share: a few are popular."""
        weights = [1 / (rank + 2) for rank in range(len(self.items))]
        return self.random.choices(self.items, weights)[0]

    def _day(self) -> int:
        """A random day of the range: later days and weekends are busier, with a rush and a quiet week."""
        while True:
            day = int(self.days * self.random.random() ** 0.7)
            ago = self.days - day
            usual = WEEKDAYS[(self.until - timedelta(days=ago)).weekday()]
            weight = RUSH if ago == RUSH_AGO else usual * QUIET if ago in QUIET_AGO else usual
            if self.random.random() * RUSH <= weight:
                return day

    def _moment(self, day: int, zone: ZoneInfo) -> datetime:
        """A random moment of that day of the range: evenings are busier."""
        random = self.random
        date = (self.until - timedelta(days=self.days - day)).date()
        (hour,) = random.choices(range(24), HOURS)
        local = datetime(date.year, date.month, date.day, hour, tzinfo=zone)
        moment = local.astimezone(UTC) + timedelta(microseconds=random.randrange(3_600_000_000))
        return min(moment, self.until - timedelta(seconds=1))

    def _session(self, external_id: str, buyer: Buyer, day: int) -> History:
        random, item, created_at = self.random, self._item(), self._moment(day, buyer.zone)
        price, downloads = item.price_amount, list[datetime]()
        payments = list[PaymentHistory]()
        if price and random.random() < 0.63:
            payments = [self._payment(price, item.currency, created_at)]
        if payments or not price:
            (many,) = random.choices((0, 1, 2, 3, 5), (12, 55, 20, 9, 4))
            downloads = sorted(self._later(created_at, days=2) for _ in range(many))
        is_completed, expired_at = downloads and random.random() < 0.75, created_at + EXPIRY
        # Without validation, which would take longer than the rest.
        sent = FileShareSessionHistory.model_construct(
            external_id=external_id,
            created_at=created_at,
            file_size_bytes=item.size,
            share_id=item.share_id,
            price_amount=price,
            price_currency=item.currency if price else None,
            downloads=downloads,
            payments=payments,
            completed_at=self._later(downloads[-1], days=1) if is_completed else None,
            expired_at=expired_at if expired_at < self.until and not is_completed else None,
        )
        row = row_of_session(self.workspace_id, sent, buyer.person, item.currency, self.until)
        made = History(row, self.until)
        made.add(sent, ())
        return made

    def _payment(self, amount: int, currency: Currency, created_at: datetime) -> PaymentHistory:
        random, at, refunds = self.random, self._later(created_at, days=1 / 120), list[RefundHistory]()
        if random.random() < 0.04:
            part = amount if random.random() < 0.7 else amount // 2
            refunds = [RefundHistory.model_construct(amount=part, at=self._later(at, days=14))]
        fee = amount * 4 // 100 + 40
        return PaymentHistory.model_construct(
            amount=amount, platform_fee=fee, currency=currency, at=at, refunds=refunds
        )

    def _event(self, buyer: Buyer, day: int) -> EventRow:
        random, cost = self.random, Values()
        if random.random() < 0.3:
            whole, parts = divmod(random.randrange(3 * PARTS_PER_UNIT), PARTS_PER_UNIT)
            cost = {"cost_currency": "usd", "cost_amount": whole, "cost_parts": parts}
        return new_row(
            EventRow,
            workspace_id=self.workspace_id,
            created_at=self.until,
            timestamp=self._moment(day, buyer.zone),
            source=EventSource.USER.value,
            name=random.choice(EVENT_NAMES),
            customer_id=buyer.person.customer_id,
            external_customer_id=buyer.person.external_customer_id,
            person=buyer.person.person,
            share_id=self._item().share_id,
            **cost,
        )

    def _later(self, moment: datetime, *, days: float) -> datetime:
        """A random moment after `moment`, more often sooner than later, and never in the future."""
        later = moment + timedelta(days=days * self.random.random() ** 3)
        return max(moment, min(later, self.until))
