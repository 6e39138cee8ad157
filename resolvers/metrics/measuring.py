"""Metrics of one range of dates after the other, with their groups, from one snapshot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from resolvers.metrics.requests import choose
from resolvers.operations.context import Context
from schema.metrics.query import MetricsQuery
from storage.enums import Currency
from storage.metrics.definitions import BY_SLUG, Metric
from storage.metrics.grouping.currencies import columns_by_currency, has_values, zeros_like
from storage.metrics.grouping.engine import GroupedReader
from storage.metrics.grouping.groups import REST, AnyKey, Grouping
from storage.metrics.grouping.ranking import Ranked, Ranking
from storage.metrics.periods import Timeline
from storage.metrics.reading.engine import Columns, Needs, Reading, columns_of, read
from storage.metrics.reading.reader import Source


@dataclass(frozen=True)
class Measured:
    """The metrics of a range, and those of its groups in their order."""

    timeline: Timeline
    columns: Columns
    groups: Mapping[AnyKey, Columns]


@dataclass
class Measurement:
    """Reads what is selected. The groups that `rank` chooses are those of every range."""

    ctx: Context
    source: Source
    grouped: GroupedReader | None
    filters: MetricsQuery
    metrics: Sequence[Metric]
    currency: Currency
    _ranked: Ranked | None = None

    async def measure(self, timeline: Timeline, below: str = "") -> Measured:
        """The metrics that are selected; `below` is the path of the range in the answer."""
        chosen = choose(self.ctx, self.filters, below)
        reading = await read(self.source, Needs.of(chosen.needed), timeline.edges, self.currency.value)
        groups: Mapping[AnyKey, Columns] = {}
        if chosen.has_groups and len(timeline.edges) > 1:
            groups = await self._groups(chosen.grouped, timeline.edges, reading)
        return Measured(timeline, columns_of(chosen.metrics, reading), groups)

    async def rank(self, ranges: Sequence[Timeline]) -> None:
        """Choose the groups by their totals in these ranges; with `top_by`, in the first."""
        top_by = self.filters.top_by
        metrics = self.metrics if top_by is None else [BY_SLUG[top_by]]
        edges = [timeline.edges for timeline in ranges if len(timeline.edges) > 1]
        if self.grouped is not None and metrics and edges:
            ranking = Ranking(self.metrics, metrics[0], self.filters.top)
            self._ranked = await ranking.choose(self.grouped, edges, by_first=top_by is not None)

    async def _groups(
        self, metrics: Sequence[Metric], edges: Sequence[int], reading: Reading
    ) -> Mapping[AnyKey, Columns]:
        if self.filters.group_by is Grouping.CURRENCY:
            return await columns_by_currency(self.source, metrics, edges, reading)
        if self.grouped is None or self._ranked is None:
            return {}
        columns = await self.grouped.columns(self._ranked.keys, metrics, edges, reading)
        return {key: each for key, each in columns.items() if key is not REST or self._ranked.has_rest}


def with_same_currencies(ranges: Sequence[Measured]) -> list[Measured]:
    """Ranges grouped by currency, all with the currencies in which any of them has values, by code.

    What is not money is the last group.
    """
    keys = {key for measured in ranges for key, each in measured.groups.items() if has_values(each)}
    ordered = sorted(keys, key=lambda key: (key is None, str(key)))
    same = []
    for measured in ranges:
        # A range without time has no groups.
        shown = ordered if measured.groups else ()
        groups = {key: measured.groups.get(key) or zeros_like(measured.groups[None]) for key in shown}
        same.append(replace(measured, groups=groups))
    return same
