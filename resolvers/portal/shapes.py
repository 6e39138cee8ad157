"""The shape of the portal's file-share sessions, with their share's texts, images and files."""

from typing import Any

from sqlalchemy import Column, ColumnElement, FromClause, Select, Table, and_, case, func, or_, select

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


def left_to_pay(session: FromClause) -> ColumnElement[int]:
    """What of the session's price was not paid yet, or was refunded; 0 if it is free or paid.

    Payments in other currencies than the price's do not count. A session without `due_amount` is paid once it
    has a payment that was not refunded in full, whatever its amount and currency.
    """
    kept_amount = _payments.c.amount - _payments.c.refunded_amount
    paid = func.coalesce(func.sum(kept_amount), 0)
    left = case((paid >= session.c.due_amount, 0), else_=session.c.due_amount - paid)
    in_its_currency = _payments.c.currency == session.c.price_currency
    of_payments = select(left).where(_of(_payments, session), in_its_currency).correlate(session)
    is_kept = or_(_payments.c.amount == 0, kept_amount > 0)
    kept = select(_payments.c.id).where(_of(_payments, session), is_kept).correlate(session)
    return case(
        (func.coalesce(session.c.price_amount, 0) == 0, 0),
        (session.c.due_amount.is_not(None), of_payments.scalar_subquery()),
        (kept.exists(), 0),
        else_=session.c.price_amount,
    )


def can_download(status: str, left: int) -> bool:
    """Whether the files open in a session with this status and amount left to pay."""
    return status != FileShareSessionStatus.EXPIRED.value and not left


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
        "left_to_pay": Computed(left_to_pay),
        "can_download": Derived(
            can_download, (table_of(FileShareSessionRow).c.status,), computed=("left_to_pay",)
        ),
        "files": Part(_FILE, files_of),
        "downloads": Part(Shape(PortalDownload, _downloads), _latest_downloads),
        "payments": Part(_PAYMENT, _payments_for),
    },
)
