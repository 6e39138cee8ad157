"""The charts of a dashboard: each with its total, its change, its table and the call behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markupsafe import Markup

from gateway.web.charts.drawing import Series, draw
from gateway.web.charts.moments import full_labels, short_labels
from gateway.web.charts.numbers import Measure, change, write_percentage
from gateway.web.dashboard.layout import BURDENS, PERCENTAGES, is_drawn_as_bars
from gateway.web.dashboard.queries import csv_address
from gateway.web.dashboard.question import Question, moments_of
from schema.kit.columns import ColumnList, as_column_list
from schema.metrics.metrics import MetricInfo, Metrics
from storage.metrics.definitions import Unit

TALL, LOW = 280.0, 150.0
# Between the values of a chart, in an attribute that its script reads.
SEPARATOR = "|"
MOSTLY_OVER = 0.9
LARGEST_CHANGE = 10


@dataclass(frozen=True)
class Change:
    """`12.5%`; `direction` is `up`, `down` or `level`, and `mood` is whether that is good."""

    text: str
    direction: str
    mood: str
    before: str


@dataclass(frozen=True)
class Card:
    """A chart with what stands around it.

    `values` are those of its periods as people read them, between separators, and `before` those of the
    compared range. `page` is the address of its page, which has its table and the call behind it.
    """

    slug: str
    name: str
    description: str
    total: str
    change: Change | None
    drawing: Markup
    values: str
    before: str
    csv: str
    page: str


@dataclass(frozen=True)
class Tab:
    """A headline number over the large chart; `address` is the query that shows its chart."""

    slug: str
    name: str
    description: str
    total: str
    change: Change | None
    address: str


@dataclass(frozen=True)
class Charts:
    """The answer of the operation on metrics as charts."""

    question: Question
    arguments: Mapping[str, Any]
    answer: Metrics
    slug: str

    @cached_property
    def is_empty(self) -> bool:
        """Whether nothing at all happened in the range."""
        return not any(self._total(info) for info in self.answer.metrics)

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
        return sum(self._are_complete) >= MOSTLY_OVER * self.periods

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

    def total(self, slug: str) -> float:
        return float(getattr(self.answer.totals, slug))

    def tab(self, slug: str) -> Tab:
        info = self._infos[slug]
        measure = self._measure(info)
        return Tab(
            slug=slug,
            name=info.display_name,
            description=info.description,
            total=measure.full(self._total(info)),
            change=self._change(info, measure),
            address=self.question.address(metric=slug),
        )

    def card(self, slug: str, *, tall: bool = False) -> Card:
        info = self._infos[slug]
        measure = self._measure(info)
        values = self._columns.column(slug)
        compared = None if self._compared is None else self._compared.column(slug)
        total = measure.full(self._total(info))
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
            values=SEPARATOR.join(measure.all_full(values)),
            before=SEPARATOR.join(self._as_many(values, measure.all_full(compared or ()))),
            csv=csv_address(self.arguments, slug),
            page=f"/{self.slug}/dashboard/metric/{slug}?{self.question.address()}",
        )

    def rows(self, slug: str) -> list[tuple[str, ...]]:
        """The rows of the table of a chart: a period, its value and, where there is one, that before."""
        measure = self._measure(self._infos[slug])
        values = self._columns.column(slug)
        columns = [self.labels, measure.all_full(values)]
        if self._compared is not None:
            columns.append(self._as_many(values, measure.all_full(self._compared.column(slug))))
        return list(zip(*columns, strict=True))

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

    def _total(self, info: MetricInfo) -> float:
        return float(getattr(self.answer.totals, info.slug.value))

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
        comparison = self.answer.comparison
        if comparison is None:
            return None
        slug = info.slug.value
        before = float(getattr(comparison.totals, slug))
        fraction = change(self._total(info), before)
        if fraction is None:
            text = "new" if self._total(info) else write_percentage(0, 0)
            return Change(text, "level", "neutral", measure.full(before))
        direction = "level" if abs(fraction) < 0.0005 else "up" if fraction > 0 else "down"
        is_good = (direction == "up") is not (slug in BURDENS)
        mood = "good" if is_good else "bad"
        if direction == "level" or not self.may_judge:
            mood = "neutral"
        text = write_percentage(100 * abs(fraction))
        if abs(fraction) > LARGEST_CHANGE:
            text = f"over {write_percentage(100 * LARGEST_CHANGE, 0)}"
        return Change(text, direction, mood, measure.full(before))

    def _as_many(self, values: Sequence[float], before: list[str]) -> list[str]:
        """A month, say, may have fewer days than the one before it, or more."""
        if self._compared is None:
            return []
        kept = before[: len(values)]
        return kept + ["\N{EN DASH}"] * (len(values) - len(kept))
