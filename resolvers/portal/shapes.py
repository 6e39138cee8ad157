"""The shape of the portal's file-share sessions, each with its share's name, its downloads and payments."""

from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, and_, select

from resolvers.file_shares.shapes import refunds_of
from resolvers.operations.shapes import Computed, Part, Shape
from schema.portal import (
    MOST_DOWNLOADS,
    PortalDownload,
    PortalFileShareSession,
    PortalPayment,
    PortalRefund,
)
from storage.rows import table_of
from storage.tables.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)
from storage.tables.shares import ShareRow

_downloads, _payments = table_of(FileShareDownloadRow), table_of(FileSharePaymentRow)
_refunds, _shares = table_of(FileShareRefundRow), table_of(ShareRow)


def _share_name(session: FromClause) -> ColumnElement[str]:
    same = and_(_shares.c.workspace_id == session.c.workspace_id, _shares.c.id == session.c.share_id)
    return select(_shares.c.name).where(same).correlate(session).scalar_subquery()


def _latest_downloads(session: FromClause) -> Select[Any]:
    own = and_(
        _downloads.c.workspace_id == session.c.workspace_id,
        _downloads.c.file_share_session_id == session.c.id,
    )
    latest_first = (_downloads.c.at.desc(), _downloads.c.id.desc())
    return select(_downloads).where(own).order_by(*latest_first).limit(MOST_DOWNLOADS)


def _payments_for(session: FromClause) -> Select[Any]:
    own = and_(
        _payments.c.workspace_id == session.c.workspace_id,
        _payments.c.file_share_session_id == session.c.id,
    )
    return select(_payments).where(own).order_by(_payments.c.at, _payments.c.id)


_PAYMENT = Shape(PortalPayment, _payments, {"refunds": Part(Shape(PortalRefund, _refunds), refunds_of)})
PORTAL_SESSION = Shape(
    PortalFileShareSession,
    table_of(FileShareSessionRow),
    {
        "share_name": Computed(_share_name),
        "downloads": Part(Shape(PortalDownload, _downloads), _latest_downloads),
        "payments": Part(_PAYMENT, _payments_for),
    },
)
