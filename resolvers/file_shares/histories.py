"""Histories of sessions from a backfill: applied step by step, then inserted table by table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from resolvers.file_shares.steps import (
    Step,
    begin,
    check_download,
    check_end,
    check_moment,
    check_refund,
    check_refund_moment,
    download,
    end,
    of_payment,
    of_session,
    pay,
    refund,
    refunded,
)
from schema.errors import Location, Problem
from schema.file_shares.backfill import FileShareSessionHistory, PaymentHistory, RefundHistory
from storage.engine.connections import Connection
from storage.enums import FileShareSessionStatus
from storage.metrics.facts import Fact, record_facts
from storage.rows.rows import Values, changed, insert_new_rows, insert_rows, new_row, values_of
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)

_ENDS = {
    "completed_at": FileShareSessionStatus.COMPLETED,
    "expired_at": FileShareSessionStatus.EXPIRED,
}


@dataclass
class History:
    """One session's rows, facts and problems. `session` is its row after the last step; `clock` is now.

    `payment_places` and `refund_places` hold the external ids with their locations in the batch.
    """

    session: FileShareSessionRow
    clock: datetime
    problems: list[Problem] = field(default_factory=list)
    downloads: list[Values] = field(default_factory=list)
    payments: list[Values] = field(default_factory=list)
    refunds: list[Values] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    payment_places: list[tuple[str, Location]] = field(default_factory=list)
    refund_places: list[tuple[str, Location]] = field(default_factory=list)

    def add(self, sent: FileShareSessionHistory, loc: Location) -> None:
        """Apply every step of the history at `loc`; `session` must be the row of a session that begins."""
        self._apply(begin(self.session))
        # The end comes first, so that a download after it is reported at its own location.
        for name, status in _ENDS.items():
            self._add_end(getattr(sent, name), status, (*loc, name))
        self._add_downloads(sent.downloads, (*loc, "downloads"))
        for index, payment in enumerate(sent.payments):
            self._add_payment(payment, (*loc, "payments", index))

    def _apply(self, step: Step) -> None:
        self.facts += step.facts
        if step.changes:
            self.session = changed(self.session, **step.changes)

    def _add_end(self, at: datetime | None, status: FileShareSessionStatus, loc: Location) -> None:
        if at is not None:
            self.problems += check_end(self.session, at, self.clock, loc)
            self._apply(end(self.session, status, at))

    def _add_downloads(self, moments: list[datetime], loc: Location) -> None:
        for index, at in enumerate(moments):
            self.problems += check_download(self.session, at, self.clock, (*loc, index))
        # In order, as if each had been reported live: no activation has to move.
        for at in sorted(moments):
            self.downloads.append({**of_session(self.session), "at": at})
            self._apply(download(self.session, at))

    def _add_payment(self, sent: PaymentHistory, loc: Location) -> None:
        self.problems += check_moment(self.session, sent.at, self.clock, (*loc, "at"))
        payment = new_row(
            FileSharePaymentRow, **of_session(self.session), **sent.model_dump(exclude={"refunds"})
        )
        if sent.external_id is not None:
            self.payment_places.append((sent.external_id, (*loc, "external_id")))
        self._apply(pay(self.session, payment))
        for index, refund_row in enumerate(sent.refunds):
            payment = self._add_refund(payment, refund_row, (*loc, "refunds", index))
        self.payments.append(values_of(payment))

    def _add_refund(
        self, payment: FileSharePaymentRow, sent: RefundHistory, loc: Location
    ) -> FileSharePaymentRow:
        """Add the refund and return the payment after it."""
        refund_row = new_row(FileShareRefundRow, **of_payment(payment), **sent.model_dump())
        self.problems += check_refund_moment(self.session, payment, sent.at, self.clock, (*loc, "at"))
        self.problems += check_refund(payment, refund_row, loc)
        if sent.external_id is not None:
            self.refund_places.append((sent.external_id, (*loc, "external_id")))
        self.refunds.append(values_of(refund_row))
        self._apply(refund(self.session, payment, refund_row))
        return changed(payment, **refunded(payment, refund_row))


async def insert_file_share_sessions(connection: Connection, histories: Sequence[History]) -> list[History]:
    """Insert the sessions that no other batch has inserted meanwhile, and return their histories."""
    # A fixed order, so that two batches cannot deadlock.
    ordered = sorted(histories, key=lambda history: history.session.external_id or "")
    rows = [values_of(history.session) for history in ordered]
    new = {row.id for row in await insert_new_rows(connection, FileShareSessionRow, rows)}
    return [history for history in ordered if history.session.id in new]


async def insert_steps(connection: Connection, histories: Sequence[History]) -> None:
    """Insert downloads, payments and refunds, one statement for each table, and all facts.

    Raises `Duplicate` if another request has just used the external id of a payment or refund.
    """
    payments = [row for each in histories for row in each.payments]
    refunds = [row for each in histories for row in each.refunds]
    await insert_rows(connection, FileShareDownloadRow, [row for each in histories for row in each.downloads])
    await insert_rows(connection, FileSharePaymentRow, sorted(payments, key=_external_id))
    await insert_rows(connection, FileShareRefundRow, sorted(refunds, key=_external_id))
    await record_facts(connection, [fact for each in histories for fact in each.facts])


def _external_id(values: Values) -> str:
    return values["external_id"] or ""
