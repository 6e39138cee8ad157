"""The shape of the portal's file-share sessions, with their share's texts, images and files."""

from typing import Any

from sqlalchemy import Column, ColumnElement, FromClause, Select, Table, and_, func, or_, select

from resolvers.file_shares.shapes import refunds_of
from resolvers.files.shapes import FILE
from resolvers.operations.shapes.shapes import Computed, Derived, Part, Shape
from schema.portal.files import PortalFile
from schema.portal.portal import (
    MOST_DOWNLOADS,
    PortalDownload,
    PortalFileShareSession,
    PortalPayment,
    PortalRefund,
)
from schema.values.prose import write_size
from storage.enums import FileShareSessionStatus
from storage.rows.rows import table_of
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)
from storage.tables.shares.files import FileRow
from storage.tables.shares.shares import ShareDownloadRow, ShareMediaRow, ShareRow

_downloads, _payments = table_of(FileShareDownloadRow), table_of(FileSharePaymentRow)
_refunds, _shares, _files = table_of(FileShareRefundRow), table_of(ShareRow), table_of(FileRow)
_medias, _listed = table_of(ShareMediaRow), table_of(ShareDownloadRow)


def is_paid(session: FromClause) -> ColumnElement[bool]:
    """Whether the session is free, or has a payment that was not refunded in full."""
    kept = or_(_payments.c.amount == 0, _payments.c.refunded_amount < _payments.c.amount)
    payment = select(_payments.c.id).where(_of(_payments, session), kept).correlate(session)
    return or_(func.coalesce(session.c.price_amount, 0) == 0, payment.exists())


def can_download(session: FromClause) -> ColumnElement[bool]:
    return and_(session.c.status != FileShareSessionStatus.EXPIRED.value, is_paid(session))


def files_of(session: FromClause) -> Select[Any]:
    """The files that the session's share lists for download, in order."""
    return _listed_files(_listed, session)


def _medias_of(session: FromClause) -> Select[Any]:
    return _listed_files(_medias, session)


def _listed_files(listed: Table, session: FromClause) -> Select[Any]:
    same = and_(_files.c.workspace_id == listed.c.workspace_id, _files.c.id == listed.c.file_id)
    own = and_(listed.c.workspace_id == session.c.workspace_id, listed.c.share_id == session.c.share_id)
    return select(_files).join_from(listed, _files, same).where(own).order_by(listed.c.position)


def _of_share(column: Column[Any]) -> Computed:
    """A column of the session's share."""

    def value(session: FromClause) -> ColumnElement[Any]:
        same = and_(_shares.c.workspace_id == session.c.workspace_id, _shares.c.id == session.c.share_id)
        return select(column).where(same).correlate(session).scalar_subquery()

    return Computed(value)


def _of(table: Table, session: FromClause) -> ColumnElement[bool]:
    """The condition on rows of what happened in the session."""
    same = table.c.file_share_session_id == session.c.id
    return and_(table.c.workspace_id == session.c.workspace_id, same)


def _latest_downloads(session: FromClause) -> Select[Any]:
    latest_first = (_downloads.c.at.desc(), _downloads.c.id.desc())
    return select(_downloads).where(_of(_downloads, session)).order_by(*latest_first).limit(MOST_DOWNLOADS)


def _payments_for(session: FromClause) -> Select[Any]:
    return select(_payments).where(_of(_payments, session)).order_by(_payments.c.at, _payments.c.id)


_PAYMENT = Shape(PortalPayment, _payments, {"refunds": Part(Shape(PortalRefund, _refunds), refunds_of)})
_FILE = Shape(PortalFile, _files, {"size_readable": Derived(write_size, (_files.c.size,))})
PORTAL_SESSION = Shape(
    PortalFileShareSession,
    table_of(FileShareSessionRow),
    {
        "share_name": _of_share(_shares.c.name),
        "share_description": _of_share(_shares.c.description),
        "share_medias": Part(FILE, _medias_of),
        "can_download": Computed(can_download),
        "files": Part(_FILE, files_of),
        "downloads": Part(Shape(PortalDownload, _downloads), _latest_downloads),
        "payments": Part(_PAYMENT, _payments_for),
    },
)
