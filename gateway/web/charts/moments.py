"""Periods as people read them: beside a value in full, below an axis short."""

from collections.abc import Sequence
from datetime import datetime

from storage.metrics.periods import Interval

# `%q` is the quarter of the year, which strftime does not know.
_FULL = {
    Interval.HOUR: "%a %-d %b %Y, %H:%M",
    Interval.DAY: "%a %-d %b %Y",
    Interval.WEEK: "Week of %-d %b %Y",
    Interval.MONTH: "%B %Y",
    Interval.QUARTER: "Q%q %Y",
    Interval.YEAR: "%Y",
}
_SHORT = {
    Interval.DAY: "%-d %b",
    Interval.WEEK: "%-d %b",
    Interval.MONTH: "%b %Y",
    Interval.QUARTER: "Q%q %Y",
    Interval.YEAR: "%Y",
}
_HOURS_OF_A_DAY = 25


def full_labels(moments: Sequence[datetime], interval: Interval) -> list[str]:
    form = _FULL[interval]
    return [_written(moment, form) for moment in moments]


def short_labels(moments: Sequence[datetime], interval: Interval) -> list[str]:
    """Labels for the axis: hours of a single day as times."""
    if interval is Interval.HOUR:
        form = "%H:%M" if len(moments) <= _HOURS_OF_A_DAY else "%-d %b"
    else:
        form = _SHORT[interval]
    return [_written(moment, form) for moment in moments]


def _written(moment: datetime, form: str) -> str:
    return moment.strftime(form.replace("%q", str((moment.month + 2) // 3)))
