"""Tallies: which totals are kept, which rows and columns they count, and how their values combine."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import add
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, FromClause, Select, Table, cast, func, select
from sqlmodel import SQLModel

from storage.dialects.extremes import greatest, least
from storage.dialects.periods import hour_of
from storage.tables.base import Values, table_of
from storage.tables.events.event_counts import EventCountRow, EventDeltaRow
from storage.tables.events.event_names import EventNameRow
from storage.tables.events.events import EventRow
from storage.tables.workspaces.totals import ListTotalDeltaRow, ListTotalRow
from storage.totals.periods import in_all_periods, values_in_all_periods

# The key of a delta, which begins with the workspace, and the values of its other columns.
Key = tuple[Any, ...]
Totals = tuple[Any, ...]


class Combination(Enum):
    """How the values of a column combine, named like the aggregate in SQL."""

    SUM = "sum"
    LEAST = "min"
    GREATEST = "max"

    def of_two(self, one: Any, other: Any) -> Any:
        return _IN_PYTHON[self](one, other)

    def of_columns(self, one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
        return _IN_SQL[self](one, other)

    def of_rows(self, column: Any) -> ColumnElement[Any]:
        """The aggregate of the column, under its name."""
        if self is Combination.SUM:
            # PostgreSQL's sum of big integers is numeric.
            return cast(func.sum(column), column.type).label(column.name)
        aggregate: ColumnElement[Any] = getattr(func, self.value)(column, type_=column.type)
        return aggregate.label(column.name)


_IN_PYTHON: Mapping[Combination, Callable[[Any, Any], Any]] = {
    Combination.SUM: add,
    Combination.LEAST: min,
    Combination.GREATEST: max,
}
_IN_SQL: Mapping[Combination, Callable[[ColumnElement[Any], ColumnElement[Any]], ColumnElement[Any]]] = {
    Combination.SUM: add,
    Combination.LEAST: least,
    Combination.GREATEST: greatest,
}


@dataclass(frozen=True, eq=False)
class Deltas:
    """A table of changes that the totals do not hold yet, and how its columns combine.

    The first column that is combined is the number of rows. `tell` computes the deltas of rows of a model,
    each counted `by` times, without the transaction's id.
    """

    table: Table
    combinations: Mapping[str, Combination]
    tell: Callable[[str, type[SQLModel], Sequence[Values], int], Iterable[tuple[Key, Totals]]]

    @property
    def keys(self) -> list[str]:
        """The columns of a key between `workspace_id` and the transaction's `id`."""
        return [column.name for column in self.table.primary_key.columns][1:-1]

    @property
    def columns(self) -> list[str]:
        return [*self.keys, *self.combinations]


@dataclass(frozen=True, eq=False)
class Tally:
    """A table of totals by key, and the deltas that are added to it.

    `spread` turns rows of deltas into rows with the columns of the totals, without combining them;
    `spread_values` does the same in Python.
    """

    totals: Table
    deltas: Deltas
    spread: Callable[[FromClause], FromClause] = lambda deltas: deltas
    spread_values: Callable[[Iterable[Values]], Iterable[Values]] = lambda deltas: deltas

    @property
    def keys(self) -> list[str]:
        """The columns of a key after `workspace_id`."""
        return [column.name for column in self.totals.primary_key.columns][1:]

    @property
    def combinations(self) -> Mapping[str, Combination]:
        combinations = self.deltas.combinations
        return {name: combinations[name] for name in combinations if name in self.totals.c}

    @property
    def number(self) -> str:
        """The column with the number of rows."""
        return next(iter(self.combinations))

    @property
    def columns(self) -> list[str]:
        return ["workspace_id", *self.keys, *self.combinations]

    def combined(self, rows: FromClause, keys: Sequence[str] | None = None) -> Select[Any]:
        """Rows with the columns of the totals, combined by their keys, or by some of these."""
        by = [rows.c[name] for name in (["workspace_id", *self.keys] if keys is None else keys)]
        combined = [combination.of_rows(rows.c[name]) for name, combination in self.combinations.items()]
        return select(*by, *combined).group_by(*by)


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


def _events(_: str, model: type[SQLModel], rows: Sequence[Values], by: int) -> Iterator[tuple[Key, Totals]]:
    if model is EventRow:
        if by < 0:
            raise ValueError("Events are never deleted: first and last ones would have to be found again.")
        for row in rows:
            moment = row["timestamp"]
            key = row["workspace_id"], row["name"], hour_of(moment)
            yield key, (by, str(row["source"]), moment, moment)


LIST_DELTAS = Deltas(table_of(ListTotalDeltaRow), {"total": Combination.SUM}, _list_totals)
EVENT_DELTAS = Deltas(
    table_of(EventDeltaRow),
    {
        "occurrences": Combination.SUM,
        # A name has one source: ingestion refuses the names of the service's own events.
        "source": Combination.LEAST,
        "first_seen": Combination.LEAST,
        "last_seen": Combination.GREATEST,
    },
    _events,
)
ALL_DELTAS = (LIST_DELTAS, EVENT_DELTAS)

LIST_TOTALS = Tally(table_of(ListTotalRow), LIST_DELTAS)
EVENT_NAMES = Tally(table_of(EventNameRow), EVENT_DELTAS)
EVENT_COUNTS = Tally(table_of(EventCountRow), EVENT_DELTAS, in_all_periods, values_in_all_periods)
TALLIES = (LIST_TOTALS, EVENT_NAMES, EVENT_COUNTS)
