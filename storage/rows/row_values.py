"""The values of rows as they are written: defaults, folded texts, `modified_at`, and what differs."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Column
from sqlmodel import SQLModel

from storage.clock import now
from storage.emails import fold_email
from storage.tables.base import Values, table_of
from storage.totals.lists import measured_columns
from storage.types import JsonColumn, JsonText, write_json


@cache
def fields_of(model: type[SQLModel]) -> dict[str, str]:
    """Each column's field, in the order of the columns: for instance `custom_metadata` for `metadata`."""
    by_column = {}
    for name, field in model.model_fields.items():
        column = getattr(field, "sa_column", None)
        by_column[column.name if isinstance(column, Column) else name] = name
    return {column.name: by_column[column.name] for column in table_of(model).columns}


def with_defaults(model: type[SQLModel], values: Values) -> Values:
    """The values of a new row. Raises `TypeError` for columns that the table does not have."""
    defaults, factories = _defaults(model)
    complete = defaults | _fold(model, values)
    if len(complete) > len(defaults):
        unknown = sorted(values.keys() - defaults.keys())
        raise TypeError(f"{table_of(model).name} has no columns {unknown}.")
    for name, make in factories:
        if name not in values:
            complete[name] = make()
    return complete


def written(model: type[SQLModel], rows: Sequence[Values]) -> Sequence[Values]:
    """The rows with the texts of the JSON values that are measured, so that each is written once."""
    columns = table_of(model).columns
    names = [name for name in measured_columns(model) if isinstance(columns[name].type, JsonColumn)]
    if all(isinstance(row[name], JsonText) for name in names for row in rows):
        return rows
    return [row | {name: write_json(row[name]) for name in names} for row in rows]


def changes_of(model: type[SQLModel], values: Values) -> Values:
    """The values to write: folded texts too, and the moment of the change."""
    moment, columns = now(), table_of(model).columns
    moments = {name: moment for name in ("modified_at", "changed_at") if name in columns}
    return _fold(model, moments | values)


def differing(model: type[SQLModel], before: Values, values: Values) -> Values:
    """The values that change the row; `modified_at` is kept as it was sent if there are others."""
    columns = table_of(model).columns
    others = {
        name: value for name, value in values.items() if not _is_same(columns[name], before[name], value)
    }
    sent = {name: value for name, value in values.items() if name == "modified_at"}
    return others | sent if others else {}


def _is_same(column: Column[Any], before: Any, value: Any) -> bool:
    if isinstance(column.type, JsonColumn):
        return json.dumps(before) == json.dumps(value)  # In Python, 1 equals true.
    return bool(before == value)


@cache
def _defaults(model: type[SQLModel]) -> tuple[Values, list[tuple[str, Callable[[], Any]]]]:
    """The default of each column, and the functions that make those that differ from row to row."""
    fields = {column: model.model_fields[name] for column, name in fields_of(model).items()}
    factories: list[Any] = [
        (column, field.default_factory) for column, field in fields.items() if field.default_factory
    ]
    return {column: field.default for column, field in fields.items()}, factories


def _fold(model: type[SQLModel], values: Values) -> Values:
    sources = getattr(model, "folded", None)
    if not sources:
        return values
    folded = dict(values)
    for target, source in sources.items():
        if source in values:
            fold = fold_email if source == "email" else str.casefold
            folded[target] = None if values[source] is None else fold(values[source])
    return folded
