"""A batch of sessions' histories: told step by step without a database, then inserted table by table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy.ext.asyncio import AsyncConnection

from resolvers.access import Row
from resolvers.session_history import (
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
from storage.rows import Values, insert_rows
from storage.tables.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)


@dataclass
class HistoryBatch:
    """Rows, facts and problems of histories; `clock` is now.

    `payment_places` and `refund_places` say where each external id was sent.
    """

    clock: datetime
    problems: list[Problem]
    sessions: list[Values] = field(default_factory=list)
    downloads: list[Values] = field(default_factory=list)
    payments: list[Values] = field(default_factory=list)
    refunds: list[Values] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    payment_places: list[tuple[str, Location]] = field(default_factory=list)
    refund_places: list[tuple[str, Location]] = field(default_factory=list)

    def tell(self, session: Row, history: FileShareSessionHistory, loc: Location) -> None:
        """Add the history of a session that begins with the row `session`; it was sent at `loc`."""
        session = self._take(session, begin(session))
        # The end comes first: a download after it is then named at its own place.
        session = self._tell_end(session, history, loc)
        session = self._tell_downloads(session, history.downloads, (*loc, "downloads"))
        for index, payment in enumerate(history.payments):
            session = self._tell_payment(session, payment, (*loc, "payments", index))
        self.sessions.append(dict(session))

    async def insert(self, connection: AsyncConnection) -> None:
        """Write everything, five statements in all. Raises `Duplicate`."""
        # In one order, so that two batches never wait for each other in a circle.
        await insert_rows(connection, FileShareSessionRow, sorted(self.sessions, key=_external_id))
        await insert_rows(connection, FileShareDownloadRow, self.downloads)
        await insert_rows(connection, FileSharePaymentRow, sorted(self.payments, key=_external_id))
        await insert_rows(connection, FileShareRefundRow, sorted(self.refunds, key=_external_id))
        await record_facts(connection, self.facts)

    def _take(self, session: Row, step: Step) -> Row:
        self.facts += step.facts
        return {**session, **step.changes}

    def _tell_end(self, session: Row, history: FileShareSessionHistory, loc: Location) -> Row:
        for name, status in (
            ("completed_at", FileShareSessionStatus.COMPLETED),
            ("expired_at", FileShareSessionStatus.EXPIRED),
        ):
            at = getattr(history, name)
            if at is not None:
                self.problems += check_end(session, at, self.clock, (*loc, name))
                session = self._take(session, end(session, status, at))
        return session

    def _tell_downloads(self, session: Row, moments: list[datetime], loc: Location) -> Row:
        for index, at in enumerate(moments):
            self.problems += check_download(session, at, self.clock, (*loc, index))
        # In order, as if each had been reported when it came: no activation is moved.
        for at in sorted(moments):
            self.downloads.append({**_child_of("file_share_session", session), "at": at})
            session = self._take(session, download(session, at))
        return session

    def _tell_payment(self, session: Row, sent: PaymentHistory, loc: Location) -> Row:
        self.problems += check_moment(session, sent.at, self.clock, (*loc, "at"))
        payment = {
            **_child_of("file_share_session", session),
            **sent.model_dump(exclude={"refunds"}),
            "refunded_amount": 0,
            "refunded_fee": 0,
        }
        if sent.external_id is not None:
            self.payment_places.append((sent.external_id, (*loc, "external_id")))
        session = self._take(session, pay(session, payment))
        for index, given_back in enumerate(sent.refunds):
            payment = self._tell_refund(session, payment, given_back, (*loc, "refunds", index))
        self.payments.append(payment)
        return session

    def _tell_refund(
        self, session: Row, payment: Values, sent: RefundHistory, loc: Location
    ) -> Values:
        given_back = {**_child_of("file_share_payment", payment), **sent.model_dump()}
        self.problems += check_moment(session, sent.at, self.clock, (*loc, "at"))
        self.problems += check_refund(payment, given_back, loc)
        if sent.external_id is not None:
            self.refund_places.append((sent.external_id, (*loc, "external_id")))
        self.refunds.append(given_back)
        self._take(session, refund(session, payment, given_back))
        return {**payment, **refunded(payment, given_back)}


def _child_of(noun: str, parent: Mapping[str, Any]) -> Values:
    return {"workspace_id": parent["workspace_id"], "id": uuid4(), f"{noun}_id": parent["id"]}


def _external_id(row: Row) -> str:
    return row["external_id"] or ""
