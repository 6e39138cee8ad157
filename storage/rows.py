"""Writing rows: defaults, folded texts and `modified_at` are filled in here and nowhere else."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, UniqueConstraint, insert, literal, not_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import SQLModel

from storage.clock import now
from storage.dialects.upsert import upsert
from storage.emails import fold_email

Values = dict[str, Any]


class Duplicate(Exception):
    """A unique or foreign key refused `values`; `itself` finds the row that was to be changed."""

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


async def taken_fields(connection: AsyncConnection, duplicate: Duplicate) -> list[str]:
    """The fields of the refused row whose unique rule another row stands in the way of."""
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
    """The columns of the unique index or constraint that `column` is the point of."""
    indexes = [list(index.columns.keys()) for index in table.indexes if index.unique]
    constraints = [
        list(item.columns.keys()) for item in table.constraints if isinstance(item, UniqueConstraint)
    ]
    return next(names for names in (*indexes, *constraints) if column in names)


def table_of(model: type[SQLModel]) -> Table:
    return model.__table__  # type: ignore[attr-defined, no-any-return]


async def insert_row(connection: AsyncConnection, model: type[SQLModel], **values: Any) -> Values:
    """Insert one row and give all its values, defaults filled in. Raises `Duplicate`."""
    (row,) = await insert_rows(connection, model, [values])
    return row


async def insert_rows(
    connection: AsyncConnection, model: type[SQLModel], rows: Sequence[Values]
) -> list[Values]:
    """Insert rows of one table in one statement. Raises `Duplicate` with the only or the first row."""
    complete = [_with_defaults(model, values) for values in rows]
    if complete:
        try:
            await connection.execute(insert(table_of(model)), complete)
        except IntegrityError as error:
            raise Duplicate(model, complete[0]) from error
    return complete


async def insert_new_rows(
    connection: AsyncConnection, model: type[SQLModel], rows: Sequence[Values]
) -> list[Values]:
    """Insert the rows that no unique rule refuses, in one statement, and give those.

    Waits for others who are inserting the same. Raises `Duplicate` where a foreign key refuses a row, as
    when it refers to one that lost to another writer's.
    """
    complete = [_with_defaults(model, values) for values in rows]
    if not complete:
        return []
    table = table_of(model)
    statement = upsert(connection.dialect.name, table).on_conflict_do_nothing().returning(table.c.id)
    try:
        inserted = set((await connection.execute(statement, complete)).scalars())
    except IntegrityError as error:
        raise Duplicate(model, {}) from error
    return [row for row in complete if row["id"] in inserted]


async def update_rows(
    connection: AsyncConnection, model: type[SQLModel], where: ColumnElement[bool], **values: Any
) -> None:
    """Change the rows that match and set their `modified_at`."""
    table = table_of(model)
    if "modified_at" in table.columns:
        values.setdefault("modified_at", now())
    await connection.execute(update(table).where(where).values(_fold(model, values)))


async def update_row(
    connection: AsyncConnection, model: type[SQLModel], row: Mapping[str, Any], **values: Any
) -> Values:
    """Change `row` and give all its values as they are afterwards. Raises `Duplicate`.

    With nothing to change the row keeps its `modified_at`.
    """
    if not values:
        return dict(row)
    if "modified_at" in table_of(model).columns:
        values.setdefault("modified_at", now())
    changed = {**row, **_fold(model, values)}
    try:
        await update_rows(connection, model, key_of(model, row), **values)
    except IntegrityError as error:
        raise Duplicate(model, changed, key_of(model, row)) from error
    return changed


def key_of(model: type[SQLModel], row: Mapping[str, Any]) -> ColumnElement[bool]:
    """The condition that finds `row` by its primary key."""
    table = table_of(model)
    first, *others = (column == row[column.name] for column in table.primary_key.columns)
    condition: ColumnElement[bool] = first
    for other in others:
        condition &= other
    return condition


def _with_defaults(model: type[SQLModel], values: Values) -> Values:
    unknown = values.keys() - table_of(model).columns.keys()
    if unknown:
        raise TypeError(f"{table_of(model).name} has no columns {sorted(unknown)}.")
    complete = _fold(model, values)
    for name, field in _fields(model).items():
        if name not in complete:
            complete[name] = field.get_default(call_default_factory=True)
    return complete


@cache
def _fields(model: type[SQLModel]) -> dict[str, Any]:
    """Column name to the model's field, which knows the default."""
    by_column: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        column = getattr(field, "sa_column", None)
        by_column[column.name if isinstance(column, Column) else name] = field
    return by_column


def _fold(model: type[SQLModel], values: Values) -> Values:
    folded = dict(values)
    for target, source in getattr(model, "folded", {}).items():
        if source in values:
            fold = fold_email if source == "email" else str.casefold
            folded[target] = None if values[source] is None else fold(values[source])
    return folded
