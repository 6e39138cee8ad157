"""Terms: the sums that measures are made of, and the columns that keep them without overflowing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import BigInteger, ColumnElement, FromClause, case, literal

from storage.enums import FactKind

# The columns of facts that can be added up.
SUMMED = ("count", "bytes", "amount", "fee", "parts")
# A sum of whole columns would pass 2^63, at which SQLite's sum() fails: halves of them do not.
_HALVED = {"bytes": 2**32, "amount": 2**32, "parts": 2**20}
# Of these kinds the minor units are held to 32 bits, so that their sums need no halves.
_SMALL_AMOUNTS = frozenset({FactKind.PRICED_SESSION, FactKind.PAYMENT, FactKind.REFUND})


@dataclass(frozen=True)
class Part:
    """What each fact of `kind` adds to a column `name` of cells: `column`, or one half of it."""

    name: str
    kind: FactKind
    column: str
    weight: int = 1
    base: int | None = None

    def of(self, value: int) -> int:
        """This part of a fact's value; halves are cut towards zero, as the databases do."""
        if self.base is None:
            return value
        high, low = divmod(abs(value), self.base)
        half = high if self.weight > 1 else low
        return half if value > 0 else -half

    def of_column(self, facts: FromClause) -> ColumnElement[int]:
        """This part of a fact's value, and 0 of facts of another kind."""
        column: ColumnElement[int] = facts.c[self.column]
        if self.base is not None:
            high, low = halves(facts.c[self.column])
            column = high if self.weight > 1 else low
        return case((facts.c.kind == self.kind.value, column), else_=literal(0, BigInteger))


@dataclass(frozen=True)
class Term:
    """What the facts of one kind add up to in one column of theirs.

    `in_currency` takes only those in the currency asked for.
    """

    kind: FactKind
    column: str
    in_currency: bool = False

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The columns whose weighted sum it is."""
        name = f"{self.kind.value}_{self.column}"
        base = _HALVED.get(self.column)
        if base is None or (self.column == "amount" and self.kind in _SMALL_AMOUNTS):
            return (Part(name, self.kind, self.column),)
        high = Part(f"{name}_high", self.kind, self.column, base, base)
        return high, Part(f"{name}_low", self.kind, self.column, 1, base)


def kinds_of(terms: Iterable[Term]) -> frozenset[FactKind]:
    """The kinds of facts that the terms are about."""
    return frozenset(term.kind for term in terms)


def parts_of(terms: Iterable[Term]) -> list[Part]:
    """All parts of the terms, in the order of the terms."""
    return [part for term in terms for part in term.parts]


def columns_of(terms: Iterable[Term]) -> list[str]:
    """The columns that the terms are sums of, each once."""
    return sorted({term.column for term in terms})


def halves(column: ColumnElement[int]) -> list[ColumnElement[int]]:
    """The high and the low half of a column of facts that is too large to be added up, or the column."""
    if column.key not in _HALVED:
        return [column]
    base = literal(_HALVED[column.key], BigInteger)
    return [column // base, column % base]


def whole_sums(columns: Sequence[str], sums: Sequence[int]) -> dict[str, int]:
    """The sums of columns by name, out of those of their `halves`."""
    rest = iter(sums)
    return {
        column: next(rest) * _HALVED[column] + next(rest) if column in _HALVED else next(rest)
        for column in columns
    }
