"""Operations on payments for file-share sessions."""

from typing import Any
from uuid import UUID

from sqlalchemy import Column, ColumnElement, and_

from oauth.scopes import Scope
from resolvers.file_shares.filters import report_filters
from resolvers.file_shares.opening import find_already_reported
from resolvers.file_shares.payment_mails import mail_payment
from resolvers.file_shares.shapes import PAYMENT
from resolvers.file_shares.steps import (
    check_moment,
    check_refund,
    check_refund_moment,
    of_payment,
    of_session,
    pay,
    refund,
    refunded,
)
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import check_workspaces, get_for_update, get_visible, has_as_many
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.shapes.shaped import shaped
from schema.errors import Invalid, problem
from schema.file_shares.payments import (
    MOST_PAYMENTS,
    FileSharePayment,
    FileSharePaymentCreate,
    FileSharePaymentQuery,
    FileShareRefundCreate,
)
from schema.file_shares.reports import FileShareReportSorting
from schema.kit.pages import Page
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.metrics.facts import record_facts
from storage.rows.rows import insert_row, new_row, table_of, update_row, values_of
from storage.tables.shares.file_share_sessions import (
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)

_payments, _refunds = table_of(FileSharePaymentRow), table_of(FileShareRefundRow)
LISTING = Listing(
    FileSharePaymentRow,
    FileShareReportSorting,
    default="-at",
    columns={"modified_at": table_of(FileSharePaymentRow).c.changed_at},
    query=FileSharePaymentQuery,
    filters=report_filters(table_of(FileSharePaymentRow), "currency"),
)


@requires(Scope.FILE_SHARE_SESSIONS_READ)
async def list_file_share_payments(ctx: Context, filters: FileSharePaymentQuery) -> Page[FileSharePayment]:
    """Lists payments with their refunds, latest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    return await read_page(ctx, LISTING, PAYMENT, filters)


@requires(Scope.FILE_SHARE_SESSIONS_READ)
async def get_file_share_payment(ctx: Context, id: UUID) -> FileSharePayment:
    """Returns a payment for a file-share session, with its refunds."""
    return await read_one(ctx, FileSharePaymentRow, PAYMENT, id=id)


@requires(
    Scope.FILE_SHARE_SESSIONS_WRITE,
    gives=get_file_share_payment,
    makes_child=True,
    repeatable=True,
    causes=(ChangeKind.FILE_SHARE_SESSION_PAID,),
)
async def record_payment(ctx: Context, id: UUID, data: FileSharePaymentCreate) -> FileSharePayment:
    """Records a payment for a session, which may have ended. The first payment converts a priced session.

    A session has at most 100 payments. If one with the external id exists, it is returned (200) and nothing
    changes. The customer and the workspace's members are notified by email as the workspace's settings say,
    unless `at` is more than an hour ago.
    """
    session = await get_for_update(ctx, FileShareSessionRow, id=id)
    workspace_id = session.workspace_id
    existing = await find_already_reported(
        ctx, FileSharePaymentRow, workspace_id, data.external_id, file_share_session_id=session.id
    )
    if existing is not None:
        return await get_file_share_payment(ctx, existing.id)
    if session.is_converted:
        await _check_room(ctx, "payments of a session", _of_session(session), _payments.c.id)
    # The clock may have been set back since the session began.
    clock = now() if data.at else max(now(), session.created_at)
    at = data.at or clock
    problems = check_moment(session, at, clock, ("data", "at"))
    if problems:
        raise Invalid(problems)
    values = data.model_dump() | of_session(session) | {"at": at}
    payment = await insert_row(ctx.connection, FileSharePaymentRow, **values)
    step = pay(session, payment)
    await update_row(ctx.connection, FileShareSessionRow, session, **step.changes)
    await record_facts(ctx.connection, step.facts)
    await mail_payment(ctx, session, payment)
    return shaped(ctx.services, PAYMENT, payment, refunds=[])


@requires(
    Scope.FILE_SHARE_SESSIONS_WRITE,
    gives=get_file_share_payment,
    audits=True,
    causes=(ChangeKind.FILE_SHARE_SESSION_REFUNDED,),
)
async def refund_payment(ctx: Context, id: UUID, data: FileShareRefundCreate) -> FileSharePayment:
    """Records a full or partial refund of a payment and returns the payment.

    A payment has at most 100 refunds. If one with the external id exists, its payment is returned and nothing
    changes.
    """
    paid = await get_visible(ctx, FileSharePaymentRow, id=id)
    session = await get_for_update(ctx, FileShareSessionRow, id=paid.file_share_session_id)
    # The session's lock keeps other refunds out.
    payment = await get_visible(ctx, FileSharePaymentRow, id=id)
    existing = await find_already_reported(
        ctx, FileShareRefundRow, payment.workspace_id, data.external_id, file_share_payment_id=id
    )
    if existing is not None:
        return await get_file_share_payment(ctx, existing.file_share_payment_id)
    if payment.refunded_amount or payment.refunded_fee:
        await _check_room(ctx, "refunds of a payment", _of_payment(payment), _refunds.c.id)
    refund_row = _checked(session, payment, data)
    await insert_row(ctx.connection, FileShareRefundRow, **values_of(refund_row))
    await update_row(ctx.connection, FileSharePaymentRow, payment, **refunded(payment, refund_row))
    await record_facts(ctx.connection, refund(session, payment, refund_row).facts)
    return await get_file_share_payment(ctx, id)


async def _check_room(ctx: Context, what: str, condition: ColumnElement[bool], ids: Column[Any]) -> None:
    """Raises `Invalid` if another row would be too many for the lists that show them."""
    if await has_as_many(ctx, condition, ids, MOST_PAYMENTS):
        raise Invalid([problem(("id",), f"There are {MOST_PAYMENTS} {what}, the limit", "too_many")])


def _of_session(session: FileShareSessionRow) -> ColumnElement[bool]:
    own = _payments.c.workspace_id == session.workspace_id
    return and_(own, _payments.c.file_share_session_id == session.id)


def _of_payment(payment: FileSharePaymentRow) -> ColumnElement[bool]:
    own = _refunds.c.workspace_id == payment.workspace_id
    return and_(own, _refunds.c.file_share_payment_id == payment.id)


def _checked(
    session: FileShareSessionRow, payment: FileSharePaymentRow, data: FileShareRefundCreate
) -> FileShareRefundRow:
    """The row of a valid refund, not yet inserted. Raises `Invalid`."""
    # The payment may be dated some minutes ahead.
    clock = now() if data.at else max(now(), payment.at)
    left = payment.amount - payment.refunded_amount
    refund_row = new_row(
        FileShareRefundRow,
        **of_payment(payment),
        external_id=data.external_id,
        amount=left if data.amount is None else data.amount,
        platform_fee=data.platform_fee,
        at=data.at or clock,
    )
    problems = check_refund_moment(session, payment, refund_row.at, clock, ("data", "at"))
    problems += check_refund(payment, refund_row, ("data",))
    if data.amount is None and not left:
        problems.append(problem(("data", "amount"), "Nothing is left of the payment", "exceeded"))
    if problems:
        raise Invalid(problems)
    return refund_row
