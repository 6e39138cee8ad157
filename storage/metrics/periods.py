"""Periods: when hours, days, weeks, months and years begin in a time zone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import pairwise

from storage.metrics.zones import DAY, Span, spans

FIRST_DATE, LAST_DATE = date(1973, 1, 1), date(2200, 12, 31)
MOST_PERIODS = 10_000
HOUR = 3_600
MICROSECONDS = 1_000_000
_EPOCH = datetime(1970, 1, 1)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
# How far a range may differ from 24 hours per date: clocks change, and some zones skipped a date.
_SLACK_HOURS = 72


class Interval(StrEnum):
    """The length of a period."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    WEEK = "week"
    DAY = "day"
    HOUR = "hour"


# The months of a period that is made of them; January begins one.
_MONTHS = {Interval.MONTH: 1, Interval.QUARTER: 3, Interval.YEAR: 12}


class ComparedRange(StrEnum):
    """The range to compare with.

    `previous`: as many dates, ending on the day before `start_date`. `previous_month`: the same dates a month
    before, the last one for those that it lacks. `previous_year`: the same dates a year before, 28 February
    for the 29th.
    """

    PREVIOUS = "previous"
    PREVIOUS_MONTH = "previous_month"
    PREVIOUS_YEAR = "previous_year"

    def dates(self, start_date: date, end_date: date) -> tuple[date, date]:
        """Its first and last date."""
        if self is ComparedRange.PREVIOUS:
            days = end_date - start_date + timedelta(days=1)
            return start_date - days, end_date - days
        before = _month_before if self is ComparedRange.PREVIOUS_MONTH else _year_before
        return before(start_date), before(end_date)


def _month_before(day: date) -> date:
    last = day.replace(day=1) - timedelta(days=1)
    return last.replace(day=min(day.day, last.day))


def _year_before(day: date) -> date:
    is_leap_day = (day.month, day.day) == (2, 29)
    return day.replace(year=day.year - 1, day=28 if is_leap_day else day.day)


class TooManyPeriods(ValueError):
    """The range has more than `MOST_PERIODS` periods."""


@dataclass(frozen=True)
class Timeline:
    """A range of time divided into periods, in seconds since 1970 in UTC.

    `starts` are the beginnings of the periods; the first may lie before the range. `timestamps` are the same
    in local time: `2025-09-07T01:00:00.000000-03:00`.
    """

    begins: int
    ends: int
    starts: list[int]
    timestamps: list[str]

    @cached_property
    def edges(self) -> list[int]:
        """The beginnings of the periods within the range, and the range's end, in microseconds since 1970."""
        inner = [max(start, self.begins) for start in self.starts]
        return [second * MICROSECONDS for second in [*inner, self.ends if inner else self.begins]]


@lru_cache(maxsize=16)
def make_timeline(start_date: date, end_date: date, interval: Interval, zone: str) -> Timeline:
    """The periods from one local date to another, inclusive. Raises `TooManyPeriods`.

    The dates are in order and between `FIRST_DATE` and `LAST_DATE`; `zone` is one of `zone_names()`.
    """
    days = end_date.toordinal() - start_date.toordinal() + 1
    hours = days * (24 if interval is Interval.HOUR else 1 if interval is Interval.DAY else 0)
    if hours - _SLACK_HOURS > MOST_PERIODS:
        raise TooManyPeriods
    firsts = [_local(day) for day in _first_days(start_date, end_date, interval)]
    range_begins, range_ends = _local(start_date.toordinal()), _local(end_date.toordinal() + 1)
    offsets = spans(zone, firsts[0] - 2 * DAY, range_ends + 2 * DAY)
    begins, ends = _first_instants([range_begins, range_ends], offsets)
    if interval is Interval.HOUR:
        starts = list(_hours(begins, ends, offsets))
    else:
        starts = _non_empty([*_first_instants(firsts, offsets), ends], begins)
    if len(starts) > MOST_PERIODS:
        raise TooManyPeriods
    return Timeline(begins, ends, starts, _local_times(starts, offsets))


def instants_of(start_date: date, end_date: date, zone: str) -> tuple[datetime, datetime]:
    """The instants at which the first of these local dates begins and the last one ends.

    They are those of a `Timeline` of the same dates.
    """
    walls = _local(start_date.toordinal()), _local(end_date.toordinal() + 1)
    offsets = spans(zone, walls[0] - 2 * DAY, walls[1] + 2 * DAY)
    begins, ends = _first_instants(walls, offsets)
    return datetime.fromtimestamp(begins, UTC), datetime.fromtimestamp(ends, UTC)


def _first_days(start: date, end: date, interval: Interval) -> Sequence[int]:
    """The ordinals of the first dates of all periods that overlap the range."""
    if interval is Interval.WEEK:
        return range(start.toordinal() - start.weekday(), end.toordinal() + 1, 7)
    if interval in _MONTHS:
        step, first = _MONTHS[interval], start.year * 12 + start.month - 1
        months = range(first - first % step, end.year * 12 + end.month, step)
        return [date(month // 12, month % 12 + 1, 1).toordinal() for month in months]
    return range(start.toordinal(), end.toordinal() + 1)


def _first_instants(walls: Sequence[int], offsets: Sequence[Span]) -> list[int]:
    """The instant of each local midnight: the first at which the clock shows it or has skipped it."""
    instants, place = [], 0
    for wall in walls:
        while offsets[place].ends + offsets[place].offset <= wall:
            place += 1
        instants.append(max(offsets[place].begins, wall - offsets[place].offset))
    return instants


def _non_empty(bounds: Sequence[int], begins: int) -> list[int]:
    """The beginnings of periods that have time within the range; skipped dates have none."""
    return [start for start, end in pairwise(bounds) if start < end and end > begins]


def _hours(begins: int, ends: int, offsets: Sequence[Span]) -> Iterator[int]:
    """Each instant at which the local clock shows a full hour or skips one; the range begins with one."""
    last_shown = None
    for span in offsets:
        start, end = max(span.begins, begins), min(span.ends, ends)
        if start < end:
            wall = start + span.offset
            whole = start + -wall % HOUR
            if whole != start and (last_shown is None or last_shown // HOUR != wall // HOUR):
                yield start
            yield from range(whole, end, HOUR)
            last_shown = end - 1 + span.offset


def _local_times(starts: Sequence[int], offsets: Sequence[Span]) -> list[str]:
    times, place, suffix = [], -1, ""
    for start in starts:
        while place < 0 or offsets[place].ends <= start:
            place += 1
            suffix = _offset_text(offsets[place].offset)
        wall = _EPOCH + timedelta(seconds=start + offsets[place].offset)
        times.append(f"{wall.isoformat()}.000000{suffix}")
    return times


def _offset_text(offset: int) -> str:
    minutes = abs(offset) // 60
    return f"{'-' if offset < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"


def _local(day: int) -> int:
    """Midnight of the date with this ordinal, in seconds of local time since 1970."""
    return (day - _EPOCH_DAY) * DAY
