"""The portal's file-share sessions, each with the share's name, its downloads and its payments."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Table, and_, func, select

from schema.portal import MOST_DOWNLOADS, PortalFileShareSession
from storage.connections import Connection
from storage.rows import Values, every_of, table_of, values_of
from storage.tables.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)
from storage.tables.shares import ShareRow

_downloads, _payments = table_of(FileShareDownloadRow), table_of(FileSharePaymentRow)
_refunds, _shares = table_of(FileShareRefundRow), table_of(ShareRow)

# Values by the id of their parent.
Grouped = dict[UUID, list[Values]]


async def assemble_file_share_sessions(
    connection: Connection, rows: Sequence[FileShareSessionRow]
) -> list[PortalFileShareSession]:
    """The sessions of these rows of one workspace, read with four statements for any number of rows."""
    if not rows:
        return []
    workspace_id = rows[0].workspace_id
    ids = [row.id for row in rows]
    names = await _share_names(connection, workspace_id, [row.share_id for row in rows])
    downloads = await _latest_downloads(connection, workspace_id, ids)
    payments = await _payments_of(connection, workspace_id, ids)
    return [
        PortalFileShareSession.model_validate(
            {
                **values_of(row),
                "share_name": names.get(row.share_id),
                "downloads": downloads[row.id],
                "payments": payments[row.id],
            }
        )
        for row in rows
    ]


async def _share_names(
    connection: Connection, workspace_id: UUID, ids: Sequence[UUID | None]
) -> dict[UUID | None, str]:
    named = [id for id in ids if id is not None]
    statement = select(_shares.c.id, _shares.c.name).where(_of(_shares, workspace_id, "id", named))
    return {row.id: row.name for row in await connection.execute(statement)}


async def _latest_downloads(connection: Connection, workspace_id: UUID, ids: Sequence[UUID]) -> Grouped:
    latest_first = (_downloads.c.at.desc(), _downloads.c.id.desc())
    place = func.row_number().over(partition_by=_downloads.c.file_share_session_id, order_by=latest_first)
    numbered = (
        select(_downloads, place.label("place"))
        .where(_of(_downloads, workspace_id, "file_share_session_id", ids))
        .subquery()
    )
    statement = select(numbered).where(numbered.c.place <= MOST_DOWNLOADS).order_by(numbered.c.place)
    downloads: Grouped = defaultdict(list)
    for download in await every_of(connection, FileShareDownloadRow, statement):
        downloads[download.file_share_session_id].append(values_of(download))
    return downloads


async def _payments_of(connection: Connection, workspace_id: UUID, ids: Sequence[UUID]) -> Grouped:
    own = _of(_payments, workspace_id, "file_share_session_id", ids)
    statement = select(_payments).where(own).order_by(_payments.c.at, _payments.c.id)
    rows = await every_of(connection, FileSharePaymentRow, statement)
    refunds = await _refunds_of(connection, workspace_id, [payment.id for payment in rows])
    payments: Grouped = defaultdict(list)
    for payment in rows:
        values = values_of(payment) | {"refunds": refunds[payment.id]}
        payments[payment.file_share_session_id].append(values)
    return payments


async def _refunds_of(connection: Connection, workspace_id: UUID, ids: Sequence[UUID]) -> Grouped:
    condition = _of(_refunds, workspace_id, "file_share_payment_id", ids)
    statement = select(_refunds).where(condition).order_by(_refunds.c.at, _refunds.c.id)
    refunds: Grouped = defaultdict(list)
    for refund in await every_of(connection, FileShareRefundRow, statement):
        refunds[refund.file_share_payment_id].append(values_of(refund))
    return refunds


def _of(table: Table, workspace_id: UUID, column: str, ids: Sequence[UUID]) -> Any:
    return and_(table.c.workspace_id == workspace_id, table.c[column].in_(ids))
