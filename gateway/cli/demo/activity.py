"""Plausible activity: histories of sessions and events, built from the same steps as live calls."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from random import Random
from uuid import UUID
from zoneinfo import ZoneInfo

from resolvers.events.ingestion import facts_of
from resolvers.file_shares.steps import (
    Step,
    begin,
    download,
    end,
    is_priced,
    of_payment,
    of_session,
    pay,
    refund,
    refunded,
)
from storage.enums import EventSource, FileShareSessionStatus
from storage.metrics.facts import Fact
from storage.rows.rows import Values, changed, new_row, values_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.events.events import EventRow
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)

ZONES = tuple(
    map(ZoneInfo, ("America/New_York", "Europe/Berlin", "Europe/London", "Asia/Kolkata", "Asia/Tokyo"))
)
EVENT_NAMES = ("file.opened", "page.viewed", "preview.played", "link.shared")
# Weights of the days of the week, from Monday, and of the hours of a day in the customer's time zone.
WEEKDAYS = (10, 11, 11, 10, 12, 15, 14)
HOURS = (2, 1, 1, 1, 1, 2, 4, 6, 8, 9, 9, 9, 10, 9, 8, 8, 9, 10, 12, 14, 15, 12, 8, 4)
PARTS_PER_UNIT = 10**12


@dataclass(frozen=True)
class Item:
    """A share to buy: its price in minor units, None if it is free, and the size of its files in bytes."""

    share_id: UUID
    price_amount: int | None
    size: int


@dataclass(frozen=True)
class Buyer:
    """A customer with a time zone and a currency."""

    customer: CustomerRow
    zone: ZoneInfo
    pays_in_euro: bool


@dataclass
class Batch:
    """Rows of the activity's tables, and their facts."""

    sessions: list[Values] = field(default_factory=list)
    downloads: list[Values] = field(default_factory=list)
    payments: list[Values] = field(default_factory=list)
    refunds: list[Values] = field(default_factory=list)
    events: list[Values] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)


@dataclass(frozen=True)
class Activity:
    """The activity of a workspace in the `days` before `until`. The same seed of `random` repeats it."""

    random: Random
    workspace_id: UUID
    items: Sequence[Item]
    buyers: Sequence[Buyer]
    days: int
    until: datetime

    def batches(self, sessions: int, size: int) -> Iterator[Batch]:
        """Yield this many sessions and as many events in order of their days, `size` in each batch."""
        # A few customers buy often, many buy once.
        weights = tuple(accumulate(1 / (rank + 10) for rank in range(len(self.buyers))))
        days = sorted(self._day() for _ in range(sessions))
        for start in range(0, sessions, size):
            batch, days_of_batch = Batch(), days[start : start + size]
            buyers = self.random.choices(self.buyers, cum_weights=weights, k=len(days_of_batch))
            for buyer, day in zip(buyers, days_of_batch, strict=True):
                self._add_session(batch, buyer, self._moment(day, buyer.zone))
                self._add_event(batch, buyer.customer, self._moment(day, buyer.zone))
            yield batch

    def _day(self) -> int:
        """A random day of the range: later days and weekends are busier."""
        while True:
            day = int(self.days * self.random.random() ** 0.7)
            weekday = (self.until - timedelta(days=self.days - day)).weekday()
            if self.random.random() * max(WEEKDAYS) <= WEEKDAYS[weekday]:
                return day

    def _moment(self, day: int, zone: ZoneInfo) -> datetime:
        """A random moment of that day of the range: evenings are busier."""
        random = self.random
        date = (self.until - timedelta(days=self.days - day)).date()
        (hour,) = random.choices(range(24), HOURS)
        local = datetime(date.year, date.month, date.day, hour, tzinfo=zone)
        moment = local.astimezone(UTC) + timedelta(microseconds=random.randrange(3_600_000_000))
        return min(moment, self.until - timedelta(seconds=1))

    def _add_session(self, batch: Batch, buyer: Buyer, created_at: datetime) -> None:
        random, item, customer = self.random, self.random.choice(self.items), buyer.customer
        currency = "eur" if buyer.pays_in_euro else "usd"
        session = new_row(
            FileShareSessionRow,
            workspace_id=self.workspace_id,
            id=self.new_id(),
            created_at=created_at,
            share_id=item.share_id,
            customer_id=customer.id,
            external_customer_id=customer.external_id,
            person=customer.person,
            price_amount=item.price_amount,
            price_currency=currency if item.price_amount else None,
            file_size_bytes=item.size,
        )
        session = self._take(batch, session, begin(session))
        paid = is_priced(session) and random.random() < 0.63
        if paid:
            session = self._add_payment(batch, session)
        if paid or not is_priced(session):
            session = self._add_downloads(batch, session)
        session = self._add_end(batch, session)
        batch.sessions.append(values_of(session))

    def _add_payment(self, batch: Batch, session: FileShareSessionRow) -> FileShareSessionRow:
        amount = session.price_amount or 0
        payment = new_row(
            FileSharePaymentRow,
            **of_session(session),
            id=self.new_id(),
            created_at=self.until,
            amount=amount,
            platform_fee=amount * 4 // 100 + 40,
            currency=session.price_currency,
            at=self._later(session.created_at, minutes=12),
        )
        session = self._take(batch, session, pay(session, payment))
        if self.random.random() < 0.04:
            refund_row = new_row(
                FileShareRefundRow,
                **of_payment(payment),
                id=self.new_id(),
                created_at=self.until,
                amount=amount if self.random.random() < 0.7 else amount // 2,
                at=self._later(payment.at, minutes=14 * 24 * 60),
            )
            session = self._take(batch, session, refund(session, payment, refund_row))
            payment = changed(payment, **refunded(payment, refund_row))
            batch.refunds.append(values_of(refund_row))
        batch.payments.append(values_of(payment))
        return session

    def _add_downloads(self, batch: Batch, session: FileShareSessionRow) -> FileShareSessionRow:
        (count,) = self.random.choices((0, 1, 2, 3, 5), (12, 55, 20, 9, 4))
        for at in sorted(self._later(session.created_at, minutes=2 * 24 * 60) for _ in range(count)):
            row = new_row(
                FileShareDownloadRow,
                **of_session(session),
                id=self.new_id(),
                created_at=self.until,
                at=at,
            )
            batch.downloads.append(values_of(row))
            session = self._take(batch, session, download(session, at))
        return session

    def _add_end(self, batch: Batch, session: FileShareSessionRow) -> FileShareSessionRow:
        last, expires_at = session.last_download_at, session.created_at + timedelta(days=7)
        if last is not None and self.random.random() < 0.75:
            at = self._later(last, minutes=24 * 60)
            return self._take(batch, session, end(session, FileShareSessionStatus.COMPLETED, at))
        if expires_at < self.until:
            return self._take(batch, session, end(session, FileShareSessionStatus.EXPIRED, expires_at))
        return session

    def _add_event(self, batch: Batch, customer: CustomerRow, at: datetime) -> None:
        random = self.random
        share_id, name = random.choice(self.items).share_id, random.choice(EVENT_NAMES)
        cost: Values = {}
        if random.random() < 0.3:
            whole, parts = divmod(random.randrange(3 * PARTS_PER_UNIT), PARTS_PER_UNIT)
            cost = {"cost_currency": "usd", "cost_amount": whole, "cost_parts": parts}
        event = new_row(
            EventRow,
            workspace_id=self.workspace_id,
            id=self.new_id(),
            created_at=self.until,
            timestamp=at,
            source=EventSource.USER.value,
            name=name,
            customer_id=customer.id,
            external_customer_id=customer.external_id,
            share_id=share_id,
            person=customer.person,
            **cost,
        )
        batch.facts += facts_of(event)
        batch.events.append(values_of(event))

    def _take(self, batch: Batch, session: FileShareSessionRow, step: Step) -> FileShareSessionRow:
        """The session after the step."""
        batch.facts += step.facts
        return changed(session, **step.changes) if step.changes else session

    def _later(self, moment: datetime, *, minutes: int) -> datetime:
        """A random moment after `moment`, more often sooner than later, and never in the future."""
        seconds = minutes * 60 * self.random.random() ** 3
        return max(moment, min(moment + timedelta(seconds=seconds), self.until))

    def new_id(self) -> UUID:
        """An id from the seeded generator, which needs no system call."""
        return UUID(int=self.random.getrandbits(128), version=4)
