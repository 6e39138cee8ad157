"""What each metric is: one entry here, from which both surfaces, the enum and the documentation follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate

from storage.caches import hashed_once
from storage.enums import FactKind
from storage.metrics.measures import COST, COST_SCALE, PERSON, Measure
from storage.metrics.sums import cell_columns_of
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import ActivityCellRow, MoneyCellRow

Number = int | float


class Unit(StrEnum):
    """What a metric's numbers count. Money is in minor units; a ratio has no unit."""

    COUNT = "count"
    BYTES = "bytes"
    MONEY = "money"
    RATIO = "ratio"


class Combination(StrEnum):
    """How the values of periods combine into the value of a longer period.

    `sum`: added up; `running_sum`: the last value; `distinct`: counted again, each person once; `gauge`: the
    state at the end; `ratio`: both sides added up, then divided.
    """

    SUM = "sum"
    RUNNING_SUM = "running_sum"
    DISTINCT = "distinct"
    GAUGE = "gauge"
    RATIO = "ratio"


class UncountedMetric(Exception):
    """A metric adds up facts for which cells have no column."""

    def __init__(self, slug: str, columns: Sequence[str], cells: str) -> None:
        super().__init__(
            f"The metric {slug} needs the columns {', '.join(columns)} in {cells}: add them in "
            "storage/tables/metrics/metric_cells.py, write a revision (`make migration`), and rebuild the "
            "cells of existing workspaces (`duograph metrics rebuild`)."
        )


@hashed_once
@dataclass(frozen=True)
class Metric:
    """`of` minus `less`, divided by `per`; 0 where `per` is 0. `description` is the formula in words.

    Raises `UncountedMetric`.
    """

    slug: str
    unit: Unit
    combines: Combination
    description: str
    of: Measure
    less: Measure | None = None
    per: Measure | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        for measure in self.measures:
            cells = MoneyCellRow if measure.in_currency else ActivityCellRow
            names = [column.name for column in cell_columns_of(measure.fact_sums)]
            missing = [name for name in names if name not in table_of(cells).columns]
            if missing:
                raise UncountedMetric(self.slug, missing, cells.__name__)

    @property
    def display_name(self) -> str:
        """Its name for people: the slug in words, unless it has a better one."""
        return self.name or self.slug.replace("_", " ").capitalize()

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(measure for measure in (self.of, self.less, self.per) if measure is not None)

    @cached_property
    def is_whole(self) -> bool:
        """Whether its values are integers; otherwise each is the double nearest to the exact value."""
        return self.per is None and all(measure.scale == 1 for measure in self.measures)

    @cached_property
    def is_money(self) -> bool:
        """Whether its values depend on the currency."""
        return any(measure.in_currency for measure in self.measures)

    def column(self, sums: Mapping[Measure, Sequence[int]]) -> list[Number]:
        """The metric's values by period, from the exact sums of its measures."""
        scale = max(measure.scale for measure in self.measures)
        factor = scale // self.of.scale
        values: list[int] = (
            list(sums[self.of]) if factor == 1 else [value * factor for value in sums[self.of]]
        )
        if self.less is not None:
            factor = scale // self.less.scale
            values = [value - less * factor for value, less in zip(values, sums[self.less], strict=True)]
        if self.combines is Combination.RUNNING_SUM:
            values = list(accumulate(values))
        if self.per is not None:
            # Python divides integers of any size exactly and rounds once, to the nearest double.
            pairs = zip(values, sums[self.per], strict=True)
            return [value / (scale * per) if per else 0.0 for value, per in pairs]
        return list(values) if self.is_whole else [value / scale for value in values]


def _measure(*kinds: FactKind, column: str = "count", in_currency: bool = False, scale: int = 1) -> Measure:
    return Measure(frozenset(kinds), column, in_currency=in_currency, scale=scale)


_PAYMENTS = (FactKind.PAYMENT, FactKind.REFUND)
_CREATIONS = (FactKind.FREE_SESSION, FactKind.PRICED_SESSION)
COSTS = _measure(FactKind.COST, column=COST, in_currency=True, scale=COST_SCALE)
REVENUE = _measure(*_PAYMENTS, column="amount", in_currency=True)
FEES = _measure(*_PAYMENTS, column="fee", in_currency=True)
PERSONS = _measure(FactKind.EVENT, column=PERSON)
SESSIONS = _measure(*_CREATIONS)
FREE_SESSIONS = _measure(FactKind.FREE_SESSION)
PRICED_SESSIONS = _measure(FactKind.PRICED_SESSION)
PRICED_IN_CURRENCY = _measure(FactKind.PRICED_SESSION, in_currency=True)
LIST_PRICES = _measure(FactKind.PRICED_SESSION, column="amount", in_currency=True)
CONVERSIONS = _measure(FactKind.CONVERSION)
SIZES = _measure(*_CREATIONS, column="bytes")
DOWNLOADS = _measure(FactKind.DOWNLOAD)
COMPLETIONS = _measure(FactKind.COMPLETION)
EXPIRIES = _measure(FactKind.EXPIRY)
ACTIVE = Measure(frozenset({FactKind.ACTIVATION}), less=frozenset({FactKind.DEACTIVATION}))

_C = Combination
METRICS = (
    Metric("costs", Unit.MONEY, _C.SUM, "The sum of the events' costs.", COSTS),
    Metric("cumulative_costs", Unit.MONEY, _C.RUNNING_SUM, "Costs since the start of the range.", COSTS),
    Metric(
        "cost_per_user",
        Unit.MONEY,
        _C.RATIO,
        "Costs / active users; 0 without active users.",
        COSTS,
        per=PERSONS,
    ),
    Metric(
        "active_user_by_event",
        Unit.COUNT,
        _C.DISTINCT,
        "Distinct persons with at least one event.",
        PERSONS,
        name="Active users",
    ),
    Metric("file_share_sessions", Unit.COUNT, _C.SUM, "Sessions created.", SESSIONS, name="Sessions"),
    Metric("file_share_downloads", Unit.COUNT, _C.SUM, "Downloads.", DOWNLOADS, name="Downloads"),
    Metric(
        "file_share_free_sessions",
        Unit.COUNT,
        _C.SUM,
        "Sessions created without a price.",
        FREE_SESSIONS,
        name="Free sessions",
    ),
    Metric(
        "file_share_active_sessions",
        Unit.COUNT,
        _C.GAUGE,
        "Sessions with a download that have not ended by the end of the period, whenever they were created.",
        ACTIVE,
        name="Active sessions",
    ),
    Metric(
        "file_share_completed_sessions",
        Unit.COUNT,
        _C.SUM,
        "Sessions completed.",
        COMPLETIONS,
        name="Completed sessions",
    ),
    Metric(
        "file_share_expired_sessions",
        Unit.COUNT,
        _C.SUM,
        "Sessions expired.",
        EXPIRIES,
        name="Expired sessions",
    ),
    Metric(
        "file_share_avg_downloads",
        Unit.RATIO,
        _C.RATIO,
        "Downloads / sessions created; 0 without sessions.",
        DOWNLOADS,
        per=SESSIONS,
        name="Downloads per session",
    ),
    Metric(
        "file_share_total_size_bytes",
        Unit.BYTES,
        _C.SUM,
        "The sum of the file sizes of sessions created.",
        SIZES,
        name="Total file size",
    ),
    Metric(
        "cumulative_file_share_sessions",
        Unit.COUNT,
        _C.RUNNING_SUM,
        "Sessions created since the start of the range.",
        SESSIONS,
        name="Cumulative sessions",
    ),
    Metric(
        "cumulative_file_share_downloads",
        Unit.COUNT,
        _C.RUNNING_SUM,
        "Downloads since the start of the range.",
        DOWNLOADS,
        name="Cumulative downloads",
    ),
    Metric(
        "file_share_revenue",
        Unit.MONEY,
        _C.SUM,
        "Payments minus refunds, each counted when it happened.",
        REVENUE,
        name="Revenue",
    ),
    Metric(
        "file_share_paid_sessions",
        Unit.COUNT,
        _C.SUM,
        "Sessions created with a price.",
        PRICED_SESSIONS,
        name="Paid sessions",
    ),
    Metric(
        "file_share_avg_price",
        Unit.MONEY,
        _C.RATIO,
        "The average list price of sessions created with a price in the currency; 0 without any.",
        LIST_PRICES,
        per=PRICED_IN_CURRENCY,
        name="Average price",
    ),
    Metric(
        "file_share_payment_conversion",
        Unit.RATIO,
        _C.RATIO,
        "The fraction of the priced sessions created that have a payment by now, from 0 to 1.",
        CONVERSIONS,
        per=PRICED_SESSIONS,
        name="Payment conversion",
    ),
    Metric(
        "file_share_platform_fees",
        Unit.MONEY,
        _C.SUM,
        "Platform fees of payments, minus the fees returned with refunds.",
        FEES,
        name="Platform fees",
    ),
    Metric(
        "cumulative_file_share_platform_fees",
        Unit.MONEY,
        _C.RUNNING_SUM,
        "Platform fees since the start of the range.",
        FEES,
        name="Cumulative platform fees",
    ),
    Metric(
        "cashflow",
        Unit.MONEY,
        _C.SUM,
        "Revenue minus costs.",
        REVENUE,
        less=COSTS,
        name="Cash flow",
    ),
)
BY_SLUG = {metric.slug: metric for metric in METRICS}
MetricSlug = StrEnum("MetricSlug", {metric.slug.upper(): metric.slug for metric in METRICS})  # type: ignore[misc]
MetricSlug.__doc__ = "A metric."
# Also answered for every other currency, so that no money is hidden.
IN_OTHER_CURRENCIES = tuple(
    BY_SLUG[slug] for slug in ("file_share_revenue", "file_share_platform_fees", "costs")
)
