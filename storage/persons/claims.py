"""What a customer takes over with an external id: everything that was reported under it before.

Rows then say whose they are. Lists by customer, their totals, and what customers see of themselves are
therefore the same as the metrics, without looking up persons.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, select, update
from sqlmodel import SQLModel

from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.row_values import changes_of
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.events.events import EventRow
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareReportRow,
    FileShareSessionRow,
)
from storage.totals.lists import count_moved, counted_columns

_sessions, _events = table_of(FileShareSessionRow), table_of(EventRow)
_REPORTS: tuple[type[FileShareReportRow], ...] = (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
)


async def claim_rows(connection: Connection, customer: CustomerRow) -> None:
    """Make the rows under the customer's external id, which nobody had, the customer's.

    Two statements, and three more if there are sessions. The row of `external_persons` is locked, so that all
    who have reported under the id have committed, and those who will know the customer.
    """
    of_id = _sessions.c.external_customer_id == customer.external_id
    if await _claim(connection, FileShareSessionRow, customer, of_id):
        claimed = select(_sessions.c.id).where(
            _sessions.c.workspace_id == customer.workspace_id,
            _sessions.c.customer_id == customer.id,
            of_id,
        )
        for model in _REPORTS:
            in_session = table_of(model).c.file_share_session_id.in_(claimed)
            await _claim(connection, model, customer, in_session)
    of_id = _events.c.external_customer_id == customer.external_id
    await _claim(connection, EventRow, customer, of_id, created_at=now())


async def _claim(
    connection: Connection,
    model: type[SQLModel],
    customer: CustomerRow,
    which: ColumnElement[bool],
    **moments: datetime,
) -> bool:
    """Whether there were such rows.

    For callers who keep a copy, sessions, payments and events have changed. Downloads and refunds, whose only
    moment is that of their creation, follow their sessions.
    """
    table, changes = table_of(model), changes_of(model, {"customer_id": customer.id, **moments})
    unclaimed = and_(table.c.workspace_id == customer.workspace_id, table.c.customer_id.is_(None), which)
    names = {"workspace_id", *counted_columns(model)}
    columns = [column for column in table.c if column.name in names]
    rows = await connection.execute(update(table).where(unclaimed).values(changes).returning(*columns))
    claimed: list[dict[str, Any]] = [{**row, "customer_id": None} for row in rows.mappings()]
    count_moved(connection, model, claimed, changes)
    return bool(claimed)
