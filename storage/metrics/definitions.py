"""What each metric is: one entry here, from which both surfaces, the enum and the documentation follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate

from storage.enums import FactKind
from storage.metrics.sums import Term

# Columns of measures that are more than a column of the log: distinct persons, and whole minor units and
# their 10^-12 parts in one.
PERSON, COST = "person", "cost"
COST_SCALE = 10**12
_MADE_OF = {COST: (("amount", COST_SCALE), ("parts", 1))}

Number = int | float


class Unit(StrEnum):
    """What a metric's numbers count. Money is in minor units; a ratio has no unit."""

    COUNT = "count"
    BYTES = "bytes"
    MONEY = "money"
    RATIO = "ratio"


class Combination(StrEnum):
    """How the values of periods make the value of a longer one.

    `sum`: added up; `running_sum`: the last value; `distinct`: counted again, each person once; `gauge`: the
    state at the end; `ratio`: both sides added up, then divided.
    """

    SUM = "sum"
    RUNNING_SUM = "running_sum"
    DISTINCT = "distinct"
    GAUGE = "gauge"
    RATIO = "ratio"


@dataclass(frozen=True)
class Measure:
    """What facts of some kinds add up to: a column of theirs, or `COST`, or the distinct `PERSON`s.

    Kinds in `less` count against it. `in_currency` takes only the facts in the currency asked for; `scale`
    is how many of its units make one.
    """

    kinds: frozenset[FactKind]
    column: str = "count"
    less: frozenset[FactKind] = frozenset()
    in_currency: bool = False
    scale: int = 1

    @cached_property
    def terms(self) -> tuple[tuple[Term, int], ...]:
        """The terms whose weighted sum it is, unless it counts persons."""
        return tuple(
            (Term(kind, column, self.in_currency), -weight if kind in self.less else weight)
            for kind in sorted(self.kinds | self.less)
            for column, weight in _MADE_OF.get(self.column, ((self.column, 1),))
        )


@dataclass(frozen=True)
class Metric:
    """`of`, less `less`, divided by `per`; 0 where `per` is 0. `description` is the formula in words."""

    slug: str
    unit: Unit
    combines: Combination
    description: str
    of: Measure
    less: Measure | None = None
    per: Measure | None = None

    @property
    def display_name(self) -> str:
        return self.slug.replace("_", " ").title()

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(measure for measure in (self.of, self.less, self.per) if measure is not None)

    @cached_property
    def is_whole(self) -> bool:
        """Whether its values are integers; those of the others are nearest doubles of the exact value."""
        return self.per is None and all(measure.scale == 1 for measure in self.measures)

    def column(self, sums: Mapping[Measure, Sequence[int]]) -> list[Number]:
        """The metric's values out of the exact sums of its measures, period by period."""
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
            # Python divides integers of any size into the nearest double.
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
    Metric("costs", Unit.MONEY, _C.SUM, "The costs of events.", COSTS),
    Metric("cumulative_costs", Unit.MONEY, _C.RUNNING_SUM, "The costs since the range began.", COSTS),
    Metric("cost_per_user", Unit.MONEY, _C.RATIO, "Costs / active users by event.", COSTS, per=PERSONS),
    Metric("active_user_by_event", Unit.COUNT, _C.DISTINCT, "Distinct persons with an event.", PERSONS),
    Metric("file_share_sessions", Unit.COUNT, _C.SUM, "Sessions created.", SESSIONS),
    Metric("file_share_downloads", Unit.COUNT, _C.SUM, "Downloads.", DOWNLOADS),
    Metric(
        "file_share_free_sessions", Unit.COUNT, _C.SUM, "Sessions created without a price.", FREE_SESSIONS
    ),
    Metric(
        "file_share_active_sessions",
        Unit.COUNT,
        _C.GAUGE,
        "Sessions with a download that have not ended at the period's end, whenever they were opened.",
        ACTIVE,
    ),
    Metric("file_share_completed_sessions", Unit.COUNT, _C.SUM, "Sessions completed.", COMPLETIONS),
    Metric("file_share_expired_sessions", Unit.COUNT, _C.SUM, "Sessions expired.", EXPIRIES),
    Metric(
        "file_share_avg_downloads",
        Unit.RATIO,
        _C.RATIO,
        "Downloads / sessions created; 0 without sessions.",
        DOWNLOADS,
        per=SESSIONS,
    ),
    Metric("file_share_total_size_bytes", Unit.BYTES, _C.SUM, "The file sizes of sessions created.", SIZES),
    Metric(
        "cumulative_file_share_sessions",
        Unit.COUNT,
        _C.RUNNING_SUM,
        "Sessions created since the range began.",
        SESSIONS,
    ),
    Metric(
        "cumulative_file_share_downloads",
        Unit.COUNT,
        _C.RUNNING_SUM,
        "Downloads since the range began.",
        DOWNLOADS,
    ),
    Metric(
        "file_share_revenue",
        Unit.MONEY,
        _C.SUM,
        "Payments at their moment, less refunds at theirs.",
        REVENUE,
    ),
    Metric("file_share_paid_sessions", Unit.COUNT, _C.SUM, "Sessions created with a price.", PRICED_SESSIONS),
    Metric(
        "file_share_avg_price",
        Unit.MONEY,
        _C.RATIO,
        "List prices of the sessions created with a price in the currency / their number; 0 without any.",
        LIST_PRICES,
        per=PRICED_IN_CURRENCY,
    ),
    Metric(
        "file_share_payment_conversion",
        Unit.RATIO,
        _C.RATIO,
        "Of the priced sessions created, the part that has a payment by now, from 0 to 1.",
        CONVERSIONS,
        per=PRICED_SESSIONS,
    ),
    Metric(
        "file_share_platform_fees",
        Unit.MONEY,
        _C.SUM,
        "Platform fees of payments, less the fees that refunds gave back.",
        FEES,
    ),
    Metric(
        "cumulative_file_share_platform_fees",
        Unit.MONEY,
        _C.RUNNING_SUM,
        "Platform fees since the range began.",
        FEES,
    ),
    Metric("cashflow", Unit.MONEY, _C.SUM, "File share revenue - costs.", REVENUE, less=COSTS),
)
BY_SLUG = {metric.slug: metric for metric in METRICS}
MetricSlug = StrEnum("MetricSlug", {metric.slug.upper(): metric.slug for metric in METRICS})  # type: ignore[misc]
MetricSlug.__doc__ = "A metric."
# Shown for every other currency too, so that nothing is hidden.
IN_OTHER_CURRENCIES = tuple(
    BY_SLUG[slug] for slug in ("file_share_revenue", "file_share_platform_fees", "costs")
)
