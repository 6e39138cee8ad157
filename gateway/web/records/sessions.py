"""The pages of sessions and of what happened in them: payments, refunds and downloads."""

from collections.abc import Mapping
from typing import Any

from gateway.web.records.kit import choices
from gateway.web.records.kit.cells import NOTHING, Cell, Column, Shown, money
from gateway.web.records.kit.fields import Words
from gateway.web.records.kit.records import Parent, Records, Related, Step, Task
from resolvers.file_shares.downloads import get_file_share_download, list_file_share_downloads
from resolvers.file_shares.payments import (
    get_file_share_payment,
    list_file_share_payments,
    record_payment,
    refund_payment,
)
from resolvers.file_shares.refunds import get_file_share_refund, list_file_share_refunds
from resolvers.file_shares.sessions import (
    complete_file_share_session,
    expire_file_share_session,
    get_file_share_session,
    list_file_share_sessions,
    record_download,
)
from schema.file_shares.downloads import FileShareDownload
from schema.file_shares.payments import FileSharePayment, FileShareRefund
from schema.file_shares.sessions import FileShareSession
from schema.values.prose import write_amount, write_day
from schema.workspaces.workspaces import Workspace
from storage.changes.kinds import ChangeKind

FILTER_WORDS = {
    "start_date": Words("From", hint=""),
    "end_date": Words("To", hint=""),
    "timezone": Words("Time zone of the dates", hint=""),
    "customer_id": Words("Customer", hint=""),
    "share_id": Words("Share", hint=""),
    "share_id_not": Words("Not this share", hint=""),
    "customer_id_not": Words("Not this customer", hint=""),
    "external_customer_id": Words(hint="Also what was reported before the customer was created."),
    "status": Words(hint=""),
    "currency": Words(hint=""),
    "external_id": Words(hint=""),
    "metric": Words("Counted in metric", hint="Within the dates chosen here."),
    "file_share_session_id": Words("Session ID", hint=""),
}
SHARES = {"share_id": choices.shares}


def _session(report: Any, shown: Shown) -> Cell:
    return Cell("link", "View session", f"{shown.base}/sessions/{report.file_share_session_id}")


def _refunded(payment: FileSharePayment, _: Shown) -> Cell:
    if not payment.refunded_amount:
        return NOTHING
    whole = payment.refunded_amount == payment.amount
    amount = write_amount(payment.refunded_amount, payment.currency)
    text = "Refunded" if whole else f"{amount} refunded"
    return money(payment.refunded_amount, payment.currency, text, "badge")


def _price(session: FileShareSession, _: Shown) -> Cell:
    if not session.price_amount or session.price_currency is None:
        return Cell("figure", "Free", number="0")
    return money(session.price_amount, session.price_currency)


def _left(_: Workspace, payment: Any) -> Mapping[str, Any]:
    return {"amount": payment.amount - payment.refunded_amount}


def _list_price(workspace: Workspace, session: Any) -> Mapping[str, Any]:
    currency = session.price_currency or workspace.default_presentment_currency
    return {"amount": session.price_amount or None, "currency": currency.value}


def _is_open(session: Any) -> bool:
    return session.ended_at is None


SESSIONS = Records(
    area="Sessions",
    path="sessions",
    one="session",
    many="sessions",
    about="Each visitor's session with a share, from its opening to its completion or expiry.",
    empty="A session begins when a visitor opens a share and your system reports it.",
    model=FileShareSession,
    find=list_file_share_sessions,
    get=get_file_share_session,
    live=tuple(kind for kind in ChangeKind if kind.resource.startswith("file_share_session")),
    called=lambda session: f"Session of {write_day(session.created_at)}",
    columns=(
        Column("created_at", "Began"),
        Column("share_id"),
        Column("customer_id"),
        Column("status"),
        Column("price_amount", "Price", _price),
        Column("download_count", "Downloads"),
    ),
    facts={
        "created_at": Column("created_at", "Began"),
        "price_amount": Column("price_amount", "Price", _price),
        "download_count": Column("download_count", "Downloads"),
        "first_download_at": Column("first_download_at", "First download"),
        "ended_at": Column("ended_at", "Ended"),
    },
    hidden=frozenset({"price_currency"}),
    main_filters=("status", "share_id", "start_date", "end_date"),
    filter_words=FILTER_WORDS,
    filter_choices=SHARES,
    tasks={
        "payment": Task(
            record_payment,
            "Record payment",
            "Payment recorded.",
            heading="Record payment",
            about="For a payment that your system did not report. "
            "Confirmation emails follow your workspace's email settings.",
            words={
                "amount": Words(hint=""),
                "currency": Words(hint=""),
                "platform_fee": Words(hint="The part of the amount that the platform keeps."),
                "external_id": Words(hint="The payment's id in your system."),
            },
            without=frozenset({"at"}),
            starts_with=_list_price,
        ),
        "download": Task(
            record_download,
            "Record download",
            "Download recorded.",
            heading="Record download",
            about="For a download that your system did not report.",
            words={"external_id": Words(hint="The download's id in your system.")},
            without=frozenset({"at"}),
            applies=_is_open,
        ),
    },
    steps=(
        Step(
            "complete",
            "Complete",
            "The session ends. The customer can still download its files.",
            "Complete session",
            "Session completed.",
            complete_file_share_session,
            arguments={"data": {}},
            applies=_is_open,
            is_harmless=True,
        ),
        Step(
            "expire",
            "Expire",
            "The customer can no longer download its files. This cannot be undone.",
            "Expire session",
            "Session expired.",
            expire_file_share_session,
            arguments={"data": {}},
            applies=_is_open,
        ),
    ),
    related=(
        Related("payments", "file_share_session_id", "Payments"),
        Related("downloads", "file_share_session_id", "Downloads"),
    ),
)
PAYMENTS = Records(
    area="Payments",
    path="payments",
    one="payment",
    many="payments",
    about="What customers have paid, and what of it was refunded.",
    empty="Payments appear here when your system reports them for a session.",
    model=FileSharePayment,
    find=list_file_share_payments,
    get=get_file_share_payment,
    called=lambda payment: f"Payment of {write_amount(payment.amount, payment.currency)}",
    columns=(
        Column("at", "Paid"),
        Column("amount"),
        Column("refunded_amount", "Refunds", _refunded),
        Column("customer_id"),
        Column("share_id"),
    ),
    facts={
        "at": Column("at", "Paid"),
        "refunded_amount": Column("refunded_amount", "Refunded"),
        "file_share_session_id": Column("file_share_session_id", "Session", _session),
        "created_at": Column("created_at", "Recorded"),
    },
    hidden=frozenset({"refunds", "currency"}),
    main_filters=("share_id", "currency", "start_date", "end_date"),
    filter_words=FILTER_WORDS,
    filter_choices=SHARES,
    tasks={
        "refund": Task(
            refund_payment,
            "Refund payment",
            "Refund recorded.",
            heading="Refund",
            about="Records a refund: give the money back with your payment provider. It cannot be undone.",
            words={
                "amount": Words(
                    hint="Up to what has not been refunded yet. Leave it empty to refund all of that."
                ),
                "platform_fee": Words(hint="The part of the platform fee that is given back."),
                "external_id": Words(hint="The refund's id in your system."),
            },
            without=frozenset({"at"}),
            applies=lambda payment: payment.refunded_amount < payment.amount,
            starts_with=_left,
            is_danger=True,
        )
    },
    related=(Related("refunds", "file_share_payment_id", "Refunds"),),
)
REFUNDS = Records(
    area="Payments",
    path="refunds",
    one="refund",
    many="refunds",
    about="",
    empty="",
    model=FileShareRefund,
    find=list_file_share_refunds,
    get=get_file_share_refund,
    called=lambda refund: f"Refund of {write_amount(refund.amount, refund.currency)}",
    columns=(Column("at", "Refunded"), Column("amount"), Column("platform_fee"), Column("external_id")),
    facts={
        "at": Column("at", "Refunded"),
        "file_share_session_id": Column("file_share_session_id", "Session", _session),
        "created_at": Column("created_at", "Recorded"),
    },
    hidden=frozenset({"currency"}),
    parent=Parent("payments", "file_share_payment_id", "Payment"),
)
DOWNLOADS = Records(
    area="Sessions",
    path="downloads",
    one="download",
    many="downloads",
    about="",
    empty="",
    model=FileShareDownload,
    find=list_file_share_downloads,
    get=get_file_share_download,
    called=lambda download: f"Download of {write_day(download.at)}",
    columns=(Column("at", "Downloaded"), Column("external_id")),
    facts={
        "at": Column("at", "Downloaded"),
        "file_share_session_id": Column("file_share_session_id", "Session", _session),
        "created_at": Column("created_at", "Recorded"),
    },
    parent=Parent("sessions", "file_share_session_id", "Session"),
)
