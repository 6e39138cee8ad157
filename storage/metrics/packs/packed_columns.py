"""Which sums packs hold, and columns of numbers as bytes."""

from array import array
from collections.abc import Sequence

from sqlalchemy import Table

from storage.metrics.cells.cells import ACTIVITY, MONEY
from storage.metrics.definitions import METRICS
from storage.metrics.sums import cell_columns_of

# The name of the currency in the part of a pack that is not money.
NO_CURRENCY = ""


def _names(*, in_currency: bool) -> tuple[str, ...]:
    sums = {
        fact_sum: None
        for metric in METRICS
        for measure in metric.measures
        for fact_sum in measure.fact_sums
        if fact_sum.in_currency == in_currency
    }
    return tuple(sorted(column.name for column in cell_columns_of(sums)))


# The columns of cells that metrics need; packs number them from 0.
NAMES: dict[Table, tuple[str, ...]] = {ACTIVITY: _names(in_currency=False), MONEY: _names(in_currency=True)}
PLACES = {table: {name: place for place, name in enumerate(names)} for table, names in NAMES.items()}

_TYPES = (("B", 0, 2**8 - 1), ("H", 0, 2**16 - 1), ("i", -(2**31), 2**31 - 1))


def narrow(values: Sequence[int]) -> "array[int]":
    """The numbers in as few bytes each as they need."""
    least, most = min(values), max(values)
    code = next((code for code, first, last in _TYPES if first <= least and most <= last), "q")
    return array(code, values)
