"""What the address of a dashboard asks for: a range of dates, an interval, and filters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from math import ceil
from typing import Any
from urllib.parse import urlencode

from gateway.web.dashboard.metrics.layout import CUMULATIVE, HEADLINE
from gateway.web.kit.forms import Form
from gateway.web.kit.moments import DEFAULT_ZONE
from schema.errors import Invalid, Problem, problem
from schema.workspaces.workspaces import Workspace
from storage.clock import now
from storage.metrics.periods import LAST_DATE, ComparedRange, Interval, instants_of
from storage.metrics.zones import in_zone, is_zone

MOST_PERIODS = 750
CUSTOM = "custom"
# The ranges of the buttons, with the days before today that they include.
RANGES = (
    ("today", "Today"),
    ("7d", "7 days"),
    ("30d", "30 days"),
    ("90d", "90 days"),
    ("12m", "12 months"),
    ("month", "This month"),
)
_DAYS = {"today": 0, "7d": 6, "30d": 29, "90d": 89}
DEFAULT_RANGE = "30d"
# What the range before is for those that would not fit side by side.
_ALIGNED = {"month": ComparedRange.PREVIOUS_MONTH, "12m": ComparedRange.PREVIOUS_YEAR}
NOT_COMPARED = "none"
_INTERVALS = ((2, Interval.HOUR), (92, Interval.DAY), (190, Interval.WEEK), (1500, Interval.MONTH))
_HOURS_OF_A_DAY = 24
# At one moment it may be Friday in one zone and Sunday in another.
_MOST_BETWEEN_ZONES = timedelta(days=2)


@dataclass(frozen=True)
class Question:
    """The values of the address; those that it leaves out have defaults.

    `own_zone` is the workspace's. `interval` is None if it follows from the range. `share_id` and
    `customer_id` are texts as sent. `is_left_alone` is whether a workspace that compares is asked not to.
    `metric` is that of the large chart. If `is_cumulative`, what can be added up over the range is. If it
    `moves_on`, it ends today, whichever day that is.
    """

    range: str
    start_date: date
    end_date: date
    interval: Interval | None
    timezone: str
    own_zone: str
    currency: str | None
    share_id: str | None
    customer_id: str | None
    compare: ComparedRange | None
    is_left_alone: bool
    metric: str
    is_cumulative: bool
    moves_on: bool

    @property
    def used_interval(self) -> Interval:
        """The interval asked for, or one that suits the range."""
        if self.interval is not None:
            return self.interval
        days = (self.end_date - self.start_date).days + 1
        return next((interval for most, interval in _INTERVALS if days <= most), Interval.YEAR)

    @property
    def compared_by(self) -> ComparedRange | None:
        """The range to compare with; the one before this month, say, has the same days."""
        is_previous = self.compare is ComparedRange.PREVIOUS
        return _ALIGNED.get(self.range, self.compare) if is_previous else self.compare

    @property
    def is_of_one_day(self) -> bool:
        return self.start_date == self.end_date

    @property
    def is_of_another_metric(self) -> bool:
        """Whether the large chart is of another metric than the first."""
        return self.metric != HEADLINE[0]

    @property
    def followed_until(self) -> date | None:
        """The last of the workspace's days that may change it; None if it moves on."""
        if self.moves_on:
            return None
        last = min(self.end_date, LAST_DATE)
        return last if self.timezone == self.own_zone else last + _MOST_BETWEEN_ZONES

    @property
    def seconds_left(self) -> int | None:
        """The seconds until it moves on; None if it stays as it is."""
        if not self.moves_on:
            return None
        _, ends = instants_of(self.end_date, self.end_date, self.timezone)
        return max(0, ceil((ends - now()).total_seconds()))

    def shown(self, slug: str) -> str:
        """The metric that is drawn instead of another, or the same."""
        return CUMULATIVE.get(slug, slug) if self.is_cumulative else slug

    def arguments(self, workspace: Workspace) -> dict[str, Any]:
        """The arguments of the operation on metrics, apart from the metrics."""
        return {
            "start_date": self.start_date.isoformat(),
            "end_date": self.end_date.isoformat(),
            "interval": self.used_interval.value,
            "timezone": self.timezone,
            **self.filters(workspace),
            **({} if self.currency is None else {"currency": self.currency}),
            **({} if self.compared_by is None else {"compare": self.compared_by.value}),
        }

    def filters(self, workspace: Workspace) -> dict[str, Any]:
        """The filters that lists have too."""
        return {
            "workspace_id": [str(workspace.id)],
            **({} if self.share_id is None else {"share_id": [self.share_id]}),
            **({} if self.customer_id is None else {"customer_id": [self.customer_id]}),
        }

    def dates(self) -> dict[str, Any]:
        """The range of dates, for lists."""
        return {
            "start_date": self.start_date.isoformat(),
            "end_date": self.end_date.isoformat(),
            "timezone": self.timezone,
        }

    def address(self, **changes: str | None) -> str:
        """The query of the address of the same question with other values; None leaves a value out."""
        values = {
            "range": self.range,
            "start_date": self.start_date.isoformat() if self.range == CUSTOM else None,
            "end_date": self.end_date.isoformat() if self.range == CUSTOM else None,
            "interval": None if self.interval is None else self.interval.value,
            "timezone": None if self.timezone == self.own_zone else self.timezone,
            "currency": self.currency,
            "share_id": self.share_id,
            "customer_id": self.customer_id,
            "compare": self.compare.value if self.compare else NOT_COMPARED if self.is_left_alone else None,
            "metric": None if self.metric == HEADLINE[0] else self.metric,
            "cumulative": "1" if self.is_cumulative else None,
        } | changes
        return urlencode({name: value for name, value in values.items() if value is not None})


def read_question(sent: Mapping[str, str], workspace: Workspace) -> tuple[Question, Form]:
    """The question about a workspace, and the form that shows it with the problems of what was sent."""
    problems = []
    own_zone = workspace.timezone or DEFAULT_ZONE
    zone = sent.get("timezone") or own_zone
    if not is_zone(zone):
        message = "Enter an IANA time zone name, such as Europe/Berlin"
        problems.append(problem(("query", "timezone"), message, "timezone", input=zone))
    today = in_zone(now(), zone if is_zone(zone) else DEFAULT_ZONE).date()
    name = sent.get("range") or (CUSTOM if sent.get("start_date") else DEFAULT_RANGE)
    start, end = _dates(name, today)
    if name == CUSTOM:
        try:
            start, end = (_date(sent, key, today) for key in ("start_date", "end_date"))
        except Invalid as invalid:
            problems += invalid.problems
    interval = _choice(Interval, sent.get("interval"))
    compare = _choice(ComparedRange, sent.get("compare") or ComparedRange.PREVIOUS.value)
    may_compare = workspace.feature_settings.analytics_compare
    question = Question(
        range=name,
        start_date=start,
        end_date=end,
        interval=interval,
        timezone=zone,
        own_zone=own_zone,
        currency=sent.get("currency") or None,
        share_id=sent.get("share_id") or None,
        customer_id=sent.get("customer_id") or None,
        compare=compare if may_compare else None,
        is_left_alone=may_compare and compare is None,
        metric=metric if (metric := sent.get("metric")) in HEADLINE else HEADLINE[0],
        is_cumulative=sent.get("cumulative") == "1",
        moves_on=name != CUSTOM or not sent.get("end_date"),
    )
    if not problems and end < start:
        message = "The last date should not be before the first"
        problems.append(problem(("query", "end_date"), message, "date_order"))
    elif not problems and _periods(question) > MOST_PERIODS:
        message = f"This makes more than {MOST_PERIODS} periods: choose a longer interval or a shorter range"
        problems.append(problem(("query", "interval"), message, "too_many_periods"))
    return question, replace(_form_of(sent, question), problems=at_fields(problems))


def _form_of(sent: Mapping[str, str], question: Question) -> Form:
    """The form with the question, and with dates as they were sent."""
    is_custom = question.range == CUSTOM
    return Form.of(
        start_date=(is_custom and sent.get("start_date")) or question.start_date,
        end_date=(is_custom and sent.get("end_date")) or question.end_date,
        interval=None if question.interval is None else question.interval.value,
        timezone=question.timezone,
        currency=question.currency,
        share_id=question.share_id,
        customer_id=question.customer_id,
        compare=NOT_COMPARED if question.compare is None else question.compare.value,
    )


def at_fields(problems: Sequence[Problem]) -> list[Problem]:
    """The problems of an operation's arguments, placed at the fields of the form."""
    return [
        entry | {"loc": [part for part in entry["loc"] if isinstance(part, str)][-1:]} for entry in problems
    ]


def _dates(name: str, today: date) -> tuple[date, date]:
    if name == "month":
        return today.replace(day=1), today
    if name == "12m":
        return _first_of_a_year(today), today
    return today - timedelta(days=_DAYS.get(name, _DAYS[DEFAULT_RANGE])), today


def _first_of_a_year(today: date) -> date:
    """The first day of the eleventh month before this one, so that twelve are shown."""
    month = today.month % 12 + 1
    return date(today.year if today.month == 12 else today.year - 1, month, 1)


def _date(sent: Mapping[str, str], key: str, today: date) -> date:
    text = sent.get(key)
    try:
        return date.fromisoformat(text) if text else today
    except ValueError:
        message = "Enter a date, such as 2026-01-31"
        raise Invalid([problem(("query", key), message, "date", input=text)]) from None


def _choice(kind: Any, text: str | None) -> Any:
    return kind(text) if text in {each.value for each in kind} else None


def _periods(question: Question) -> int:
    """About how many periods the question has."""
    days = (question.end_date - question.start_date).days + 1
    return days * _HOURS_OF_A_DAY if question.used_interval is Interval.HOUR else days // _length(question)


def _length(question: Question) -> int:
    return {Interval.DAY: 1, Interval.WEEK: 7, Interval.MONTH: 28, Interval.QUARTER: 90}.get(
        question.used_interval, 365
    )


def moments_of(timestamps: list[str]) -> list[datetime]:
    return [datetime.fromisoformat(text) for text in timestamps]
