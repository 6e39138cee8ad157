"""Ledgers: changes of what is counted wait as deltas, and the fold adds them to books.

Each kind of count declares its ledger beside what it counts. Recording, folding, verifying and rebuilding are
the same for all.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, partial
from operator import add
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from sqlalchemy import ColumnElement, FromClause, Table, case, cast, func, select

from storage.dialects.extremes import greatest, least
from storage.engine.connections import Connection
from storage.tables.base import Values

# Makes the condition on a column of workspaces.
Workspaces = Callable[[ColumnElement[UUID]], ColumnElement[bool]]
# The columns of a table's key, beginning with the workspace, and those of its values, in the table's order.
Key = tuple[Any, ...]
Row = tuple[Any, ...]
# In a delta that the fold takes: how many equal ones it stands for; 1 without it. No column is called that.
TIMES = "times"


class Combination(Enum):
    """How the values of a column combine, named like the aggregate in SQL; it has none for the latest one."""

    SUM = "sum"
    LEAST = "min"
    GREATEST = "max"
    LATEST = "latest"

    def of_columns(self, one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
        return _IN_SQL[self](one, other)

    def of_rows(self, column: Any) -> ColumnElement[Any]:
        """The aggregate of the column, under its name."""
        if self is Combination.SUM:
            # PostgreSQL's sum of big integers is numeric.
            return cast(func.sum(column), column.type).label(column.name)
        aggregate: ColumnElement[Any] = getattr(func, self.value)(column, type_=column.type)
        return aggregate.label(column.name)

    def differs(self, column: ColumnElement[Any], side: ColumnElement[int]) -> ColumnElement[bool]:
        """Whether rows of side 1 combine to another value than those of side -1, where sums are negated."""
        if self is Combination.SUM:
            return func.sum(column) != 0
        of_side = (getattr(func, self.value)(case((side == number, column))) for number in (1, -1))
        kept, counted = of_side
        return kept.is_distinct_from(counted)  # type: ignore[no-any-return]


_IN_PYTHON: Mapping[Combination, Callable[[Any, Any], Any]] = {
    Combination.SUM: add,
    Combination.LEAST: min,
    Combination.GREATEST: max,
    Combination.LATEST: lambda _, new: new,
}
_IN_SQL: Mapping[Combination, Callable[[ColumnElement[Any], ColumnElement[Any]], ColumnElement[Any]]] = {
    Combination.SUM: add,
    Combination.LEAST: least,
    Combination.GREATEST: greatest,
    Combination.LATEST: lambda _, new: new,
}
# By column; what is not named adds up.
Combinations = Mapping[str, Combination]
CombineRows = Callable[[Row, Row], Iterable[Any]]


class Verification(NamedTuple):
    """How many rows are kept, and how many of them differ from what they are counted from."""

    rows: int
    differences: int


class Book(Protocol):
    """What is kept of a ledger. `add` and `rebuild` need the workspace's lock, `compare` a snapshot."""

    async def add(self, connection: Connection, workspace_id: UUID, deltas: Sequence[Values]) -> None:
        """Add deltas of the workspace."""

    async def compare(self, connection: Connection, ledger: "Ledger", workspace_id: UUID) -> Verification:
        """Compare what is kept, with the deltas that wait, with a recount."""

    async def rebuild(self, connection: Connection, ledger: "Ledger", workspace_id: UUID) -> int:
        """Count anew; returns the number of rows. No deltas wait any more."""


@dataclass(frozen=True, eq=False)
class Ledger:
    """A kind of count: the table in which changes wait, what they are counted from, and what is kept.

    `recount` makes rows like those of the deltas from what is counted. On SQLite, which has one writer, a
    ledger `at_once` has no deltas: changes go into its books in their own transaction.
    """

    deltas: Table
    recount: Callable[[Workspaces], FromClause]
    books: tuple[Book, ...]
    combinations: Combinations = field(default_factory=dict)
    at_once: bool = False

    @cached_property
    def keys(self) -> list[str]:
        """The columns of a delta's key without its `id`, which is the transaction's."""
        return [column.name for column in self.deltas.primary_key.columns if column.name != "id"]

    @cached_property
    def values(self) -> list[str]:
        """The other columns."""
        return [column.name for column in self.deltas.c if not column.primary_key]

    @cached_property
    def combine(self) -> CombineRows:
        return rows_combined(self.values, self.combinations)

    def combination(self, name: str) -> Combination:
        return self.combinations.get(name, Combination.SUM)

    def waiting(self, workspaces: Workspaces) -> FromClause:
        """The deltas of some workspaces."""
        return select(self.deltas).where(workspaces(self.deltas.c.workspace_id)).subquery()


class Together:
    """Rows by key, of which those with the same key become one."""

    def __init__(self, combine: CombineRows) -> None:
        self.rows: dict[Key, Row] = {}
        self._combine = combine

    def add(self, key: Key, values: Row) -> None:
        there = self.rows.get(key)
        self.rows[key] = values if there is None else tuple(self._combine(there, values))


def rows_combined(names: Iterable[str], combinations: Combinations) -> CombineRows:
    """How two rows of these columns combine."""
    operations = [_IN_PYTHON[combinations.get(name, Combination.SUM)] for name in names]
    if set(operations) == {add}:
        return partial(map, add)
    return partial(map, lambda operation, *values: operation(*values), operations)


def of_workspace(workspace_id: UUID) -> Workspaces:
    """The condition that a column holds this workspace."""
    return lambda column: column == workspace_id
