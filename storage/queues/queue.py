"""Queues: several processes share rows that wait for work, each a few at a time.

A claimed row is due again after its lease, in case the process that claimed it dies. It counts an attempt,
and only the process with the latest one may record what became of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from sqlalchemy import ColumnElement, Table, literal, select, true, update
from sqlmodel import SQLModel

from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.rows import every_of, key_of, table_of

Model = TypeVar("Model", bound=SQLModel)


@dataclass(frozen=True)
class Queue(Generic[Model]):
    """A kind of work, of which each row of a table, with `due_at` and `attempts`, is a piece.

    `order` says what is done first. `lease` is longer than a piece takes, so that no process claims one that
    another is doing. `is_waiting` tells pieces from those that are done, in a table that keeps these too.
    """

    model: type[Model]
    order: Sequence[ColumnElement[object]]
    lease: timedelta
    is_waiting: ColumnElement[bool] = field(default_factory=true)

    @property
    def table(self) -> Table:
        return table_of(self.model)

    async def has_work(self, connection: Connection, *where: ColumnElement[bool]) -> bool:
        """Whether a row can be claimed; unlike the claim, this never waits for a lock."""
        due = select(literal(1)).where(*self._due(*where)).limit(1)
        return (await connection.execute(due)).first() is not None

    async def claim(
        self,
        connection: Connection,
        *where: ColumnElement[bool],
        within: ColumnElement[bool] | None = None,
        most: int = 1,
    ) -> list[Model]:
        """The first rows that are due, in any order. Skips rows that other processes are claiming.

        `within` is the condition on rows of one workspace, which both parts of the statement name.
        """
        table, home = self.table, true() if within is None else within
        due = (
            select(table.c.id)
            .where(home, *self._due(*where))
            .order_by(*self.order)
            .limit(most)
            .with_for_update(skip_locked=True)
            # PostgreSQL runs it once; as a subquery of IN it may run, and lock, more often.
            .cte("due")
        )
        claiming = (
            update(table)
            .where(home, table.c.id.in_(select(due.c.id)))
            .values(due_at=now() + self.lease, attempts=table.c.attempts + 1)
            .returning(table)
        )
        return await every_of(connection, self.model, claiming)

    def is_claimed(self, row: Model) -> ColumnElement[bool]:
        """The condition on the row that was claimed, unless another process has claimed it meanwhile."""
        attempts: int = row.attempts  # type: ignore[attr-defined]
        return key_of(self.model, row) & (self.table.c.attempts == attempts)

    async def postpone(self, connection: Connection, claimed: Model, due_at: datetime) -> None:
        """Make the row due again at `due_at`, unless another process has claimed it meanwhile."""
        await connection.execute(update(self.table).where(self.is_claimed(claimed)).values(due_at=due_at))

    def _due(self, *where: ColumnElement[bool]) -> Sequence[ColumnElement[bool]]:
        return self.table.c.due_at <= now(), self.is_waiting, *where
