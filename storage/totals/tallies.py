"""Tallies: the totals that are kept, from which columns of which rows, and how two of them become one."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import add
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Table, cast, func
from sqlmodel import SQLModel

from storage.tables.base import Values, table_of
from storage.tables.event_names import EventNameDeltaRow, EventNameRow
from storage.tables.events import EventRow
from storage.tables.totals import ListTotalDeltaRow, ListTotalRow

# The key of a total within a tally, beginning with the workspace; and its columns' values.
Key = tuple[Any, ...]
Totals = tuple[Any, ...]


class Combination(Enum):
    """How the values of a column combine, named like the aggregate in SQL."""

    SUM = "sum"
    LEAST = "min"
    GREATEST = "max"

    def of_two(self, one: Any, other: Any) -> Any:
        return _IN_PYTHON[self](one, other)

    def of_columns(self, dialect: str, one: ColumnElement[Any], other: ColumnElement[Any]) -> Any:
        if self is Combination.SUM:
            return one + other
        name = self.name.lower() if dialect == "postgresql" else self.value
        return getattr(func, name)(one, other)

    def of_rows(self, column: Any) -> ColumnElement[Any]:
        """The aggregate of the column, under its name."""
        if self is Combination.SUM:
            # PostgreSQL's sum of integers is no integer.
            return cast(func.sum(column), column.type).label(column.name)
        aggregate: ColumnElement[Any] = getattr(func, self.value)(column, type_=column.type)
        return aggregate.label(column.name)


_IN_PYTHON: Mapping[Combination, Callable[[Any, Any], Any]] = {
    Combination.SUM: add,
    Combination.LEAST: min,
    Combination.GREATEST: max,
}


@dataclass(frozen=True, eq=False)
class Tally:
    """A table of totals by key, the table of what is not in it yet, and how its columns combine.

    The first column that is combined is the number of rows. `tell` gives the totals of some rows of a
    workspace's table, each counted `by` times.
    """

    totals: Table
    deltas: Table
    combinations: Mapping[str, Combination]
    tell: Callable[[str, type[SQLModel], Sequence[Values], int], Iterable[tuple[Key, Totals]]]

    @property
    def keys(self) -> list[str]:
        """The columns of a key after `workspace_id`."""
        return [column.name for column in self.totals.primary_key.columns][1:]

    @property
    def number(self) -> str:
        """The column with the number of rows."""
        return next(iter(self.combinations))


def list_name(model: type[SQLModel], columns: Sequence[str]) -> str:
    """The name of a list that is filtered by these columns."""
    return ".".join((table_of(model).name, *columns))


def write_value(dialect: str, value: Any) -> str:
    """The value as the database would write it as text; SQLite has neither UUIDs nor booleans."""
    if isinstance(value, UUID):
        return str(value) if dialect == "postgresql" else value.hex
    if isinstance(value, bool):
        return str(value).lower() if dialect == "postgresql" else str(int(value))
    return str(value)


def _list_totals(
    dialect: str, model: type[SQLModel], rows: Sequence[Values], by: int
) -> Iterator[tuple[Key, Totals]]:
    for columns in getattr(model, "counted", ()):
        name = list_name(model, columns)
        places = Counter((row["workspace_id"], *(row[column] for column in columns)) for row in rows)
        for (workspace_id, *values), many in places.items():
            if None not in values:
                value = ",".join(write_value(dialect, value) for value in values)
                yield (workspace_id, name, value), (many * by,)


def _event_names(
    _: str, model: type[SQLModel], rows: Sequence[Values], by: int
) -> Iterator[tuple[Key, Totals]]:
    if model is EventRow:
        if by < 0:
            raise ValueError("Events are never deleted: what remains would have to be looked at again.")
        for row in rows:
            moment = row["timestamp"]
            yield (row["workspace_id"], row["name"]), (by, str(row["source"]), moment, moment)


LIST_TOTALS = Tally(
    table_of(ListTotalRow), table_of(ListTotalDeltaRow), {"total": Combination.SUM}, _list_totals
)
EVENT_NAMES = Tally(
    table_of(EventNameRow),
    table_of(EventNameDeltaRow),
    {
        "occurrences": Combination.SUM,
        # A name has one source: ingestion refuses the names of the service's own events.
        "source": Combination.LEAST,
        "first_seen": Combination.LEAST,
        "last_seen": Combination.GREATEST,
    },
    _event_names,
)
TALLIES = (LIST_TOTALS, EVENT_NAMES)
