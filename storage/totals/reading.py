"""Reading totals: the kept ones plus the deltas that wait, so that a read never lags behind a commit."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    ScalarSelect,
    Select,
    Table,
    Text,
    cast,
    func,
    literal,
    select,
    union_all,
)
from sqlmodel import SQLModel

from storage.ledger.books import Workspaces
from storage.tables.base import table_of
from storage.tables.events.event_counts import EventDeltaRow
from storage.tables.events.event_names import EventNameRow
from storage.tables.events.events import EventRow
from storage.tables.workspaces.totals import ListTotalDeltaRow, ListTotalRow
from storage.totals.events import EVENT_NAMES, EVENTS
from storage.totals.lists import joined, list_name
from storage.totals.periods import numbers_in

Condition = Callable[[Table], ColumnElement[bool]]


def total_of(
    model: type[SQLModel], filters: Mapping[str, Any], workspaces: Workspaces
) -> ScalarSelect[int] | None:
    """The number of rows that are not deleted and have these values, as a subquery of one number.

    None if no total is kept for these columns together: see `counted` of the table's class. A filter is a
    value or a parameter, a list of allowed ones, or the `Span` of an event's timestamp.
    """
    if model is EventRow and filters.keys() in ({"name"}, {"timestamp"}, {"name", "timestamp"}):
        return _number_of_events(filters, workspaces)
    columns = next((group for group in getattr(model, "counted", ()) if set(group) == filters.keys()), None)
    if columns is None:
        return None
    name = list_name(model, columns)
    values = [
        joined([_parameter(model, column, value) for column, value in zip(columns, row, strict=True)])
        for row in product(*(_listed(filters[column]) for column in columns))
    ]
    listed = (ListTotalRow, ListTotalDeltaRow)
    return _sum(
        _numbers(
            listed, "total", workspaces, lambda table: (table.c.list == name) & table.c.value.in_(values)
        )
    )


def event_names(workspaces: Workspaces) -> Select[Any]:
    """The names of the events of some workspaces together, with the other columns of `event_names`."""
    return EVENT_NAMES.kept(EVENTS, workspaces, ["name"])


def _number_of_events(filters: Mapping[str, Any], workspaces: Workspaces) -> ScalarSelect[int]:
    names = None
    if "name" in filters:
        names = [_parameter(EventRow, "name", value) for value in _listed(filters["name"])]
    if "timestamp" in filters:
        return _sum(numbers_in(filters["timestamp"], names, workspaces))
    named = (EventNameRow, EventDeltaRow)
    return _sum(_numbers(named, "occurrences", workspaces, lambda table: table.c.name.in_(names or [])))


def _numbers(
    models: Sequence[type[SQLModel]], number: str, workspaces: Workspaces, condition: Condition
) -> list[Select[Any]]:
    """Queries of the numbers of rows in the totals and in the deltas that meet the condition."""
    return [
        select(table.c.workspace_id, table.c[number]).where(
            workspaces(table.c.workspace_id), condition(table)
        )
        for table in map(table_of, models)
    ]


def _sum(numbers: Sequence[Select[Any]]) -> ScalarSelect[int]:
    """The sum of numbers behind their workspaces, by which a cluster sees that each shard can add up its own.

    It would ask for one query after the other else, and a delta could be added to its total in between.
    """
    _, number = union_all(*numbers).subquery().c
    return select(cast(func.coalesce(func.sum(number), 0), BigInteger)).scalar_subquery()


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _parameter(model: type[SQLModel], column: str, value: Any) -> ColumnElement[str]:
    type = table_of(model).c[column].type
    given = value if isinstance(value, ColumnElement) else literal(getattr(value, "value", value), type)
    return cast(given, Text)
