"""Groups by currency: every currency side by side, and what is not money on its own.

A currency's amounts are the same as those of an answer in this currency. What is counted has no currency.
"""

from collections.abc import Sequence

from storage.metrics.definitions import Metric
from storage.metrics.grouping.groups import AnyKey
from storage.metrics.reading.engine import Columns, Needs, Reading, columns_of
from storage.metrics.reading.reader import GroupedBy, Question, Source


async def columns_by_currency(
    source: Source, metrics: Sequence[Metric], edges: Sequence[int], total: Reading
) -> dict[AnyKey, Columns]:
    """The metrics of each currency that has facts, by code, then those that are not money.

    In the columns of a currency all other metrics are 0, and money is 0 in the last.
    """
    question = question_by_currency(metrics, edges)
    found = await source.sums(question) if question.fact_sums else {}
    columns: dict[AnyKey, Columns] = {
        code: _only(metrics, columns_of(metrics, Reading({**total.sums, **found[code]}, total.persons)))
        for code in sorted(found)
    }
    columns[None] = _only(metrics, columns_of(metrics, total), money=False)
    return columns


def question_by_currency(metrics: Sequence[Metric], edges: Sequence[int]) -> Question:
    """What `columns_by_currency` asks: the sums of money in each currency."""
    money = [fact_sum for fact_sum in Needs.of(metrics).fact_sums if fact_sum.in_currency]
    return Question(money, edges, grouped_by=GroupedBy.CURRENCY)


def has_values(columns: Columns) -> bool:
    """Whether any value is not 0."""
    return any(columns.totals.values()) or any(map(any, columns.periods.values()))


def zeros_like(columns: Columns) -> Columns:
    """The same metrics and periods, with 0 for every value."""
    return Columns(
        {slug: [type(value)() for value in values] for slug, values in columns.periods.items()},
        {slug: type(value)() for slug, value in columns.totals.items()},
    )


def _only(metrics: Sequence[Metric], columns: Columns, *, money: bool = True) -> Columns:
    """The columns with 0 for metrics that are not money, or for those that are."""
    zero = {metric.slug: 0 if metric.is_whole else 0.0 for metric in metrics if metric.is_money != money}
    return Columns(
        {
            slug: [zero[slug]] * len(values) if slug in zero else values
            for slug, values in columns.periods.items()
        },
        {slug: zero.get(slug, value) for slug, value in columns.totals.items()},
    )
