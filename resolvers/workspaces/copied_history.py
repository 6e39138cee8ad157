"""What a copy of a workspace has of its customers and its history: the same numbers, of people made up."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from resolvers.workspaces.copied_rows import MOST_AT_ONCE, Copies, Reading
from storage.engine.connections import Connection
from storage.enums import FactKind
from storage.metrics.facts import Fact, moment_of, record_facts
from storage.rows.rows import Model, Values, insert_row, insert_rows, table_of
from storage.tables.customers.customers import CustomerRow, MemberRow
from storage.tables.events.events import EventRow
from storage.tables.metrics.metrics import ExternalPersonRow, MetricFactRow, PersonCounterRow, PersonMergeRow
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)

# Like the rest of a copy, it is in memory as a whole, and written in one transaction.
MOST_COPIED = 10_000
# A session has several facts, an event two.
MOST_FACTS = 4 * MOST_COPIED
_KINDS = "customers, members, sessions, downloads, payments, refunds and events"


@dataclass(frozen=True)
class History:
    """Rows of a workspace, of one snapshot; `into` are the persons that others were merged into."""

    customers: Sequence[CustomerRow]
    members: Sequence[MemberRow]
    sessions: Sequence[FileShareSessionRow] = ()
    downloads: Sequence[FileShareDownloadRow] = ()
    payments: Sequence[FileSharePaymentRow] = ()
    refunds: Sequence[FileShareRefundRow] = ()
    events: Sequence[EventRow] = ()
    facts: Sequence[MetricFactRow] = ()
    into: Mapping[int, int] | None = None


async def read_history(connection: Connection, workspace_id: UUID, *, is_whole: bool) -> History:
    """The customers, and with `is_whole` what happened, deleted customers too, whose sales count.

    `connection` has a snapshot. Raises `NotPermitted` for more than a copy may have.
    """
    reading = Reading(connection, workspace_id, MOST_COPIED, _KINDS)

    async def rows(model: type[Model], *order: str) -> list[Model]:
        table = table_of(model)
        is_hidden = "deleted_at" in table.c and not is_whole
        return await reading.rows(model, *order, where=table.c.deleted_at.is_(None) if is_hidden else None)

    customers = await rows(CustomerRow, "created_at", "id")
    members = await rows(MemberRow, "created_at", "id")
    if not is_whole:
        return History(customers, members)
    facts = Reading(connection, workspace_id, MOST_FACTS, "measured facts")
    merges = Reading(connection, workspace_id, MOST_FACTS, "merged persons")
    return History(
        customers,
        members,
        await rows(FileShareSessionRow, "created_at", "id"),
        await rows(FileShareDownloadRow, "at", "id"),
        await rows(FileSharePaymentRow, "at", "id"),
        await rows(FileShareRefundRow, "at", "id"),
        _parents_first(await rows(EventRow, "timestamp", "id")),
        await facts.rows(MetricFactRow, "moment"),
        {row.absorbed: row.into for row in await merges.rows(PersonMergeRow, "absorbed")},
    )


async def insert_history(connection: Connection, copies: Copies, history: History) -> None:
    """Insert it into the workspace of the copies, whose shares are there."""
    people = _People(history)
    await copies.insert(connection, CustomerRow, history.customers, people.customer)
    await copies.insert(connection, MemberRow, history.members, people.member)
    if history.into is None:
        return
    await copies.insert(connection, FileShareSessionRow, history.sessions, people.session)
    for model, reports in (
        (FileShareDownloadRow, history.downloads),
        (FileSharePaymentRow, history.payments),
        (FileShareRefundRow, history.refunds),
    ):
        await copies.insert(connection, model, reports, people.report)
    await copies.insert(connection, EventRow, history.events, people.event)
    for first in range(0, len(history.facts), MOST_AT_ONCE):
        some = history.facts[first : first + MOST_AT_ONCE]
        await record_facts(connection, [_fact(row, copies, people) for row in some])
    await _insert_persons(connection, copies.workspace_id, people, history)


async def _insert_persons(
    connection: Connection, workspace_id: UUID, people: "_People", history: History
) -> None:
    """Whom later reports in the copy are about: the persons of external ids, and the next new one."""
    rows: list[FileShareSessionRow | EventRow] = [*history.sessions, *history.events]
    persons = {people.person(row.person) for row in rows if _is_external(row)} - {None}
    ids = [
        {"workspace_id": workspace_id, "external_id": _external_id(person), "person": person}
        for person in persons
    ]
    await insert_rows(connection, ExternalPersonRow, ids)
    numbers = [row.person for row in history.facts] + [row.person for row in history.customers]
    last = max((number for number in numbers if number is not None), default=0)
    await insert_row(connection, PersonCounterRow, workspace_id=workspace_id, next_person=last + 1)


class _People:
    """The values of copies that say who somebody is, made up; numbers of persons stay, without merges."""

    def __init__(self, history: History) -> None:
        self._has_history = history.into is not None
        self._into = history.into or {}
        self._emails = {
            row.id: (row.email_folded, f"customer-{number}@example.invalid")
            for number, row in enumerate(history.customers, 1)
        }

    def person(self, number: int | None) -> int | None:
        return None if number is None else self._into.get(number, number)

    def customer(self, number: int, row: CustomerRow) -> Values:
        _, email = self._emails[row.id]
        return {
            "created_at": row.created_at,
            "email": email,
            "email_verified": False,
            "name": None if row.name is None else f"Customer {number}",
            "external_id": None,
            "billing_address": {},
            "metadata": {},
            "person": self.person(row.person) if self._has_history else None,
        }

    def member(self, number: int, row: MemberRow) -> Values:
        folded, email = self._emails[row.customer_id]
        return {
            "created_at": row.created_at,
            "email": email if row.email_folded == folded else f"member-{number}@example.invalid",
            "name": None if row.name is None else f"Member {number}",
            "external_id": None,
        }

    def session(self, number: int, row: FileShareSessionRow) -> Values:
        return {"created_at": row.created_at, **self.report(number, row), **self._external(row)}

    def report(self, number: int, row: Any) -> Values:
        return {"external_id": None, "person": self.person(row.person)}

    def event(self, number: int, row: EventRow) -> Values:
        report = self.report(number, row) | self._external(row)
        return report | {"external_member_id": None, "metadata": {}}

    def _external(self, row: FileShareSessionRow | EventRow) -> Values:
        """A person who is no customer keeps an external id, so that lists and metrics open each other."""
        person = self.person(row.person)
        is_external = _is_external(row) and person is not None
        return {"external_customer_id": _external_id(person) if is_external else None}


def _is_external(row: FileShareSessionRow | EventRow) -> bool:
    return row.customer_id is None and row.external_customer_id is not None


def _external_id(person: int | None) -> str:
    return f"person-{person}"


def _fact(row: MetricFactRow, copies: Copies, people: _People) -> Fact:
    return Fact(
        workspace_id=copies.workspace_id,
        kind=FactKind(row.kind),
        moment=moment_of(row.moment),
        share_id=None if row.share_id is None else copies.ids[row.share_id],
        person=people.person(row.person),
        currency=row.currency,
        count=row.count,
        bytes=row.bytes,
        amount=row.amount,
        fee=row.fee,
        parts=row.parts,
    )


def _parents_first(events: Iterable[EventRow]) -> list[EventRow]:
    """The events, each after the one that it is below."""
    left = {event.id: event for event in events}
    ordered: list[EventRow] = []
    while left:
        _, event = left.popitem()
        path = [event]
        while event.parent_id in left:
            event = left.pop(event.parent_id)
            path.append(event)
        ordered += reversed(path)
    return ordered
