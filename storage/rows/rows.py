"""Reading rows as immutable records, which the type checker sees as the table's class, and writing rows.

A record has the fields of the class as attributes and costs no more than a tuple. Only this module fills in
defaults, folded texts and `modified_at`.
"""

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any, TypeVar, cast

from sqlalchemy import ColumnElement, Executable, delete, select, update
from sqlalchemy.exc import IntegrityError, NoResultFound
from sqlmodel import SQLModel

from storage.changes.causes import log_deleted, log_inserted, log_touched, log_updated, touched_columns
from storage.engine.connections import Connection
from storage.engine.inserts import insert_all, insert_new
from storage.rows.row_values import changes_of, differing, fields_of, with_defaults, written
from storage.rows.updates import update_one
from storage.tables import base
from storage.tables.workspaces.deletions import DeletionRow
from storage.totals.lists import count, counted_columns, measure, measured_columns

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


def record(model: type[Model], values: Values) -> Model:
    """A record of these values by column. Raises `KeyError` if one is missing."""
    return cast(Model, _record_class(model)._make(_cells_of(model)(values)))


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
def _cells_of(model: type[SQLModel]) -> Callable[[Values], tuple[Any, ...]]:
    """Takes the values of the columns, in their order."""
    return itemgetter(*fields_of(model))


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
    complete = [with_defaults(model, values) for values in rows]
    await insert_complete_rows(connection, model, complete)
    return [record(model, values) for values in complete]


async def insert_complete_rows(connection: Connection, model: type[SQLModel], rows: Sequence[Values]) -> None:
    """The same for rows with a value for every column, which are not returned."""
    if rows:
        texts = written(model, rows)
        try:
            await insert_all(connection, table_of(model), texts)
        except IntegrityError as error:
            raise Duplicate(model, rows[0]) from error
        count(connection, model, rows)
        measure(connection, model, texts)
        log_inserted(connection, model, rows)


async def insert_new_rows(connection: Connection, model: type[Model], rows: Sequence[Values]) -> list[Model]:
    """Insert, in one statement, the rows that no unique key refuses; returns these rows.

    Waits for transactions that insert the same rows. Raises `Duplicate` if a foreign key refuses a row, for
    instance because it refers to a row that was not inserted.
    """
    complete = [with_defaults(model, values) for values in rows]
    return [record(model, values) for values in await insert_new_complete_rows(connection, model, complete)]


async def insert_new_complete_rows(
    connection: Connection, model: type[SQLModel], rows: Sequence[Values]
) -> list[Values]:
    """The same for rows with a value for every column."""
    if not rows:
        return []
    texts = written(model, rows)
    try:
        inserted = await insert_new(connection, table_of(model), texts)
    except IntegrityError as error:
        raise Duplicate(model, {}) from error
    new = [values for values in rows if values["id"] in inserted]
    count(connection, model, new)
    measure(connection, model, [values for values in texts if values["id"] in inserted])
    log_inserted(connection, model, new)
    return new


async def update_rows(
    connection: Connection, model: type[SQLModel], where: ColumnElement[bool], **values: Any
) -> None:
    """Update the matching rows and set their `modified_at`.

    Raises `TypeError` for a counted or measured column: only `update_row` knows what its row was counted as.
    """
    table = table_of(model)
    if counted := counted_columns(model).union(measured_columns(model)) & values.keys():
        raise TypeError(f"Rows of {table.name} are counted by {sorted(counted)}: update them one by one.")
    statement = update(table).where(where).values(changes_of(model, values))
    columns = touched_columns(model, values)
    if not columns:
        await connection.execute(statement)
        return
    rows = await connection.execute(statement.returning(*columns))
    log_touched(connection, model, values, [dict(row) for row in rows.mappings()])


async def mark_deleted(
    connection: Connection, model: type[SQLModel], where: ColumnElement[bool], deleted_at: datetime
) -> None:
    """Set `deleted_at` of the matching rows that are not deleted yet, in one statement."""
    table = table_of(model)
    names = {"workspace_id", "id", *counted_columns(model)}
    columns = [column for column in table.c if column.name in names]
    statement = update(table).where(where, table.c.deleted_at.is_(None)).returning(*columns)
    deleted = await connection.execute(statement.values(changes_of(model, {"deleted_at": deleted_at})))
    rows = [dict(row) | {"deleted_at": None} for row in deleted.mappings()]
    count(connection, model, rows, -1)
    log_deleted(connection, model, rows)
    await _record_deletions(connection, model, rows)


async def update_row(connection: Connection, model: type[Model], row: Model, **values: Any) -> Model:
    """Update `row` and return it with its new values. Raises `Duplicate`.

    A row whose columns are counted must be locked. If no value differs from that of `row`, nothing is
    written, and the row keeps its `modified_at`.
    """
    before = values_of(row)
    values = differing(model, before, values)
    if not values:
        return row
    changes = changes_of(model, values)
    changed = {**before, **changes}
    try:
        await update_one(connection, model, before, changes)
    except IntegrityError as error:
        raise Duplicate(model, changed, key_of(model, row)) from error
    if values.get("deleted_at") is not None:
        await _record_deletions(connection, model, [before])
    if counted_columns(model) & values.keys():
        count(connection, model, [before], -1)
        count(connection, model, [changed])
    measure_change(connection, model, before, values)
    log_updated(connection, model, before, changed)
    return record(model, changed)


async def set_quietly(connection: Connection, model: type[Model], row: Model, **values: Any) -> None:
    """Write values that are no change of the row, such as a sort key: its `modified_at` stays."""
    await update_one(connection, model, values_of(row), values)


def measure_change(connection: Connection, model: type[SQLModel], before: Values, values: Values) -> None:
    """Count the bytes by which these values of a row are longer than those `before`."""
    names = [name for name in measured_columns(model) if name in values]
    if names:
        home = {"workspace_id": before["workspace_id"]}
        measure(connection, model, [home | {name: before[name] for name in names}], -1)
        measure(connection, model, [home | {name: values[name] for name in names}])


async def delete_row(connection: Connection, model: type[Model], row: Model) -> None:
    """Delete `row`, which is locked."""
    await connection.execute(delete(table_of(model)).where(key_of(model, row)))
    await _count_deleted(connection, model, [values_of(row)])


async def delete_rows(connection: Connection, model: type[Model], *where: ColumnElement[bool]) -> None:
    """Delete the matching rows in one statement."""
    table = table_of(model)
    deleted = await connection.execute(delete(table).where(*where).returning(*table.c))
    await _count_deleted(connection, model, [dict(row) for row in deleted.mappings()])


async def _count_deleted(connection: Connection, model: type[SQLModel], rows: Sequence[Values]) -> None:
    """Count rows that are no longer there."""
    count(connection, model, rows, -1)
    measure(connection, model, rows, -1)
    log_deleted(connection, model, rows)
    await _record_deletions(connection, model, rows)


async def _record_deletions(connection: Connection, model: type[SQLModel], rows: Sequence[Values]) -> None:
    """Record the deletion of these rows, if lists tell which rows of the table were deleted."""
    resource = getattr(model, "tombstone", None)
    if resource is not None:
        deletions = [{name: row[name] for name in ("workspace_id", "id")} for row in rows]
        await insert_rows(connection, DeletionRow, [{**row, "resource": resource} for row in deletions])


def key_of(model: type[SQLModel], row: SQLModel) -> ColumnElement[bool]:
    """The condition that matches `row` by its primary key."""
    first_column, *others = table_of(model).primary_key.columns
    condition: ColumnElement[bool] = first_column == getattr(row, first_column.name)
    for column in others:
        condition &= column == getattr(row, column.name)
    return condition


def new_row(model: type[Model], **values: Any) -> Model:
    """A row as it would be inserted, with defaults and folded texts filled in."""
    return record(model, with_defaults(model, values))
