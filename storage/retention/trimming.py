"""Deletes what a workspace has beyond a number of rows: the oldest of what nobody makes room for."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Column, ColumnElement, Table, func, select, true
from sqlmodel import SQLModel

from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.enums import DeliveryStatus
from storage.rows.rows import delete_rows, table_of
from storage.tables.changes import ChangeRow
from storage.tables.webhooks.deliveries import WebhookAttemptRow, WebhookDeliveryRow

ROWS_AT_A_TIME, PORTIONS_AT_A_TIME = 1_000, 100


@dataclass(frozen=True)
class Bound:
    """A workspace keeps the `most` newest rows of `model` by the column `order`, and those not in `having`.

    `rows` and `why` are for docs/retention.md.
    """

    model: type[SQLModel]
    order: str
    most: int
    rows: str
    why: str
    having: tuple[str, str] | None = None

    @property
    def table(self) -> Table:
        return table_of(self.model)

    @property
    def place(self) -> Column[object]:
        return self.table.c[self.order]

    def among(self) -> ColumnElement[bool]:
        """The condition on the rows that may be deleted."""
        if self.having is None:
            return true()
        name, kept = self.having
        return self.table.c[name] != kept


BOUNDS = (
    Bound(
        ChangeRow,
        "position",
        1_000_000,
        "changes",
        "A reader that is further behind reads the lists again, as after 30 days.",
    ),
    Bound(
        WebhookDeliveryRow,
        "created_at",
        100_000,
        "webhook deliveries",
        "Pending ones stay: those of an endpoint have a bound of their own.",
        ("status", DeliveryStatus.PENDING.value),
    ),
    Bound(
        WebhookAttemptRow,
        "created_at",
        100_000,
        "attempts of webhook deliveries",
        "Each keeps up to 16 KiB of both sides.",
    ),
)


async def trim(database: Database, bounds: Sequence[Bound] = BOUNDS) -> bool:
    """Delete rows of each workspace and bound; True if more remain.

    Any number of processes may do so at once: each leaves out the rows that another one has locked.
    """
    more = False
    for bound in bounds:
        async with database.read() as connection:
            workspace_ids = await _beyond(connection, bound)
        for workspace_id in workspace_ids:
            more |= await _trim(database, bound, workspace_id)
    return more


async def _beyond(connection: Connection, bound: Bound) -> list[UUID]:
    home = bound.table.c.workspace_id
    many = select(home).where(bound.among()).group_by(home).having(func.count() > bound.most)
    return list((await connection.execute(many)).scalars())


async def _trim(database: Database, bound: Bound, workspace_id: UUID) -> bool:
    """The same for one workspace. Rows of the same moment as the oldest that stays stay too."""
    table, own = bound.table, bound.table.c.workspace_id == workspace_id
    async with database.read() as connection:
        newest = select(bound.place).where(own, bound.place.is_not(None))
        newest = newest.order_by(bound.place.desc()).offset(bound.most - 1).limit(1)
        oldest_kept = (await connection.execute(newest)).scalar()
    if oldest_kept is None:
        return False
    some = select(table.c.id).where(own, bound.place < oldest_kept, bound.among()).order_by(bound.place)
    for _ in range(PORTIONS_AT_A_TIME):
        async with database.write() as connection:
            portion = some.limit(ROWS_AT_A_TIME).with_for_update(skip_locked=True)
            ids = (await connection.execute(portion)).scalars().all()
            if ids:
                await delete_rows(connection, bound.model, own, table.c.id.in_(ids))
        if len(ids) < ROWS_AT_A_TIME:
            return False
    return True
