"""A chart as a file for spreadsheets, in the units that the page shows."""

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import zip_longest

from gateway.web.charts.numbers import Measure
from gateway.web.dashboard.metrics.cards import Charts
from storage.metrics.definitions import Unit
from storage.metrics.periods import Interval

_OF_DATE, _OF_HOUR = len("2026-01-31"), len("2026-01-31T09:00")


def sheet_of(charts: Charts, slug: str, name: str) -> str:
    """A row for each period: its beginning and value, and those of the compared range if there is one.

    Money is in the currency's major unit, fractions are in per cent, and a cell without data is empty.
    """
    measure, is_by_hours = charts.measure(slug), charts.question.used_interval is Interval.HOUR
    written = StringIO()
    table = csv.writer(written)
    headed = f"{name}{_unit(measure)}"
    sides = charts.sides(slug)
    table.writerow(["Period", headed, "Period before", f"{headed} before"][: 2 * len(sides)])
    columns = [
        column
        for moments, values in sides
        for column in (_dates(moments, is_by_hours=is_by_hours), _numbers(values, measure))
    ]
    table.writerows(zip_longest(*columns, fillvalue=""))
    return written.getvalue()


def _unit(measure: Measure) -> str:
    if measure.unit is Unit.MONEY:
        return f" ({measure.currency.value.upper()})"
    if measure.unit is Unit.BYTES:
        return " (bytes)"
    return " (%)" if measure.is_percentage else ""


def _dates(moments: Sequence[str], *, is_by_hours: bool) -> Iterator[str]:
    """As spreadsheets read dates and times, without the zone."""
    for moment in moments:
        yield moment[:_OF_HOUR].replace("T", " ") if is_by_hours else moment[:_OF_DATE]


def _numbers(values: Sequence[float | None], measure: Measure) -> Iterator[str]:
    for value in values:
        if value is None:
            yield ""
        elif measure.unit is Unit.MONEY:
            yield f"{value / measure.divisor:.{measure.currency.exponent}f}"
        else:
            yield f"{value / measure.divisor:.6f}".rstrip("0").rstrip(".")
