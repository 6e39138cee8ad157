"""The sums that measures are made of, and the cell columns that keep them without overflowing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import BigInteger, ColumnElement, FromClause, case, literal

from storage.caches import hashed_once
from storage.enums import FactKind

# The columns of facts that can be added up.
SUMMED = ("count", "bytes", "amount", "fee", "parts")
# A sum of whole values would pass 2^63, where SQLite's sum() fails; sums of their halves do not.
_HALVED = {"bytes": 2**32, "amount": 2**32, "parts": 2**20}
# The minor units of these kinds fit in 32 bits, so their sums need no halves.
_SMALL_AMOUNTS = frozenset({FactKind.PRICED_SESSION, FactKind.PAYMENT, FactKind.REFUND})


@dataclass(frozen=True)
class CellColumn:
    """A column of cells, and what each fact of `kind` adds to it: its `column`, or one half of that."""

    name: str
    kind: FactKind
    column: str
    weight: int = 1
    base: int | None = None

    def part_of(self, value: int) -> int:
        """What a fact with this value adds; halves are cut towards zero, as the databases do."""
        if self.base is None:
            return value
        high, low = divmod(abs(value), self.base)
        half = high if self.weight > 1 else low
        return half if value > 0 else -half

    def of_facts(self, facts: FromClause) -> ColumnElement[int]:
        """What each fact adds, in SQL; 0 for facts of other kinds."""
        added: ColumnElement[int] = facts.c[self.column]
        if self.base is not None:
            high, low = halves(facts.c[self.column])
            added = high if self.weight > 1 else low
        return case((facts.c.kind == self.kind.value, added), else_=literal(0, BigInteger))


@hashed_once
@dataclass(frozen=True)
class FactSum:
    """The sum of one column over the facts of one kind.

    `in_currency` adds up only the facts in the requested currency.
    """

    kind: FactKind
    column: str
    in_currency: bool = False

    @cached_property
    def cell_columns(self) -> tuple[CellColumn, ...]:
        """The columns of cells that add up to this, by weight."""
        name = f"{self.kind.value}_{self.column}"
        base = _HALVED.get(self.column)
        if base is None or (self.column == "amount" and self.kind in _SMALL_AMOUNTS):
            return (CellColumn(name, self.kind, self.column),)
        high = CellColumn(f"{name}_high", self.kind, self.column, base, base)
        return high, CellColumn(f"{name}_low", self.kind, self.column, 1, base)


def kinds_of(fact_sums: Iterable[FactSum]) -> frozenset[FactKind]:
    """The kinds of facts that are added up."""
    return frozenset(fact_sum.kind for fact_sum in fact_sums)


def cell_columns_of(fact_sums: Iterable[FactSum]) -> list[CellColumn]:
    """The cell columns of all these sums, in the order of the sums."""
    return [column for fact_sum in fact_sums for column in fact_sum.cell_columns]


def summed_columns(fact_sums: Iterable[FactSum]) -> list[str]:
    """The columns of facts that are added up, each once, sorted."""
    return sorted({fact_sum.column for fact_sum in fact_sums})


def halves(column: ColumnElement[int]) -> list[ColumnElement[int]]:
    """The high and the low half of a column of facts that is too large to add up; other columns whole."""
    if column.key not in _HALVED:
        return [column]
    base = literal(_HALVED[column.key], BigInteger)
    return [column // base, column % base]


def whole_sums(columns: Sequence[str], sums: Sequence[int]) -> dict[str, int]:
    """The sums of columns by name, put together from the sums of their `halves`."""
    rest = iter(sums)
    return {
        column: next(rest) * _HALVED[column] + next(rest) if column in _HALVED else next(rest)
        for column in columns
    }
