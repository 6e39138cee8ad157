"""The charts of a dashboard: each with its total, its change, its table and the call behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markupsafe import Markup, escape

from gateway.web.charts.drawing import Series, draw
from gateway.web.charts.moments import full_labels, short_labels
from gateway.web.charts.numbers import Measure, change, write_percentage
from gateway.web.dashboard.layout import BURDENS, PERCENTAGES, is_drawn_as_bars
from gateway.web.dashboard.queries import csv_address, curl_of, graphql_of
from gateway.web.dashboard.question import Question, moments_of
from schema.kit.columns import ColumnList, as_column_list
from schema.metrics.metrics import MetricInfo, Metrics
from storage.metrics.definitions import Unit

TALL, LOW = 200.0, 150.0
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
    """A chart with what stands around it; `rows` are the rows of its table."""

    slug: str
    name: str
    description: str
    total: str
    change: Change | None
    drawing: Markup
    rows: Markup
    csv: str
    graphql: str
    curl: str


@dataclass(frozen=True)
class Charts:
    """The answer of the operation on metrics as charts."""

    question: Question
    arguments: Mapping[str, Any]
    answer: Metrics
    base_url: str

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

    def total(self, slug: str) -> float:
        return float(getattr(self.answer.totals, slug))

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
            rows=self._rows(measure, values, compared),
            csv=csv_address(self.arguments, slug),
            graphql=graphql_of(self.arguments, slug),
            curl=curl_of(self.arguments, slug, self.base_url),
        )

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
    def _heads(self) -> list[str]:
        """The beginning of each row of a table: the period, and whether it is over."""
        return [
            f'<tr><th scope="row">{escape(label)}{"" if is_complete else " (so far)"}</th><td>'
            for label, is_complete in zip(self._labels, self._are_complete, strict=True)
        ]

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

    def _rows(self, measure: Measure, values: Sequence[float], compared: Sequence[float] | None) -> Markup:
        texts = measure.all_full(values)
        if compared is None:
            rows = [f"{head}{text}</td></tr>" for head, text in zip(self._heads, texts, strict=True)]
        else:
            # A month, say, may have fewer days than the one before it, or more.
            before = measure.all_full(compared[: len(values)])
            before += ["\N{EN DASH}"] * (len(values) - len(before))
            rows = [
                f"{head}{text}</td><td>{earlier}</td></tr>"
                for head, text, earlier in zip(self._heads, texts, before, strict=True)
            ]
        return Markup("".join(rows))  # noqa: S704 - numbers, and labels escaped above
