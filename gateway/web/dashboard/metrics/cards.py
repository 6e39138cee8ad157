"""The charts of a dashboard: each with its total, its change, its table and the call behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gateway.web.charts.drawing import Series, draw
from gateway.web.charts.moments import full_labels, short_labels
from gateway.web.charts.numbers import Measure
from gateway.web.dashboard.metrics.changes import Change, change_of, changes
from gateway.web.dashboard.metrics.drawn import Card, Tab
from gateway.web.dashboard.metrics.layout import DIVISORS, PERCENTAGES, is_drawn_as_bars
from gateway.web.dashboard.metrics.opened import days_of, list_address, of_days
from gateway.web.dashboard.metrics.question import Question, moments_of
from schema.kit.columns import ColumnList, as_column_list
from schema.metrics.metrics import MetricInfo, Metrics
from schema.values.prose import write_time
from schema.workspaces.workspaces import Workspace
from storage.metrics.definitions import BY_SLUG, Combination, Unit
from storage.metrics.periods import Interval

TALL, LOW = 280.0, 150.0
# Between the values of a chart, in an attribute that its script reads.
SEPARATOR = "|"
MOSTLY_OVER = 0.9
NO_DATA = "\N{EN DASH}"
# Metrics whose value for a range is that of its last period.
_LAST_COUNTS = (Combination.RUNNING_SUM, Combination.GAUGE)


@dataclass(frozen=True)
class Charts:
    """The answer of the operation on metrics as charts."""

    question: Question
    arguments: Mapping[str, Any]
    answer: Metrics
    workspace: Workspace

    @cached_property
    def is_empty(self) -> bool:
        """Whether nothing at all happened in the range."""
        return not any(self._total(info) for info in self.answer.metrics)

    @property
    def of_what(self) -> str:
        """What the name of a file says behind that of a metric."""
        first, last = self.question.start_date, self.question.end_date
        dates = f"{first}" if first == last else f"{first} to {last}"
        return f" of {self.workspace.name}, {dates}"

    @cached_property
    def periods(self) -> int:
        return len(self._labels)

    @property
    def is_unfinished(self) -> bool:
        """Whether the last period is not over."""
        return bool(self._are_complete) and not self._are_complete[-1]

    @property
    def may_judge(self) -> bool:
        """Whether so little of the range is left that a change to the whole one before says something."""
        return self._hours is not None or sum(self._are_complete) >= MOSTLY_OVER * self.periods

    @property
    def until(self) -> str | None:
        """The time of the day before until which it is compared with a day that is not over."""
        if self._hours is None or self._compared is None:
            return None
        ends = self._compared.column("timestamp")[self._hours : self._hours + 1]
        return write_time(moments_of(ends)[0]) if ends else None

    @cached_property
    def days(self) -> list[tuple[str, str]]:
        """The first and last date of each period; none for hours, of which no list is."""
        if self.question.used_interval is Interval.HOUR:
            return []
        moments = moments_of(self._columns.column("timestamp"))
        return days_of(moments, self.question.start_date, self.question.end_date)

    @property
    def others(self) -> list[str]:
        """The revenue in other currencies, like `€12.00`."""
        return [
            Measure(Unit.MONEY, each.currency).full(each.file_share_revenue)
            for each in self.answer.other_currencies
            if each.file_share_revenue
        ]

    @cached_property
    def before(self) -> list[str]:
        """The periods of the compared range, by the places of those that they are compared with."""
        if self._compared is None:
            return []
        moments = moments_of(self._compared.column("timestamp"))
        return full_labels(moments, self.question.used_interval)

    @cached_property
    def labels(self) -> list[str]:
        """The periods in full; of one that is not over, that it goes on."""
        return [
            label if is_complete else f"{label} (so far)"
            for label, is_complete in zip(self._labels, self._are_complete, strict=True)
        ]

    def measure(self, slug: str) -> Measure:
        return self._measure(self._infos[slug])

    def total(self, slug: str) -> float:
        return float(getattr(self.answer.totals, slug))

    def tab(self, slug: str) -> Tab:
        info = self._infos[slug]
        measure = self._measure(info)
        return Tab(
            slug=slug,
            name=info.display_name,
            description=info.description,
            total=self._written_total(info, measure),
            change=self._change(info, measure),
            address=self.question.address(metric=slug),
        )

    def card(self, slug: str, *, tall: bool = False) -> Card:
        info = self._infos[slug]
        measure = self._measure(info)
        values = self._columns.column(slug)
        compared = None if self._compared is None else self._compared.column(slug)
        total = self._written_total(info, measure)
        query = self.question.address()
        page = f"/{self.workspace.slug}/dashboard/metric/{slug}"
        series = Series(
            slug=slug,
            title=info.display_name,
            description=self._described(info, measure, values, total),
            measure=measure,
            values=values,
            labels=self._short_labels,
            are_complete=self._are_complete,
            compared=compared,
            as_bars=is_drawn_as_bars(slug),
        )
        return Card(
            slug=slug,
            name=info.display_name,
            description=info.description,
            total=total,
            change=self._change(info, measure),
            drawing=draw(series, TALL if tall else LOW),
            values=SEPARATOR.join(self._written(slug, measure, self._columns)),
            before=SEPARATOR.join(self._before(slug, measure)),
            changes=SEPARATOR.join(changes(values, compared or ())),
            csv=f"{page}/csv?{query}",
            page=f"{page}?{query}",
            rows=list_address(self.workspace.slug, self.answer.rows, slug) if self.days else None,
        )

    def rows(self, slug: str) -> list[tuple[str, ...]]:
        """The rows of the table of a chart: a period, its value and, where there is one, that before."""
        measure = self.measure(slug)
        columns = [self.labels, self._written(slug, measure, self._columns)]
        if self._compared is not None:
            columns.append(self._before(slug, measure))
        return list(zip(*columns, strict=True))

    def lists(self, slug: str) -> list[str]:
        """The pages of what each period counts, in the order of the rows; none where there are no lists."""
        address = list_address(self.workspace.slug, self.answer.rows, slug)
        return [] if address is None else [of_days(address, days) for days in self.days]

    def sides(self, slug: str) -> list[tuple[Sequence[str], Sequence[float | None]]]:
        """The moments and values of the range, then those of the compared one; None is no data."""
        both = [columns for columns in (self._columns, self._compared) if columns is not None]
        return [(columns.column("timestamp"), self._known(slug, columns)) for columns in both]

    @cached_property
    def _infos(self) -> Mapping[str, MetricInfo]:
        return {info.slug.value: info for info in self.answer.metrics}

    @cached_property
    def _columns(self) -> ColumnList[Any]:
        return as_column_list(self.answer.periods)

    @cached_property
    def _compared(self) -> ColumnList[Any] | None:
        comparison = self.answer.comparison
        return None if comparison is None else as_column_list(comparison.periods)

    @cached_property
    def _are_complete(self) -> Sequence[bool]:
        return self._columns.column("is_complete")

    @cached_property
    def _labels(self) -> list[str]:
        moments = moments_of(self._columns.column("timestamp"))
        return full_labels(moments, self.question.used_interval)

    @cached_property
    def _short_labels(self) -> list[str]:
        moments = moments_of(self._columns.column("timestamp"))
        return short_labels(moments, self.question.used_interval)

    @cached_property
    def _hours(self) -> int | None:
        """How many hours have begun of a day that is not over, and is compared with the day before."""
        is_by_hours = self.question.is_of_one_day and self.question.used_interval is Interval.HOUR
        if not is_by_hours or not self.is_unfinished or self._compared is None:
            return None
        return sum(self._are_complete) + 1

    def _total(self, info: MetricInfo) -> float:
        return float(getattr(self.answer.totals, info.slug.value))

    def _written_total(self, info: MetricInfo, measure: Measure) -> str:
        divisor = DIVISORS.get(info.slug.value)
        has_data = divisor is None or getattr(self.answer.totals, divisor, None) != 0
        return measure.full(self._total(info)) if has_data else NO_DATA

    def _written(self, slug: str, measure: Measure, columns: ColumnList[Any]) -> list[str]:
        texts, known = measure.all_full(columns.column(slug)), self._known(slug, columns)
        return [NO_DATA if value is None else text for text, value in zip(texts, known, strict=True)]

    def _known(self, slug: str, columns: ColumnList[Any]) -> Sequence[float | None]:
        """The values; None for a ratio to nothing."""
        values: Sequence[float] = columns.column(slug)
        divisor = DIVISORS.get(slug)
        if divisor is None or divisor not in self._infos:
            return values
        pairs = zip(values, columns.column(divisor), strict=True)
        return [value if per else None for value, per in pairs]

    def _before(self, slug: str, measure: Measure) -> list[str]:
        """A month, say, may have fewer days than the one before it, or more."""
        if self._compared is None:
            return []
        many = len(self._columns.column(slug))
        kept = self._written(slug, measure, self._compared)[:many]
        return kept + [NO_DATA] * (many - len(kept))

    def _measure(self, info: MetricInfo) -> Measure:
        return Measure(info.unit, self.answer.currency, info.slug.value in PERCENTAGES)

    def _described(self, info: MetricInfo, measure: Measure, values: Sequence[float], total: str) -> str:
        if not values:
            return f"{info.description} There are no periods in this range."
        highest = max(range(len(values)), key=values.__getitem__)
        so_far = " The last period is not over." if self.is_unfinished else ""
        return (
            f"{info.description} {len(values)} periods from {self._labels[0]} to {self._labels[-1]}; "
            f"in all {total}, highest {measure.full(values[highest])} at {self._labels[highest]}.{so_far}"
        )

    def _change(self, info: MetricInfo, measure: Measure) -> Change | None:
        before = self._total_before(info.slug.value)
        if before is None or self._written_total(info, measure) == NO_DATA:
            return None
        return change_of(info.slug.value, measure, self._total(info), before, may_judge=self.may_judge)

    def _total_before(self, slug: str) -> float | None:
        """That of the compared range, or of as much of it as is over of this one; None if it has none."""
        if self.answer.comparison is None or self._compared is None:
            return None
        if self._hours is None:
            return float(getattr(self.answer.comparison.totals, slug))
        values = self._compared.column(slug)[: self._hours]
        combines = BY_SLUG[slug].combines
        if combines is Combination.SUM:
            return float(sum(values))
        return float(values[-1]) if values and combines in _LAST_COUNTS else None
