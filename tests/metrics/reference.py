"""Every metric in plain, slow Python: looks at the clock of every minute and every record of a history."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from storage.enums import FactKind
from tests.metrics.histories import Event, History, Session

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)

Period = tuple[str, datetime, datetime]


@cache
def zone_of(name: str) -> ZoneInfo:
    with (resources.files("tzdata") / "zoneinfo").joinpath(*name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@cache
def first_instant(zone: str, day: date) -> datetime:
    """The first minute at which the local date is this date or later."""
    instant = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(hours=16)
    while instant.astimezone(zone_of(zone)).date() < day:
        instant += MINUTE
    return instant


def first_day(day: date, interval: str) -> date:
    """The first date of the interval that contains the date."""
    if interval == "week":
        return day - timedelta(days=day.weekday())
    months = {"year": 12, "quarter": 3}.get(interval, 1)
    return day.replace(day=1, month=day.month - (day.month - 1) % months)


def hour_starts(zone: str, begins: datetime, ends: datetime) -> Iterator[datetime]:
    before, instant = None, begins
    while instant < ends:
        wall = instant.astimezone(zone_of(zone)).replace(tzinfo=None)
        hour = wall.replace(minute=0)
        if wall == hour or hour != before:
            yield instant
        before, instant = hour, instant + MINUTE


def periods(zone: str, start: date, end: date, interval: str) -> list[Period]:
    """Each period's timestamp, and the instants between which it counts."""
    begins, ends = first_instant(zone, start), first_instant(zone, end + DAY)
    if interval == "hour":
        starts = list(hour_starts(zone, begins, ends))
    else:
        days = [start + timedelta(days=n) for n in range((end - start).days + 1)]
        firsts = days if interval == "day" else sorted({first_day(day, interval) for day in days})
        starts = [first_instant(zone, day) for day in firsts]
    bounds = [*starts, ends]
    return [
        (shown(zone, start), max(start, begins), until)
        for start, until in pairwise(bounds)
        if max(start, begins) < until
    ]


def shown(zone: str, instant: datetime) -> str:
    return instant.astimezone(zone_of(zone)).isoformat(timespec="microseconds")


@dataclass(frozen=True)
class View:
    """The part of a history that the filters select, and the currency."""

    history: History
    workspaces: set[UUID]
    shares: set[UUID] | None
    persons: set[tuple[UUID, int]] | None
    currency: str
    only: Callable[[Any], bool] | None = None

    def person(self, record: Session | Event) -> tuple[UUID, int | None]:
        merged = self.history.merges.get((record.workspace, record.person or 0), record.person)
        return record.workspace, merged

    def shows(self, record: Session | Event) -> bool:
        return (
            record.workspace in self.workspaces
            and (self.shares is None or record.share in self.shares)
            and (self.persons is None or self.person(record) in self.persons)
            and (self.only is None or self.only(record))
        )

    def sessions(self) -> list[Session]:
        return [session for session in self.history.sessions if self.shows(session)]

    def events(self) -> list[Event]:
        return [event for event in self.history.events if self.shows(event)]

    def costs(self, begins: datetime, ends: datetime, currency: str) -> Fraction:
        costs = [
            event.cost for event in self.events() if begins <= event.at < ends and event.currency == currency
        ]
        return sum(costs, Fraction(0))

    def money(self, begins: datetime, ends: datetime, currency: str) -> tuple[int, int]:
        """Revenue and platform fees."""
        revenue = fees = 0
        for session in self.sessions():
            for payment in (found for found in session.payments if found.currency == currency):
                if begins <= payment.at < ends:
                    revenue, fees = revenue + payment.amount, fees + payment.fee
                for refund in payment.refunds:
                    if begins <= refund.at < ends:
                        revenue, fees = revenue - refund.amount, fees - refund.fee
        return revenue, fees

    def others(self, begins: datetime, ends: datetime) -> list[dict[str, Any]]:
        paid = [payment for session in self.sessions() for payment in session.payments]
        seen = {event.currency for event in self.events() if begins <= event.at < ends}
        for payment in paid:
            moments = [payment.at, *(refund.at for refund in payment.refunds)]
            if any(begins <= at < ends for at in moments):
                seen.add(payment.currency)
        found = []
        for currency in sorted(seen - {None, self.currency}):
            revenue, fees = self.money(begins, ends, currency)
            costs = float(self.costs(begins, ends, currency))
            money = {"file_share_revenue": revenue, "file_share_platform_fees": fees, "costs": costs}
            exponent = 0 if currency == "jpy" else 2
            found.append({"currency": currency, "exponent": exponent, **money})
        return found


def values(view: View, begins: datetime, ends: datetime, range_begins: datetime) -> dict[str, Any]:
    """All metrics of one period of a range."""
    created = [session for session in view.sessions() if begins <= session.created < ends]
    created_before = [session for session in view.sessions() if range_begins <= session.created < ends]
    priced = [session for session in created if session.price]
    list_prices = [session.price for session in priced if session.currency == view.currency]
    downloads = [at for session in view.sessions() for at in session.downloads]
    persons = {view.person(event) for event in view.events() if begins <= event.at < ends}
    persons = {person for person in persons if person[1] is not None}
    costs = view.costs(begins, ends, view.currency)
    revenue, fees = view.money(begins, ends, view.currency)

    def ended(kind: FactKind) -> int:
        ends_of_kind = [
            session.end[1] for session in view.sessions() if session.end and session.end[0] is kind
        ]
        return sum(begins <= at < ends for at in ends_of_kind)

    def ratio(of: int | Fraction, per: int) -> float:
        return float(Fraction(of) / per) if per else 0.0

    came = sum(begins <= at < ends for at in downloads)
    return {
        "costs": float(costs),
        "cumulative_costs": float(view.costs(range_begins, ends, view.currency)),
        "cost_per_user": ratio(costs, len(persons)),
        "active_user_by_event": len(persons),
        "file_share_sessions": len(created),
        "file_share_downloads": came,
        "file_share_free_sessions": len(created) - len(priced),
        "file_share_active_sessions": sum(is_active(session, ends) for session in view.sessions()),
        "file_share_completed_sessions": ended(FactKind.COMPLETION),
        "file_share_expired_sessions": ended(FactKind.EXPIRY),
        "file_share_avg_downloads": ratio(came, len(created)),
        "file_share_total_size_bytes": as_number(sum(session.size for session in created)),
        "cumulative_file_share_sessions": len(created_before),
        "cumulative_file_share_downloads": sum(range_begins <= at < ends for at in downloads),
        "file_share_revenue": revenue,
        "file_share_paid_sessions": len(priced),
        "file_share_avg_price": ratio(sum(list_prices), len(list_prices)),
        "file_share_payment_conversion": ratio(
            sum(bool(session.payments) for session in priced), len(priced)
        ),
        "file_share_platform_fees": fees,
        "cumulative_file_share_platform_fees": view.money(range_begins, ends, view.currency)[1],
        "cashflow": float(revenue - costs),
    }


def parts(view: View, slug: str, begins: datetime, ends: datetime) -> list[Any]:
    """What is added up with different signs to the metric's total over a range."""
    sessions = view.sessions()
    paid = [each for session in sessions for each in session.payments if each.currency == view.currency]
    payments = [each for each in paid if begins <= each.at < ends]
    refunds = [each for payment in paid for each in payment.refunds if begins <= each.at < ends]
    revenue = [sum(each.amount for each in payments), sum(each.amount for each in refunds)]
    fees = [sum(each.fee for each in payments), sum(each.fee for each in refunds)]
    opened = [session for session in sessions if session.downloads]
    first = sum(begins <= min(session.downloads) < ends for session in opened)
    ended = sum(begins <= session.end[1] < ends for session in opened if session.end)
    return {
        "file_share_revenue": revenue,
        "cashflow": [*revenue, view.costs(begins, ends, view.currency)],
        "file_share_platform_fees": fees,
        "cumulative_file_share_platform_fees": fees,
        "file_share_active_sessions": [first, ended],
    }.get(slug, [])


def is_active(session: Session, at: datetime) -> bool:
    """Whether the session had a download, but no end, before the moment."""
    return any(download < at for download in session.downloads) and not (session.end and session.end[1] < at)


def as_number(value: int) -> int | float:
    """An integer that every JSON reader represents exactly, or the nearest double."""
    return value if value < 2**53 else float(value)
