"""Claims: several processes share rows that wait for work, each a few at a time.

A claimed row is due again after its lease, in case the process that claimed it dies. It counts an attempt,
and only the process with the latest one may record what became of it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from sqlalchemy import ColumnElement, literal, select, true, update
from sqlmodel import SQLModel

from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.rows import every_of, key_of, table_of

Model = TypeVar("Model", bound=SQLModel)


async def is_due(connection: Connection, model: type[SQLModel], *where: ColumnElement[bool]) -> bool:
    """Whether a row can be claimed; unlike the claim, this never waits for a lock."""
    due = select(literal(1)).where(table_of(model).c.due_at <= now(), *where).limit(1)
    return (await connection.execute(due)).first() is not None


async def claim(
    connection: Connection,
    model: type[Model],
    *where: ColumnElement[bool],
    within: ColumnElement[bool] | None = None,
    order: Sequence[ColumnElement[object]],
    lease: timedelta,
    most: int = 1,
) -> list[Model]:
    """The first rows that are due, in any order. Skips rows that other processes are claiming.

    `within` is the condition on rows of one workspace, which both parts of the statement name.
    """
    table, moment = table_of(model), now()
    home = true() if within is None else within
    due = (
        select(table.c.id)
        .where(home, table.c.due_at <= moment, *where)
        .order_by(*order)
        .limit(most)
        .with_for_update(skip_locked=True)
        # PostgreSQL runs it once; as a subquery of IN it may run, and lock, more often.
        .cte("due")
    )
    claiming = (
        update(table)
        .where(home, table.c.id.in_(select(due.c.id)))
        .values(due_at=moment + lease, attempts=table.c.attempts + 1)
        .returning(table)
    )
    return await every_of(connection, model, claiming)


def as_claimed(row: SQLModel) -> ColumnElement[bool]:
    """The condition on the row that was claimed, unless another process has claimed it meanwhile."""
    model: type[SQLModel] = row.model  # type: ignore[attr-defined]
    attempts: int = row.attempts  # type: ignore[attr-defined]
    return key_of(model, row) & (table_of(model).c.attempts == attempts)


async def postpone(connection: Connection, claimed: SQLModel, due_at: datetime) -> None:
    """Make the row due again at `due_at`, unless another process has claimed it meanwhile."""
    table = table_of(claimed.model)  # type: ignore[attr-defined]
    await connection.execute(update(table).where(as_claimed(claimed)).values(due_at=due_at))
