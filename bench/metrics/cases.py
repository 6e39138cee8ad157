"""The questions: ranges of dates in two time zones, with filters, and single metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from bench.metrics.activity import FIRST_DAY, LAST_DAY, average_of
from bench.metrics.loading import CUSTOMER_IDS, SHARE_IDS, WORKSPACE_ID
from storage.metrics.definitions import BY_SLUG, METRICS, Metric
from storage.metrics.grouping.groups import Grouping
from storage.metrics.periods import Interval, make_timeline
from storage.metrics.reading.reader import Selection

NEW_YORK, KOLKATA = "America/New_York", "Asia/Kolkata"
CURRENCY = "usd"
ALL_ROWS = Selection((WORKSPACE_ID,))


@dataclass(frozen=True)
class Dates:
    """A range of the activity's dates, inclusive, and the length of its periods."""

    name: str
    first: date
    last: date
    interval: Interval


RANGES = (
    Dates("a year by day", LAST_DAY - timedelta(364), LAST_DAY, Interval.DAY),
    Dates("30 days by hour", LAST_DAY - timedelta(29), LAST_DAY, Interval.HOUR),
    Dates("all time by month", FIRST_DAY, LAST_DAY, Interval.MONTH),
)


@dataclass(frozen=True)
class Question:
    """A question about a range of dates."""

    name: str
    zone: str = NEW_YORK
    selection: Selection = ALL_ROWS
    metrics: Sequence[Metric] = METRICS
    grouping: Grouping | None = None

    def edges(self, dates: Dates) -> list[int]:
        return make_timeline(dates.first, dates.last, dates.interval, self.zone).edges


def _of(**filters: Sequence[UUID]) -> Selection:
    return Selection((WORKSPACE_ID,), **filters)


ALL = Question("all 21")
IN_KOLKATA = Question("in Kolkata", KOLKATA)
# A share and a customer with average activity, and the busiest share, with a 14th of all activity.
OF_SHARE = Question("`share_id`", selection=_of(share_ids=(average_of(SHARE_IDS),)))
OF_BUSIEST_SHARE = Question("busiest `share_id`", selection=_of(share_ids=SHARE_IDS[:1]))
OF_CUSTOMER = Question("`customer_id`", selection=_of(customer_ids=(average_of(CUSTOMER_IDS),)))
FILTERED = (OF_SHARE, OF_BUSIEST_SHARE, OF_CUSTOMER)
# A cheap sum, a difference of two, the gauge, and distinct persons.
ALONE = tuple(
    Question(f"`{slug}`", metrics=(BY_SLUG[slug],))
    for slug in ("file_share_downloads", "cashflow", "file_share_active_sessions", "active_user_by_event")
)
# What a dashboard shows; grouped, for the ten shares with the highest revenue and the rest.
DASHBOARD = tuple(
    BY_SLUG[slug]
    for slug in ("file_share_revenue", "file_share_sessions", "file_share_downloads", "active_user_by_event")
)
TOP, TOP_BY = 10, BY_SLUG["file_share_revenue"]
FOUR = Question("four", metrics=DASHBOARD)
FOUR_BY_SHARE = Question("four, top 10 shares", metrics=DASHBOARD, grouping=Grouping.SHARE)
BY_SHARE = Question("all 21, top 10 shares", grouping=Grouping.SHARE)
# Each grouped question, and the same without groups.
GROUPED = ((BY_SHARE, ALL), (FOUR_BY_SHARE, FOUR))
QUESTIONS = (ALL, IN_KOLKATA, *FILTERED, *ALONE, FOUR, FOUR_BY_SHARE, BY_SHARE)
