"""What a customer takes over with an external id: everything that was reported under it before.

Rows then say whose they are. Lists by customer, their totals, and what customers see of themselves are
therefore the same as the metrics, without looking up persons. A transaction takes a bounded number over; the
background task goes on with the others.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Table, and_, select, update
from sqlmodel import SQLModel

from storage.clock import now
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.engine.reach import in_reach
from storage.rows.row_values import changes_of
from storage.rows.rows import every_of, table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.events.events import EventRow
from storage.tables.metrics.metrics import ExternalPersonRow
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareReportRow,
    FileShareSessionRow,
)
from storage.totals.lists import count_moved, counted_columns

SECONDS_BETWEEN_CLAIMS = 5
# Sessions, with their reports, and events of one transaction: about a tenth of a second.
MOST_AT_ONCE = 1_000
_sessions, _events = table_of(FileShareSessionRow), table_of(EventRow)
_customers, _externals = table_of(CustomerRow), table_of(ExternalPersonRow)
_REPORTS: tuple[type[FileShareReportRow], ...] = (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
)


async def claim_rows(connection: Connection, customer: CustomerRow, person: int) -> bool:
    """Make rows of `person` under the customer's external id, which nobody had, the customer's.

    Returns whether there are no more of them. The row of `external_persons` is locked, so that all who have
    reported under the id have committed, and those who will know the customer.
    """
    sessions = await _claim(connection, FileShareSessionRow, customer, _of(_sessions, customer, person))
    if sessions:
        for model in _REPORTS:
            in_session = table_of(model).c.file_share_session_id.in_(sessions)
            await _claim(connection, model, customer, in_session)
    events = await _claim(connection, EventRow, customer, _of(_events, customer, person), created_at=now())
    return len(sessions) < MOST_AT_ONCE and len(events) < MOST_AT_ONCE


async def continue_claims(database: Database) -> bool:
    """Take over some of what is left of an external id. Returns whether there was any."""
    some = select(_externals.c.workspace_id, _externals.c.external_id)
    async with database.read() as connection:
        near = in_reach(connection, _externals.c.workspace_id)
        unclaimed = some.where(_externals.c.unclaimed.is_not(None), *near)
        left = (await connection.execute(unclaimed.limit(1))).all()
    for workspace_id, external_id in left:
        async with database.write() as connection:
            await _claim_more(connection, workspace_id, external_id)
    return bool(left)


async def _claim_more(connection: Connection, workspace_id: UUID, external_id: str) -> None:
    own = and_(_externals.c.workspace_id == workspace_id, _externals.c.external_id == external_id)
    holder = select(_customers).where(
        _customers.c.workspace_id == workspace_id,
        _customers.c.external_id == external_id,
        _customers.c.deleted_at.is_(None),
    )
    customers = await every_of(connection, CustomerRow, holder.with_for_update())
    person = select(_externals.c.unclaimed).where(own).with_for_update()
    unclaimed = (await connection.execute(person)).scalar_one_or_none()
    if unclaimed is None or (customers and not await claim_rows(connection, customers[0], unclaimed)):
        return
    await connection.execute(update(_externals).where(own).values(unclaimed=None))


def _of(table: Table, customer: CustomerRow, person: int) -> ColumnElement[bool]:
    """The condition for some rows of the person under the customer's external id that are nobody's."""
    some = (
        select(table.c.id)
        .where(
            table.c.workspace_id == customer.workspace_id,
            table.c.customer_id.is_(None),
            table.c.external_customer_id == customer.external_id,
            table.c.person == person,
        )
        .limit(MOST_AT_ONCE)
    )
    return table.c.id.in_(some)


async def _claim(
    connection: Connection,
    model: type[SQLModel],
    customer: CustomerRow,
    which: ColumnElement[bool],
    **moments: datetime,
) -> Sequence[UUID]:
    """The ids of the rows that were nobody's.

    For callers who keep a copy, sessions, payments and events have changed. Downloads and refunds, whose only
    moment is that of their creation, follow their sessions.
    """
    table, changes = table_of(model), changes_of(model, {"customer_id": customer.id, **moments})
    unclaimed = and_(table.c.workspace_id == customer.workspace_id, table.c.customer_id.is_(None), which)
    names = {"workspace_id", "id", *counted_columns(model)}
    columns = [column for column in table.c if column.name in names]
    rows = await connection.execute(update(table).where(unclaimed).values(changes).returning(*columns))
    claimed: list[dict[str, Any]] = [{**row, "customer_id": None} for row in rows.mappings()]
    count_moved(connection, model, claimed, changes)
    return [row["id"] for row in claimed]
