"""Metrics of one range of dates after the other, with their groups, from one snapshot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolvers.metrics.requests import choose
from resolvers.operations.context import Context
from schema.metrics.query import MetricsQuery
from storage.enums import Currency
from storage.metrics.definitions import BY_SLUG, Metric
from storage.metrics.grouping.currencies import columns_by_currency, has_values
from storage.metrics.grouping.engine import GroupedReader
from storage.metrics.grouping.groups import REST, AnyKey, Grouping, Key
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
    _keys: list[Key | None] | None = None

    async def measure(self, timeline: Timeline, below: str = "") -> Measured:
        """The metrics that are selected; `below` is the path of the range in the answer."""
        chosen = choose(self.ctx, self.filters, below)
        reading = await read(self.source, Needs.of(chosen.needed), timeline.edges, self.currency.value)
        groups: Mapping[AnyKey, Columns] = {}
        if chosen.has_groups and len(timeline.edges) > 1:
            groups = await self._groups(chosen.grouped, timeline.edges, reading)
        return Measured(timeline, columns_of(chosen.metrics, reading), groups)

    async def rank(self, timeline: Timeline) -> None:
        """Choose the groups by their totals in this range."""
        metrics = self.metrics if self.filters.top_by is None else [BY_SLUG[self.filters.top_by]]
        if self.grouped is not None and metrics and len(timeline.edges) > 1:
            self._keys = await self.grouped.largest(metrics[0], self.filters.top, timeline.edges)

    async def _groups(
        self, metrics: Sequence[Metric], edges: Sequence[int], reading: Reading
    ) -> Mapping[AnyKey, Columns]:
        if self.filters.group_by is Grouping.CURRENCY:
            return await columns_by_currency(self.source, metrics, edges, reading)
        if self.grouped is None or self._keys is None:
            return {}
        columns = await self.grouped.columns(self._keys, metrics, edges, reading)
        return {key: each for key, each in columns.items() if key is not REST or has_values(each)}
