"""The pages that list what a number of a chart is made of."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from urllib.parse import parse_qsl, urlencode

from schema.metrics.rows import MetricRows, RowsPart
from storage.metrics.definitions import BY_SLUG, Combination

# The lists of the API that are pages too.
_PAGES = {
    "/api/file-share-sessions/": "sessions",
    "/api/file-share-payments/": "payments",
    "/api/events/": "events",
}
_START = "start_date"
# The page says which workspace, and for each period which dates.
_LEFT_OUT = {"workspace_id", _START, "end_date"}


def list_address(workspace: str, rows: Sequence[MetricRows], slug: str) -> str | None:
    """The page of what a metric counts, for dates that are added; None if there is none.

    Where all that came before in the range counts too, the address has the first date already.
    """
    for each in rows:
        if each.slug.value == slug and each.part is RowsPart.ADDED and each.path in _PAGES:
            runs_on = BY_SLUG[slug].combines is Combination.RUNNING_SUM
            left_out = _LEFT_OUT - {_START} if runs_on else _LEFT_OUT
            query = [(name, value) for name, value in parse_qsl(each.query) if name not in left_out]
            return f"/{workspace}/{_PAGES[each.path]}?{urlencode(query)}"
    return None


def days_of(moments: Sequence[datetime], first: date, last: date) -> list[tuple[str, str]]:
    """The first and the last date of each period that begins at one of these moments, in the range."""
    begin = [max(first, moment.date()) for moment in moments]
    following = [*begin, last + timedelta(days=1)]
    return [
        (start.isoformat(), (after - timedelta(days=1)).isoformat()) for start, after in pairwise(following)
    ]


def of_days(address: str, days: tuple[str, str]) -> str:
    """The page of these dates."""
    start = "" if f"{_START}=" in address else f"&{_START}={days[0]}"
    return f"{address}{start}&end_date={days[1]}"
