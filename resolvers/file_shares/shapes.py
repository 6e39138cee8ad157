"""The shapes of file-share sessions, and of what happened in them."""

from typing import Any

from sqlalchemy import FromClause, Select, and_, select

from resolvers.operations.shapes.shapes import Part, Shape
from schema.file_shares.downloads import FileShareDownload
from schema.file_shares.payments import FileSharePayment, FileShareRefund
from schema.file_shares.sessions import FileShareSession
from storage.rows.rows import table_of
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)

_payments, _refunds = table_of(FileSharePaymentRow), table_of(FileShareRefundRow)


def refunds_of(payment: FromClause) -> Select[Any]:
    """The refunds of a payment, earliest first."""
    own = and_(
        _refunds.c.workspace_id == payment.c.workspace_id, _refunds.c.file_share_payment_id == payment.c.id
    )
    return select(_refunds).where(own).order_by(_refunds.c.at, _refunds.c.id)


DOWNLOAD = Shape(FileShareDownload, table_of(FileShareDownloadRow))
REFUND = Shape(FileShareRefund, _refunds)
SESSION = Shape(FileShareSession, table_of(FileShareSessionRow))
PAYMENT = Shape(FileSharePayment, _payments, {"refunds": Part(REFUND, refunds_of)})
