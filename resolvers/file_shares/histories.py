"""Histories of sessions as they were sent: told step by step, then written table by table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from resolvers.file_shares.steps import (
    Step,
    begin,
    check_download,
    check_end,
    check_moment,
    check_refund,
    download,
    end,
    pay,
    refund,
    refunded,
)
from schema.errors import Location, Problem
from schema.file_share_backfill import FileShareSessionHistory, PaymentHistory, RefundHistory
from storage.enums import FileShareSessionStatus
from storage.metrics.facts import Fact, record_facts
from storage.rows import Values, changed, insert_new_rows, insert_rows, new_row, values_of
from storage.tables.file_share_sessions import (
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
    """One session's rows, facts and problems. `session` is as the last step left it; `clock` is now.

    `payment_places` and `refund_places` say where each external id was sent.
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

    def tell(self, sent: FileShareSessionHistory, loc: Location) -> None:
        """Take every step of what was sent at `loc`; `session` is the row of one that begins."""
        self._take(begin(self.session))
        # The end comes first: a download after it is then named at its own place.
        for name, status in _ENDS.items():
            self._tell_end(getattr(sent, name), status, (*loc, name))
        self._tell_downloads(sent.downloads, (*loc, "downloads"))
        for index, payment in enumerate(sent.payments):
            self._tell_payment(payment, (*loc, "payments", index))

    def _take(self, step: Step) -> None:
        self.facts += step.facts
        if step.changes:
            self.session = changed(self.session, **step.changes)

    def _tell_end(self, at: datetime | None, status: FileShareSessionStatus, loc: Location) -> None:
        if at is not None:
            self.problems += check_end(self.session, at, self.clock, loc)
            self._take(end(self.session, status, at))

    def _tell_downloads(self, moments: list[datetime], loc: Location) -> None:
        for index, at in enumerate(moments):
            self.problems += check_download(self.session, at, self.clock, (*loc, index))
        # In order, as if each had been reported when it came: no activation is moved.
        for at in sorted(moments):
            self.downloads.append({**self._of_session(), "at": at})
            self._take(download(self.session, at))

    def _tell_payment(self, sent: PaymentHistory, loc: Location) -> None:
        self.problems += check_moment(self.session, sent.at, self.clock, (*loc, "at"))
        payment = new_row(FileSharePaymentRow, **self._of_session(), **sent.model_dump(exclude={"refunds"}))
        if sent.external_id is not None:
            self.payment_places.append((sent.external_id, (*loc, "external_id")))
        self._take(pay(self.session, payment))
        for index, given_back in enumerate(sent.refunds):
            payment = self._tell_refund(payment, given_back, (*loc, "refunds", index))
        self.payments.append(values_of(payment))

    def _tell_refund(
        self, payment: FileSharePaymentRow, sent: RefundHistory, loc: Location
    ) -> FileSharePaymentRow:
        """The payment as it is afterwards."""
        parent = {"workspace_id": payment.workspace_id, "file_share_payment_id": payment.id}
        given_back = new_row(FileShareRefundRow, **parent, **sent.model_dump())
        self.problems += check_moment(self.session, sent.at, self.clock, (*loc, "at"))
        self.problems += check_refund(payment, given_back, loc)
        if sent.external_id is not None:
            self.refund_places.append((sent.external_id, (*loc, "external_id")))
        self.refunds.append(values_of(given_back))
        self._take(refund(self.session, payment, given_back))
        return changed(payment, **refunded(payment, given_back))

    def _of_session(self) -> Values:
        return {"workspace_id": self.session.workspace_id, "file_share_session_id": self.session.id}


async def insert_file_share_sessions(
    connection: AsyncConnection, histories: Sequence[History]
) -> list[History]:
    """Write the sessions that nobody else has written meanwhile, and give their histories."""
    # In one order everywhere, so that two batches never wait for each other in a circle.
    ordered = sorted(histories, key=lambda history: history.session.external_id or "")
    rows = [values_of(history.session) for history in ordered]
    new = {row.id for row in await insert_new_rows(connection, FileShareSessionRow, rows)}
    return [history for history in ordered if history.session.id in new]


async def insert_steps(connection: AsyncConnection, histories: Sequence[History]) -> None:
    """Write what came after the sessions' beginnings, one statement for each table, and all facts.

    Raises `Duplicate` where somebody else has just taken the external id of a payment or refund.
    """
    payments = [row for each in histories for row in each.payments]
    refunds = [row for each in histories for row in each.refunds]
    await insert_rows(connection, FileShareDownloadRow, [row for each in histories for row in each.downloads])
    await insert_rows(connection, FileSharePaymentRow, sorted(payments, key=_external_id))
    await insert_rows(connection, FileShareRefundRow, sorted(refunds, key=_external_id))
    await record_facts(connection, [fact for each in histories for fact in each.facts])


def _external_id(values: Values) -> str:
    return values["external_id"] or ""
