"""Realistic activity of a workspace over two years, as rows of the raw tables; the same on every run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from random import Random
from typing import TypeVar
from uuid import UUID

FIRST_DAY, LAST_DAY = date(2024, 11, 1), date(2026, 10, 31)
DAYS = (LAST_DAY - FIRST_DAY).days + 1
CUSTOMERS = 5_000
SECOND = 1_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3_600 * SECOND, 86_400 * SECOND
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Weights from Monday on, and by hour in UTC; customers in several time zones leave no hour empty.
WEEKDAYS = (1.15, 1.2, 1.2, 1.15, 1.0, 0.65, 0.65)
HOURS = (3, 2, 2, 2, 2, 3, 4, 6, 8, 9, 9, 9, 9, 10, 11, 11, 10, 9, 8, 7, 6, 5, 5, 4)
PRICES = (300, 500, 900, 1_900, 2_900, 4_900, 9_900)
DOWNLOADS, DOWNLOAD_WEIGHTS = (0, 1, 2, 3, 5), (20, 40, 25, 10, 5)

Value = int | str | UUID | None
AnyValue = TypeVar("AnyValue")
Row = tuple[Value, ...]


@dataclass
class Batch:
    """The rows of one day; see `bench.metrics.raw_tables` for the columns."""

    sessions: list[Row] = field(default_factory=list)
    downloads: list[Row] = field(default_factory=list)
    payments: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)


def activity(many: int, shares: Sequence[Value]) -> Iterator[Batch]:
    """`many` sessions and as many events of these shares, by day; persons are numbered from 1."""
    random = Random(many)
    ends = list(accumulate(map(_weight, range(DAYS))))
    done = 0
    for day, end in enumerate(ends):
        until = round(many * end / ends[-1])
        yield _day(random, _first_moment(day), until - done, shares)
        done = until


def _weight(day: int) -> float:
    """How busy a day is: depends on the weekday, and doubles from the first day to the last."""
    return WEEKDAYS[(FIRST_DAY + timedelta(day)).weekday()] * (1 + day / DAYS)


def _first_moment(day: int) -> int:
    midnight = datetime.combine(FIRST_DAY, datetime.min.time(), UTC)
    return (midnight + timedelta(day) - EPOCH) // timedelta(microseconds=1)


def _day(random: Random, midnight: int, many: int, shares: Sequence[Value]) -> Batch:
    batch = Batch()
    persons = range(1, CUSTOMERS + 1)
    for at in _moments(random, midnight, many):
        _session(batch, random, at, _one(random, shares), _one(random, persons))
    for at in _moments(random, midnight, many):
        share, person = _one(random, shares), _one(random, persons)
        chance = random.random()
        known_person = None if chance > 0.95 else person
        if chance < 0.6:
            currency = "usd" if chance < 0.5 else "eur"
            batch.events.append(
                (share, known_person, at, int(chance * 40), int(chance * 10**6) * 10**6, currency)
            )
        else:
            batch.events.append((share if chance < 0.8 else None, known_person, at, None, None, None))
    return batch


def _moments(random: Random, midnight: int, many: int) -> list[int]:
    hours = random.choices(range(24), HOURS, k=many)
    return sorted(midnight + hour * HOUR + int(random.random() * HOUR) for hour in hours)


def _one(random: Random, values: Sequence[Value]) -> Value:
    """A random value; the first ones are more frequent."""
    return values[int(len(values) * random.random() ** 2)]


def average_of(values: Sequence[AnyValue]) -> AnyValue:
    """The value that `_one` returns as often as with equal chances: its parabola has slope 1 there."""
    return values[len(values) // 4]


def _session(batch: Batch, random: Random, at: int, share: Value, person: Value) -> None:
    owner = (share, person)
    chance = random.random()
    price = PRICES[int(chance * 1e6) % len(PRICES)] if chance < 0.35 else 0
    currency = ("usd" if chance < 0.28 else "eur") if price else None
    is_paid = chance < 0.2
    if is_paid:
        paid_at = at + int(random.random() * HOUR)
        batch.payments.append((*owner, paid_at, price, price // 20, currency))
        if chance < 0.01:
            back_at = paid_at + int(random.random() * 10 * DAY)
            batch.payments.append((*owner, back_at, -price, -(price // 40), currency))
    first, last = None, at
    for _ in range(random.choices(DOWNLOADS, DOWNLOAD_WEIGHTS)[0]):
        last += MINUTE + int(random.random() * 6 * HOUR)
        first = first or last
        batch.downloads.append((*owner, last))
    is_open = random.random() > 0.9
    ended_at = None if is_open else last + int(random.random() * 3 * DAY)
    is_completed = None if is_open else int(first is not None and random.random() < 0.8)
    size = 10_000 + int(random.random() * 50_000_000)
    batch.sessions.append((*owner, at, price, currency, size, int(is_paid), first, ended_at, is_completed))
