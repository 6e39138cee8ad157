"""Reading rows as immutable records, which the type checker sees as the table's class, and writing rows.

A record has the fields of the class as attributes and costs no more than a tuple. Only this module fills in
defaults, folded texts and `modified_at`.
"""

from collections import namedtuple
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, cast

from sqlalchemy import (
    Column,
    ColumnElement,
    Executable,
    Table,
    UniqueConstraint,
    delete,
    literal,
    not_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError, NoResultFound
from sqlmodel import SQLModel

from storage.clock import now
from storage.connections import Connection
from storage.emails import fold_email
from storage.inserts import insert_all, insert_new
from storage.tables import base
from storage.totals.changes import count, counted_columns

Model = TypeVar("Model", bound=SQLModel)
Values = base.Values
table_of = base.table_of


class Duplicate(Exception):
    """A unique or foreign key refused `values`; `itself` matches the row to be changed, if there is one."""

    def __init__(
        self,
        model: type[SQLModel],
        values: Mapping[str, Any],
        itself: ColumnElement[bool] | None = None,
    ) -> None:
        super().__init__(f"{table_of(model).name} refused a row.")
        self.model = model
        self.values = values
        self.itself = itself


async def taken_fields(connection: Connection, duplicate: Duplicate) -> list[str]:
    """The fields of the refused row whose unique values another row already has."""
    model, values, table = duplicate.model, duplicate.values, table_of(duplicate.model)
    taken = []
    for field, column in getattr(model, "unique", {}).items():
        if values.get(column) is None:
            continue
        others = [table.c[name] == values[name] for name in _unique_columns(table, column)]
        if "deleted_at" in table.columns:
            others.append(table.c.deleted_at.is_(None))
        if duplicate.itself is not None:
            others.append(not_(duplicate.itself))
        if (await connection.execute(select(literal(1)).select_from(table).where(*others))).first():
            taken.append(field)
    return taken


def _unique_columns(table: Table, column: str) -> list[str]:
    """The columns of the unique index or constraint that contains `column`."""
    indexes = [list(index.columns.keys()) for index in table.indexes if index.unique]
    constraints = [
        list(item.columns.keys()) for item in table.constraints if isinstance(item, UniqueConstraint)
    ]
    return next(names for names in (*indexes, *constraints) if column in names)


@cache
def fields_of(model: type[SQLModel]) -> dict[str, str]:
    """Each column's field, in the order of the columns: for instance `custom_metadata` for `metadata`."""
    by_column = {}
    for name, field in model.model_fields.items():
        column = getattr(field, "sa_column", None)
        by_column[column.name if isinstance(column, Column) else name] = name
    return {column.name: by_column[column.name] for column in table_of(model).columns}


def record(model: type[Model], values: Mapping[str, Any]) -> Model:
    """A record of these values by column. Raises `KeyError` if one is missing."""
    return cast(Model, _record_class(model)._make([values[column] for column in fields_of(model)]))


def read(model: type[Model], row: Sequence[Any]) -> Model:
    """A record of a row of `select(table_of(model), ...)`; columns after the table's are ignored."""
    record_class = _record_class(model)
    return cast(Model, record_class._make(row[: len(record_class._fields)]))


def changed(row: Model, **values: Any) -> Model:
    """A copy of the record with these values, by column."""
    fields = fields_of(_model_of(row))
    replaced = {fields[column]: value for column, value in values.items()}
    return row._replace(**replaced)  # type: ignore[attr-defined, no-any-return]


def values_of(row: SQLModel) -> Values:
    """The values of a record, by column."""
    return dict(zip(fields_of(_model_of(row)), cast(Sequence[Any], row), strict=True))


def _model_of(row: Model) -> type[Model]:
    return row.model  # type: ignore[attr-defined, no-any-return]


@cache
def _record_class(model: type[SQLModel]) -> Any:
    fields = namedtuple(model.__name__, fields_of(model).values())  # type: ignore[misc]
    # Rows hold secrets and customers' data, which must not appear in logs.
    hidden = {"__slots__": (), "__repr__": lambda self: f"<{model.__name__}>", "model": model}
    return type(model.__name__, (fields,), hidden)


async def first(
    connection: Connection, model: type[Model], *where: ColumnElement[bool], lock: bool = False
) -> Model | None:
    """A row that meets the conditions, or None; with `lock`, it is locked until the transaction ends."""
    statement = select(table_of(model)).where(*where)
    return await first_of(connection, model, statement.with_for_update() if lock else statement)


async def one(
    connection: Connection, model: type[Model], *where: ColumnElement[bool], lock: bool = False
) -> Model:
    """The same for a row that must exist. Raises `NoResultFound`."""
    row = await first(connection, model, *where, lock=lock)
    if row is None:
        raise NoResultFound(f"{table_of(model).name} has no such row.")
    return row


async def first_of(connection: Connection, model: type[Model], statement: Executable) -> Model | None:
    """The first row, or None, of a statement whose first columns are the table's."""
    row = (await connection.execute(statement)).first()
    return None if row is None else read(model, row)


async def every(connection: Connection, model: type[Model], *where: ColumnElement[bool]) -> list[Model]:
    """All rows that meet the conditions, in any order."""
    return await every_of(connection, model, select(table_of(model)).where(*where))


async def every_of(connection: Connection, model: type[Model], statement: Executable) -> list[Model]:
    """All rows of a statement whose first columns are the table's."""
    return [read(model, row) for row in await connection.execute(statement)]


async def insert_row(connection: Connection, model: type[Model], **values: Any) -> Model:
    """Insert one row and return it, with defaults filled in. Raises `Duplicate`."""
    (row,) = await insert_rows(connection, model, [values])
    return row


async def insert_rows(connection: Connection, model: type[Model], rows: Sequence[Values]) -> list[Model]:
    """Insert rows into one table in one statement. Raises `Duplicate` with the only, or the first, row."""
    complete = [_with_defaults(model, values) for values in rows]
    await insert_complete_rows(connection, model, complete)
    return [record(model, values) for values in complete]


async def insert_complete_rows(connection: Connection, model: type[SQLModel], rows: Sequence[Values]) -> None:
    """The same for rows with a value for every column, which are not returned."""
    if rows:
        try:
            await insert_all(connection, table_of(model), rows)
        except IntegrityError as error:
            raise Duplicate(model, rows[0]) from error
        count(connection, model, rows)


async def insert_new_rows(connection: Connection, model: type[Model], rows: Sequence[Values]) -> list[Model]:
    """Insert, in one statement, the rows that no unique key refuses; returns these rows.

    Waits for transactions that insert the same rows. Raises `Duplicate` if a foreign key refuses a row, for
    instance because it refers to a row that was not inserted.
    """
    complete = [_with_defaults(model, values) for values in rows]
    if not complete:
        return []
    try:
        inserted = await insert_new(connection, table_of(model), complete)
    except IntegrityError as error:
        raise Duplicate(model, {}) from error
    new = [values for values in complete if values["id"] in inserted]
    count(connection, model, new)
    return [record(model, values) for values in new]


async def update_rows(
    connection: Connection, model: type[SQLModel], where: ColumnElement[bool], **values: Any
) -> None:
    """Update the matching rows and set their `modified_at`.

    Raises `TypeError` for a counted column: only `update_row` knows what its row was counted as.
    """
    table = table_of(model)
    if counted := counted_columns(model) & values.keys():
        raise TypeError(f"Rows of {table.name} are counted by {sorted(counted)}: update them one by one.")
    await connection.execute(update(table).where(where).values(_changes(model, values)))


async def mark_deleted(
    connection: Connection, model: type[SQLModel], where: ColumnElement[bool], deleted_at: datetime
) -> None:
    """Set `deleted_at` of the matching rows that are not deleted yet, in one statement."""
    table = table_of(model)
    columns = [column for column in table.c if column.name in {"workspace_id", *counted_columns(model)}]
    statement = update(table).where(where, table.c.deleted_at.is_(None)).returning(*columns)
    deleted = await connection.execute(statement.values(_changes(model, {"deleted_at": deleted_at})))
    count(connection, model, [dict(row) | {"deleted_at": None} for row in deleted.mappings()], -1)


async def update_row(connection: Connection, model: type[Model], row: Model, **values: Any) -> Model:
    """Update `row` and return it with its new values. Raises `Duplicate`.

    A row whose columns are counted must be locked. Without values to change, the row keeps its `modified_at`.
    """
    if not values:
        return row
    changes = _changes(model, values)
    changed = {**values_of(row), **changes}
    try:
        await connection.execute(update(table_of(model)).where(key_of(model, row)).values(changes))
    except IntegrityError as error:
        raise Duplicate(model, changed, key_of(model, row)) from error
    if counted_columns(model) & values.keys():
        count(connection, model, [values_of(row)], -1)
        count(connection, model, [changed])
    return record(model, changed)


async def delete_row(connection: Connection, model: type[Model], row: Model) -> None:
    """Delete `row`, which is locked."""
    await connection.execute(delete(table_of(model)).where(key_of(model, row)))
    count(connection, model, [values_of(row)], -1)


def _changes(model: type[SQLModel], values: Values) -> Values:
    """The values to write: folded texts too, and the moment of the change."""
    moment = {"modified_at": now()} if "modified_at" in table_of(model).columns else {}
    return _fold(model, moment | values)


def key_of(model: type[SQLModel], row: SQLModel) -> ColumnElement[bool]:
    """The condition that matches `row` by its primary key."""
    first_column, *others = table_of(model).primary_key.columns
    condition: ColumnElement[bool] = first_column == getattr(row, first_column.name)
    for column in others:
        condition &= column == getattr(row, column.name)
    return condition


def new_row(model: type[Model], **values: Any) -> Model:
    """A row as it would be inserted, with defaults and folded texts filled in."""
    return record(model, _with_defaults(model, values))


def _with_defaults(model: type[SQLModel], values: Values) -> Values:
    unknown = values.keys() - table_of(model).columns.keys()
    if unknown:
        raise TypeError(f"{table_of(model).name} has no columns {sorted(unknown)}.")
    complete = _fold(model, values)
    for name, field in _fields(model).items():
        if name not in complete:
            complete[name] = field.default_factory() if field.default_factory else field.default
    return complete


@cache
def _fields(model: type[SQLModel]) -> dict[str, Any]:
    """The model's field, which has the default, by column."""
    return {column: model.model_fields[name] for column, name in fields_of(model).items()}


def _fold(model: type[SQLModel], values: Values) -> Values:
    folded = dict(values)
    for target, source in getattr(model, "folded", {}).items():
        if source in values:
            fold = fold_email if source == "email" else str.casefold
            folded[target] = None if values[source] is None else fold(values[source])
    return folded
