"""The steps of a file-share session, the same for live calls and backfill.

Each step returns the changes of the session's row and the facts that measure it. The checks return the
problems of a step, with the location at which its caller sent it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from resolvers.operations.checks import check_reported
from schema.errors import Location, Problem, problem
from schema.values.scalars import write_moment
from storage.enums import FactKind, FileShareSessionStatus
from storage.metrics.facts import Fact
from storage.tables.shares.file_share_sessions import (
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)

_ENDS = {
    FileShareSessionStatus.COMPLETED: FactKind.COMPLETION,
    FileShareSessionStatus.EXPIRED: FactKind.EXPIRY,
}


@dataclass(frozen=True)
class Step:
    """The changes of the session's row, and the facts to record."""

    changes: dict[str, Any]
    facts: list[Fact]


def is_priced(session: FileShareSessionRow) -> bool:
    """Whether the session counts for conversion; without a price, or with 0, it is free."""
    return bool(session.price_amount)


def of_session(session: FileShareSessionRow) -> dict[str, Any]:
    """What a report's row has of its session."""
    return {
        "workspace_id": session.workspace_id,
        "file_share_session_id": session.id,
        "share_id": session.share_id,
        "customer_id": session.customer_id,
        "person": session.person,
    }


def of_payment(payment: FileSharePaymentRow) -> dict[str, Any]:
    """What a refund's row has of its payment."""
    same = ("workspace_id", "file_share_session_id", "share_id", "customer_id", "person", "currency")
    return {"file_share_payment_id": payment.id, **{name: getattr(payment, name) for name in same}}


def begin(session: FileShareSessionRow) -> Step:
    """The session began; its row holds its first values."""
    size = session.file_size_bytes
    if not is_priced(session):
        return Step({}, [_fact(session, FactKind.FREE_SESSION, session.created_at, bytes=size)])
    price = {"amount": session.price_amount, "currency": session.price_currency}
    fact = _fact(session, FactKind.PRICED_SESSION, session.created_at, bytes=size, **price)
    return Step({}, [fact])


def download(session: FileShareSessionRow, at: datetime) -> Step:
    """A file was downloaded; the earliest download makes the session active, unless it had ended before."""
    first, last, ended = session.first_download_at, session.last_download_at, session.ended_at
    facts = [_fact(session, FactKind.DOWNLOAD, at)]
    if (ended is None or at <= ended) and (first is None or at < first):
        if first is not None and (ended is None or first <= ended):
            facts.append(_fact(session, FactKind.ACTIVATION, first, count=-1))
        elif ended is not None:
            facts.append(_fact(session, FactKind.DEACTIVATION, ended))
        facts.append(_fact(session, FactKind.ACTIVATION, at))
    created = session.status == FileShareSessionStatus.CREATED
    changes = {
        "status": FileShareSessionStatus.ACTIVE.value if created else session.status,
        "download_count": session.download_count + 1,
        "first_download_at": at if first is None else min(first, at),
        "last_download_at": at if last is None else max(last, at),
    }
    return Step(changes, facts)


def end(session: FileShareSessionRow, status: FileShareSessionStatus, at: datetime) -> Step:
    """The session was completed or expired."""
    facts = [_fact(session, _ENDS[status], at)]
    if session.first_download_at is not None:
        facts.append(_fact(session, FactKind.DEACTIVATION, at))
    return Step({"status": status.value, "ended_at": at}, facts)


def pay(session: FileShareSessionRow, payment: FileSharePaymentRow) -> Step:
    """A payment was made; the first one converts the session, as of its creation."""
    money = {"amount": payment.amount, "fee": payment.platform_fee, "currency": payment.currency}
    facts = [_fact(session, FactKind.PAYMENT, payment.at, **money)]
    if is_priced(session) and not session.is_converted:
        facts.append(_fact(session, FactKind.CONVERSION, session.created_at))
    return Step({} if session.is_converted else {"is_converted": True}, facts)


def refund(
    session: FileShareSessionRow, payment: FileSharePaymentRow, refund_row: FileShareRefundRow
) -> Step:
    """A payment was refunded, fully or in part; the session stays converted."""
    money = {"amount": -refund_row.amount, "fee": -refund_row.platform_fee}
    fact = _fact(session, FactKind.REFUND, refund_row.at, currency=payment.currency, **money)
    return Step({}, [fact])


def refunded(payment: FileSharePaymentRow, refund_row: FileShareRefundRow) -> dict[str, int]:
    """The changes of the payment's row by a refund."""
    return {
        "refunded_amount": payment.refunded_amount + refund_row.amount,
        "refunded_fee": payment.refunded_fee + refund_row.platform_fee,
    }


def check_moment(session: FileShareSessionRow, at: datetime, clock: datetime, loc: Location) -> list[Problem]:
    """The problems of any moment after the session's beginning."""
    if at < session.created_at:
        message = "The moment is before the session's created_at"
        return [problem(loc, message, "before_creation", input=write_moment(at))]
    return check_reported(at, clock, loc)


def check_download(
    session: FileShareSessionRow, at: datetime, clock: datetime, loc: Location
) -> list[Problem]:
    if session.ended_at is not None and at > session.ended_at:
        return [problem(loc, "The session had ended before", "after_end")]
    return check_moment(session, at, clock, loc)


def check_end(session: FileShareSessionRow, at: datetime, clock: datetime, loc: Location) -> list[Problem]:
    if session.ended_at is not None:
        return [problem(loc, "The session has ended already", "ended")]
    if session.last_download_at is not None and at < session.last_download_at:
        message = "The moment is before the session's last download"
        return [problem(loc, message, "before_download", input=write_moment(at))]
    return check_moment(session, at, clock, loc)


def check_refund_moment(
    session: FileShareSessionRow,
    payment: FileSharePaymentRow,
    at: datetime,
    clock: datetime,
    loc: Location,
) -> list[Problem]:
    """The problems of the moment of a refund: before its payment, a day would lose what it never had."""
    problems = check_moment(session, at, clock, loc)
    if not problems and at < payment.at:
        return [
            problem(loc, "The moment is before the payment's at", "before_payment", input=write_moment(at))
        ]
    return problems


def check_refund(
    payment: FileSharePaymentRow, refund_row: FileShareRefundRow, loc: Location
) -> list[Problem]:
    """The problems of a refund that exceeds its payment; `loc` is the refund's location."""
    problems = []
    left = {
        "amount": (refund_row.amount, payment.amount - payment.refunded_amount),
        "platform_fee": (refund_row.platform_fee, payment.platform_fee - payment.refunded_fee),
    }
    for field, (sent, most) in left.items():
        if sent > most:
            message = f"Only {most} of the payment's {field} can still be refunded"
            problems.append(problem((*loc, field), message, "exceeded", input=sent))
    return problems


def _fact(session: FileShareSessionRow, kind: FactKind, moment: datetime, **values: Any) -> Fact:
    return Fact(
        session.workspace_id,
        kind,
        moment,
        share_id=session.share_id,
        person=session.person,
        **values,
    )
