"""The calls that open the numbers of an answer, for each metric and each group."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import NamedTuple
from urllib.parse import quote_plus, urlencode

from resolvers.metrics.requests import DateRange, asked_metrics
from resolvers.operations.context import Context
from schema.file_shares.sessions import FileShareSessionMetric as Counted
from schema.metrics.query import MetricsQuery
from schema.metrics.rows import MetricRows, RowsPart, RowsValue
from storage.enums import Currency
from storage.metrics import definitions
from storage.metrics.definitions import BY_SLUG, Metric, MetricSlug
from storage.metrics.grouping.groups import REST, AnyKey, Grouping
from storage.metrics.measures import Measure

_SESSIONS, _EVENTS = "/api/file-share-sessions/", "/api/events/"
_PAYMENTS, _REFUNDS = "/api/file-share-payments/", "/api/file-share-refunds/"

Parameters = tuple[tuple[str, str], ...]


class _List(NamedTuple):
    """A list that has rows of a measure, and what counts of them."""

    path: str
    value: RowsValue = RowsValue.ROWS
    parameters: Parameters = ()
    part: RowsPart = RowsPart.ADDED


def _sessions(counted: Counted, value: RowsValue = RowsValue.ROWS) -> tuple[_List, ...]:
    return (_List(_SESSIONS, value, (("metric", counted.value),)),)


def _money(value: RowsValue) -> tuple[_List, ...]:
    return _List(_PAYMENTS, value), _List(_REFUNDS, value, part=RowsPart.SUBTRACTED)


_LISTS: Mapping[Measure, tuple[_List, ...]] = {
    definitions.COSTS: (_List(_EVENTS, RowsValue.COST),),
    definitions.PERSONS: (_List(_EVENTS, RowsValue.PEOPLE, (("source", "user"),)),),
    definitions.REVENUE: _money(RowsValue.AMOUNT),
    definitions.FEES: _money(RowsValue.PLATFORM_FEE),
    definitions.DOWNLOADS: (_List("/api/file-share-downloads/"),),
    definitions.SESSIONS: _sessions(Counted.FILE_SHARE_SESSIONS),
    definitions.SIZES: _sessions(Counted.FILE_SHARE_SESSIONS, RowsValue.FILE_SIZE_BYTES),
    definitions.FREE_SESSIONS: _sessions(Counted.FILE_SHARE_FREE_SESSIONS),
    definitions.PRICED_SESSIONS: _sessions(Counted.FILE_SHARE_PAID_SESSIONS),
    definitions.PRICED_IN_CURRENCY: _sessions(Counted.FILE_SHARE_PAID_SESSIONS),
    definitions.LIST_PRICES: _sessions(Counted.FILE_SHARE_PAID_SESSIONS, RowsValue.PRICE_AMOUNT),
    definitions.CONVERSIONS: _sessions(Counted.FILE_SHARE_PAYMENT_CONVERSION),
    definitions.COMPLETIONS: _sessions(Counted.FILE_SHARE_COMPLETED_SESSIONS),
    definitions.EXPIRIES: _sessions(Counted.FILE_SHARE_EXPIRED_SESSIONS),
    definitions.ACTIVE: _sessions(Counted.FILE_SHARE_ACTIVE_SESSIONS),
}


class _Group(NamedTuple):
    """What a group adds to the calls of events and to the others; None: it can have no such rows.

    `replaced` is the filter of the answer that the group's key stands for.
    """

    of_events: Parameters | None = ()
    of_others: Parameters | None = ()
    replaced: str | None = None


_WHOLE = _Group()


@dataclass(frozen=True)
class Openings:
    """What opens the numbers of the metrics in a range of dates."""

    filters: MetricsQuery
    metrics: Sequence[Metric]
    currency: Currency
    start_date: date
    end_date: date

    def whole(self) -> list[MetricRows]:
        """What opens the metrics without groups."""
        return self._opened(self.metrics, self.currency, _WHOLE)

    def group(self, key: AnyKey, shown: Collection[AnyKey], currency: Currency) -> list[MetricRows]:
        """What opens those of the group with this key, in its currency; `shown` are all groups' keys."""
        if self.filters.group_by is Grouping.CURRENCY:
            metrics = [metric for metric in self.metrics if metric.is_money == (key is not None)]
            return self._opened(metrics, currency, _WHOLE)
        if self.filters.group_by is Grouping.EVENT_NAME:
            return self._opened(self.metrics, currency, _group_of_name(key, shown))
        name = "customer_id" if self.filters.group_by is Grouping.CUSTOMER else "share_id"
        if key is REST:
            others = tuple((f"{name}_not", _written(other)) for other in shown if other is not REST)
            return self._opened(self.metrics, currency, _Group(others, others))
        own = ((name, _written(key)),)
        return self._opened(self.metrics, currency, _Group(own, own, name))

    def _opened(self, metrics: Sequence[Metric], currency: Currency, group: _Group) -> list[MetricRows]:
        common = self._common(group.replaced)
        own = {
            is_of_events: None if added is None else "".join(map(_parameter, added))
            for is_of_events, added in ((True, group.of_events), (False, group.of_others))
        }
        currency_filter = _parameter(("currency", currency.value))
        rows = []
        for metric in metrics:
            for part in _parts(metric.slug):
                added = own[part.path == _EVENTS]
                if added is not None:
                    query = common + part.query + added + (currency_filter if part.in_currency else "")
                    rows.append(
                        MetricRows.made(
                            slug=part.slug, part=part.part, value=part.value, path=part.path, query=query
                        )
                    )
        return rows

    def _common(self, replaced: str | None) -> str:
        """The range of dates, and the filters of the answer."""
        range = [("start_date", f"{self.start_date}"), ("end_date", f"{self.end_date}")]
        filters = [
            (name, str(id))
            for name in ("workspace_id", "share_id", "customer_id")
            if name != replaced
            for id in getattr(self.filters, name) or ()
        ]
        return urlencode([*range, ("timezone", self.filters.timezone), *filters], safe="/")


def openings_of(
    ctx: Context, filters: MetricsQuery, range: DateRange | None, currency: Currency, below: str = ""
) -> Openings | None:
    """What opens the numbers of a range; None if the answer does not show it. `below` is its path."""
    if range is None or not ctx.wants(f"{below}rows"):
        return None
    return Openings(filters, asked_metrics(filters), currency, range.start_date, range.end_date)


def rows_of(
    ctx: Context, filters: MetricsQuery, range: DateRange, currency: Currency, below: str = ""
) -> list[MetricRows]:
    """The calls that open the numbers of a range, if the answer shows them."""
    openings = openings_of(ctx, filters, range, currency, below)
    return [] if openings is None else openings.whole()


def _group_of_name(key: AnyKey, shown: Collection[AnyKey]) -> _Group:
    """Events have names; everything else is in the group without one, or in the rest."""
    if key is None:
        return _Group(of_events=None)
    if key is not REST:
        return _Group((("name", str(key)),), None)
    names = tuple(("name_not", name) for name in shown if isinstance(name, str))
    return _Group(names, None if None in shown else ())


class _Part(NamedTuple):
    """A call that opens a part of a metric, without what the answer and the group add to it."""

    slug: MetricSlug
    part: RowsPart
    value: RowsValue
    path: str
    query: str
    in_currency: bool


@cache
def _parts(slug: str) -> tuple[_Part, ...]:
    metric = BY_SLUG[slug]
    of = [(listed.part, listed, metric.of) for listed in _LISTS[metric.of]]
    for part, measure in ((RowsPart.SUBTRACTED, metric.less), (RowsPart.DIVISOR, metric.per)):
        of += [(part, listed, measure) for listed in _LISTS[measure]] if measure is not None else []
    return tuple(
        _Part(
            MetricSlug(slug),
            part,
            listed.value,
            listed.path,
            "".join(map(_parameter, listed.parameters)),
            measure.in_currency,
        )
        for part, listed, measure in of
    )


def _parameter(parameter: tuple[str, str]) -> str:
    name, value = parameter
    return f"&{name}={quote_plus(value)}"


def _written(key: AnyKey) -> str:
    return "none" if key is None else str(key)
