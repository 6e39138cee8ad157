"""From computed metrics to what the answer contains."""

from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from typing import cast

from resolvers.metrics.measuring import Measured
from resolvers.metrics.openings import Openings
from schema.metrics.metrics import MetricColumns, MetricGroup, MetricInfo
from schema.values.scalars import ZonedMoment, write_number, write_numbers
from storage.clock import now
from storage.enums import Currency
from storage.metrics.definitions import BY_SLUG
from storage.metrics.facts import microseconds
from storage.metrics.grouping.groups import REST, AnyKey, Rest
from storage.metrics.periods import Timeline
from storage.metrics.reading.engine import Columns


def columns_of(results: Columns, timeline: Timeline) -> MetricColumns:
    """The results as both surfaces write them."""
    ends = timeline.edges[1:]
    over = bisect_right(ends, microseconds(now()))
    return MetricColumns(
        cast("list[ZonedMoment]", timeline.timestamps),
        [True] * over + [False] * (len(ends) - over),
        {slug: write_numbers(values) for slug, values in results.periods.items()},
        {slug: write_number(total) for slug, total in results.totals.items()},
    )


@lru_cache(maxsize=1_000)
def info_of(slug: str, currency: Currency) -> MetricInfo:
    """What an answer in this currency says of a metric."""
    return MetricInfo.of(BY_SLUG[slug], currency)


def groups_of(
    measured: Measured,
    labels: Mapping[AnyKey, str],
    currency: Currency,
    openings: Openings | None,
    *,
    by_currency: bool,
) -> list[MetricGroup]:
    """The groups in their order; `by_currency`, each has amounts in its own. Without `openings`, no rows."""
    answers = []
    for key, columns in measured.groups.items():
        own = Currency(key) if by_currency and isinstance(key, str) else currency
        answers.append(
            MetricGroup.with_columns(
                columns_of(columns, measured.timeline),
                rows=[] if openings is None else openings.group(key, measured.groups, own),
                key=None if key is None or isinstance(key, Rest) else str(key),
                label=labels[key],
                is_rest=key is REST,
                currency=own,
                exponent=own.exponent,
            )
        )
    return answers
