"""Random histories of a workspace's activity, and the facts that they leave in the log."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from random import Random
from uuid import UUID

from storage.enums import FactKind
from storage.metrics.facts import Fact

CURRENCIES = ["usd", "eur", "jpy"]


@dataclass(frozen=True)
class Refund:
    at: datetime
    amount: int
    fee: int


@dataclass(frozen=True)
class Payment:
    at: datetime
    amount: int
    fee: int
    currency: str
    refunds: list[Refund]


@dataclass(frozen=True)
class Session:
    """A session; `downloads` are in the order in which they were reported."""

    workspace: UUID
    share: UUID | None
    person: int | None
    created: datetime
    size: int
    price: int
    currency: str | None
    downloads: list[datetime]
    payments: list[Payment]
    end: tuple[FactKind, datetime] | None


@dataclass(frozen=True)
class Event:
    workspace: UUID
    share: UUID | None
    person: int | None
    at: datetime
    cost: Fraction | None
    currency: str | None
    name: str


@dataclass(frozen=True)
class History:
    """A history; `merges` maps a workspace and an absorbed number to the person it was merged into."""

    sessions: list[Session] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    merges: dict[tuple[UUID, int], int] = field(default_factory=dict)


@dataclass(frozen=True)
class Teller:
    """Invents histories around a date, often at or next to the `bounds` of the requested periods."""

    random: Random
    around: date
    days: int
    workspaces: list[UUID]
    shares: list[UUID]
    bounds: list[datetime]

    def history(self) -> History:
        many = self.random.randint(0, 12)
        merges = {
            (workspace, absorbed): 1 + absorbed % 3
            for workspace in self.workspaces
            for absorbed in range(4, 7)
            if self.random.random() < 0.4
        }
        return History(
            [self._session() for _ in range(many)],
            [self._event() for _ in range(self.random.randint(0, 20))],
            merges,
        )

    def _moment(self, after: datetime | None = None) -> datetime:
        """Any microsecond, or one at or next to a bound, a full minute, quarter hour or hour."""
        middle = datetime(self.around.year, self.around.month, self.around.day, 12, tzinfo=UTC)
        first = after or middle - timedelta(days=self.days)
        seconds = self.random.randrange(self.days * 2 * 86_400)
        aside = timedelta(microseconds=self.random.choice([-1, 0, 0, 0, 1]))
        chance = self.random.random()
        if chance < 0.3 and self.bounds:
            return max(first, self.random.choice(self.bounds) + aside)
        if chance < 0.5:
            step = self.random.choice([60, 900, 3600])
            exact = first.timestamp() // step * step + seconds // step * step
            return max(first, datetime.fromtimestamp(exact, UTC) + aside)
        return first + timedelta(seconds=seconds, microseconds=self.random.randrange(1_000_000))

    def _owner(self) -> tuple[UUID, UUID | None, int | None]:
        person = self.random.choice([None, 1, 1, 2, 3, 4, 5, 6])
        return self.random.choice(self.workspaces), self.random.choice([None, *self.shares]), person

    def _session(self) -> Session:
        workspace, share, person = self._owner()
        created = self._moment()
        priced = self.random.random() < 0.6
        downloads = [self._moment(created) for _ in range(self.random.choice([0, 0, 1, 2, 3]))]
        end = None
        if self.random.random() < 0.5:
            kind = self.random.choice([FactKind.COMPLETION, FactKind.EXPIRY])
            end = (kind, self._moment(max([created, *downloads])))
        return Session(
            workspace,
            share,
            person,
            created,
            size=self.random.choice([0, 1, 4096, 2**53 - 1]),
            price=self.random.randint(1, 99_999_999) if priced else 0,
            currency=self.random.choice(CURRENCIES) if priced else None,
            downloads=downloads,
            payments=[self._payment(created) for _ in range(self.random.choice([0, 0, 1, 2]))],
            end=end,
        )

    def _payment(self, created: datetime) -> Payment:
        at, amount = self._moment(created), self.random.randint(0, 99_999_999)
        refunds = [
            Refund(self._moment(at), self.random.randint(0, amount // 2), self.random.randint(0, 5))
            for _ in range(self.random.choice([0, 0, 1, 2]))
        ]
        return Payment(at, amount, self.random.randint(5, 900), self.random.choice(CURRENCIES), refunds)

    def _event(self) -> Event:
        workspace, share, person = self._owner()
        costs = [Fraction(self.random.randrange(10**24), 10**12), Fraction(1, 10**12), Fraction(3)]
        cost = self.random.choice([None, Fraction(self.random.randint(0, 10**15), 10**12), *costs])
        currency = None if cost is None else self.random.choice(CURRENCIES)
        name = self.random.choice(["opened", "Opened", "read %", "é"])
        return Event(workspace, share, person, self._moment(), cost, currency, name)


def facts_of(history: History) -> Iterator[Fact]:
    """The facts of a history in the log."""
    for session in history.sessions:
        yield from _facts_of_session(session)
    for event in history.events:
        subject = {"share_id": event.share, "person": event.person}
        yield Fact(event.workspace, FactKind.EVENT, event.at, **subject)
        if event.cost is not None:
            whole = event.cost.numerator // event.cost.denominator
            parts = int((event.cost - whole) * 10**12)
            money = {"currency": event.currency, "amount": whole, "parts": parts}
            yield Fact(event.workspace, FactKind.COST, event.at, **subject, **money)


def _facts_of_session(session: Session) -> Iterator[Fact]:
    def fact(kind: FactKind, at: datetime, **values) -> Fact:
        subject = {"share_id": session.share, "person": session.person}
        return Fact(session.workspace, kind, at, **subject, **values)

    priced = {"amount": session.price, "currency": session.currency} if session.price else {}
    created = FactKind.PRICED_SESSION if priced else FactKind.FREE_SESSION
    yield fact(created, session.created, bytes=session.size, **priced)
    if priced and session.payments:
        yield fact(FactKind.CONVERSION, session.created)
    first = None
    for at in session.downloads:
        yield fact(FactKind.DOWNLOAD, at)
        if first is None or at < first:
            if first is not None:
                yield fact(FactKind.ACTIVATION, first, count=-1)
            yield fact(FactKind.ACTIVATION, at)
            first = at
    if session.end is not None:
        yield fact(*session.end)
        if first is not None:
            yield fact(FactKind.DEACTIVATION, session.end[1])
    for payment in session.payments:
        money = {"currency": payment.currency, "amount": payment.amount, "fee": payment.fee}
        yield fact(FactKind.PAYMENT, payment.at, **money)
        for refund in payment.refunds:
            back = {"currency": payment.currency, "amount": -refund.amount, "fee": -refund.fee}
            yield fact(FactKind.REFUND, refund.at, **back)
