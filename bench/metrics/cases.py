"""What is asked: ranges of dates, each in two zones, with filters, and metrics alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from bench.metrics.activity import FIRST_DAY, LAST_DAY, average_of
from bench.metrics.loading import CUSTOMER_IDS, SHARE_IDS, WORKSPACE_ID
from storage.metrics.definitions import BY_SLUG, METRICS, Metric
from storage.metrics.periods import Interval, make_timeline
from storage.metrics.reading.reader import Selection

NEW_YORK, KOLKATA = "America/New_York", "Asia/Kolkata"
CURRENCY = "usd"
ALL_ROWS = Selection((WORKSPACE_ID,))


@dataclass(frozen=True)
class Dates:
    """A range of the activity's dates, both included, and the length of a period."""

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
    """What is asked of a range of dates."""

    name: str
    zone: str = NEW_YORK
    selection: Selection = ALL_ROWS
    metrics: Sequence[Metric] = METRICS

    def edges(self, dates: Dates) -> list[int]:
        return make_timeline(dates.first, dates.last, dates.interval, self.zone).edges


def _of(**filters: Sequence[UUID]) -> Selection:
    return Selection((WORKSPACE_ID,), **filters)


ALL = Question("all 21")
IN_KOLKATA = Question("in Kolkata", KOLKATA)
# Of a share and a customer with an average part of the activity, and of the share with the largest, a 14th.
OF_SHARE = Question("`share_id`", selection=_of(share_ids=(average_of(SHARE_IDS),)))
OF_BUSIEST_SHARE = Question("busiest `share_id`", selection=_of(share_ids=SHARE_IDS[:1]))
OF_CUSTOMER = Question("`customer_id`", selection=_of(customer_ids=(average_of(CUSTOMER_IDS),)))
FILTERED = (OF_SHARE, OF_BUSIEST_SHARE, OF_CUSTOMER)
# A cheap sum, one that takes two, the state, and the distinct persons.
ALONE = tuple(
    Question(f"`{slug}`", metrics=(BY_SLUG[slug],))
    for slug in ("file_share_downloads", "cashflow", "file_share_active_sessions", "active_user_by_event")
)
QUESTIONS = (ALL, IN_KOLKATA, *FILTERED, *ALONE)
