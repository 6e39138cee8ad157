"""Periods as people read them: beside a value in full, below an axis short."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from babel.dates import format_skeleton

from schema.languages.speech import babel_locale, current_speech
from schema.values.prose import write_time
from storage.metrics.periods import Interval

# In English by strftime, in which `%q` is the quarter; else the fields of a date, whose order Babel knows.
_FULL = {
    Interval.HOUR: ("%a %-d %b %Y, %H:%M", "yMMMEd"),
    Interval.DAY: ("%a %-d %b %Y", "yMMMEd"),
    Interval.WEEK: ("Week of %-d %b %Y", "yMMMd"),
    Interval.MONTH: ("%B %Y", "yMMMM"),
    Interval.QUARTER: ("Q%q %Y", ""),
    Interval.YEAR: ("%Y", ""),
}
_SHORT = {
    Interval.HOUR: ("%-d %b", "MMMd"),
    Interval.DAY: ("%-d %b", "MMMd"),
    Interval.WEEK: ("%-d %b", "MMMd"),
    Interval.MONTH: ("%b %Y", "yMMM"),
    Interval.QUARTER: ("Q%q %Y", ""),
    Interval.YEAR: ("%Y", ""),
}
_HOURS_OF_A_DAY = 25


def full_labels(moments: Sequence[datetime], interval: Interval) -> list[str]:
    write = _writer(_FULL, interval)
    if current_speech().is_english:
        return [write(moment) for moment in moments]
    if interval is Interval.HOUR:
        return [f"{write(moment)}, {write_time(moment)}" for moment in moments]
    return [f"Week of {write(each)}" if interval is Interval.WEEK else write(each) for each in moments]


def short_labels(moments: Sequence[datetime], interval: Interval) -> list[str]:
    """Labels for the axis: hours of a single day as times."""
    if interval is Interval.HOUR and len(moments) <= _HOURS_OF_A_DAY:
        return [write_time(moment) for moment in moments]
    write = _writer(_SHORT, interval)
    return [write(moment) for moment in moments]


def _writer(forms: Mapping[Interval, tuple[str, str]], interval: Interval) -> Callable[[datetime], str]:
    form, fields = forms[interval]
    if current_speech().is_english or not fields:
        return lambda moment: moment.strftime(form.replace("%q", str((moment.month + 2) // 3)))
    locale = babel_locale()
    return lambda moment: format_skeleton(fields, moment.replace(tzinfo=None), locale=locale)
