"""New file-share sessions, live or from a backfill, and rows found by external id."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from sqlalchemy import Select, and_, bindparam, case, func, select

from resolvers.file_shares.steps import is_priced
from resolvers.operations.checks import check_reported
from resolvers.operations.context import Context
from resolvers.operations.rows.lookups import default_currency
from schema.errors import Invalid, Location, Problem, problem
from schema.file_shares.backfill import FileShareSessionHistory
from schema.file_shares.sessions import FileShareSession, FileShareSessionCreate
from storage.dialects.matching import among
from storage.engine.statements.kept import Kept
from storage.enums import PriceAmountType
from storage.persons.persons import PersonReference, ResolvedPerson, persons_of
from storage.rows.named_rows import rows_with
from storage.rows.rows import changed, new_row, table_of, values_of
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)
from storage.tables.shares.shares import SharePriceRow, ShareRow

Reported = TypeVar(
    "Reported", bound=FileShareSessionRow | FileShareDownloadRow | FileSharePaymentRow | FileShareRefundRow
)

_FIELDS = ("external_id", "share_id", "price_amount", "price_currency", "file_size_bytes")


class Offer(NamedTuple):
    """What a new session needs to know of its share: a price that the buyer chooses has a least amount."""

    is_archived: bool
    least_amount: int | None
    currency: str | None


@dataclass(frozen=True)
class Opening:
    """A session as it was sent, at `loc`. It is live if it begins now, else part of a backfill."""

    data: FileShareSessionCreate | FileShareSessionHistory
    loc: Location

    @property
    def is_live(self) -> bool:
        return self.data.created_at is None


def file_share_session_of(row: FileShareSessionRow) -> FileShareSession:
    return FileShareSession.model_validate(values_of(row))


async def open_file_share_sessions(
    ctx: Context, workspace_id: UUID, openings: Sequence[Opening], clock: datetime
) -> tuple[list[FileShareSessionRow], list[Problem]]:
    """The rows of new sessions, not yet inserted, and the problems of all of them.

    The number of statements does not depend on the number of sessions. `clock` is now.
    """
    references = [
        PersonReference(opening.data.customer_id, opening.data.external_customer_id) for opening in openings
    ]
    persons = await persons_of(ctx.connection, ctx.services.database, workspace_id, references)
    offers = await _offers(ctx, workspace_id, {opening.data.share_id for opening in openings})
    is_missing = any(each.data.price_amount and each.data.price_currency is None for each in openings)
    currency = await default_currency(ctx, workspace_id) if is_missing else None
    rows, problems = [], []
    for opening, person in zip(openings, persons, strict=True):
        row = row_of_session(
            workspace_id, opening.data, person, currency, clock, offer=offers.get(opening.data.share_id)
        )
        rows.append(row)
        problems += check_reported(row.created_at, clock, (*opening.loc, "created_at"))
        problems += _check_person(opening, person)
        problems += _check_share(opening, row, offers)
    return rows, problems


async def rows_by_external_id(
    ctx: Context, model: type[Reported], workspace_id: UUID, external_ids: Iterable[str]
) -> dict[str, Reported]:
    """The rows that the workspace has already reported under these external ids."""
    named = {"workspace_id": workspace_id, "external_id": list(external_ids)}
    rows = await rows_with(ctx.connection, model, **named)
    return {row.external_id: row for row in rows if row.external_id is not None}


async def find_already_reported(
    ctx: Context, model: type[Reported], workspace_id: UUID, external_id: str | None, **parent: UUID
) -> Reported | None:
    """The row with this external id, which answers a repeated report; sets the status to 200.

    Raises `Invalid` if it belongs to another `parent`: that is no repetition, but a caller's mistake.
    """
    if external_id is None:
        return None
    row = (await rows_by_external_id(ctx, model, workspace_id, [external_id])).get(external_id)
    if row is not None:
        for column, id in parent.items():
            if getattr(row, column) != id:
                message = f"This external id is already in use, under another {column}"
                raise Invalid([problem(("data", "external_id"), message, "duplicate", input=external_id)])
        ctx.outcome.status = 200
    return row


def row_of_session(
    workspace_id: UUID,
    data: FileShareSessionCreate | FileShareSessionHistory,
    person: ResolvedPerson,
    currency: str | None,
    clock: datetime,
    *,
    offer: Offer | None = None,
) -> FileShareSessionRow:
    row = new_row(
        FileShareSessionRow,
        **{name: getattr(data, name) for name in _FIELDS},
        workspace_id=workspace_id,
        created_at=clock if data.created_at is None else data.created_at,
        customer_id=person.customer_id,
        external_customer_id=person.external_customer_id,
        person=person.person,
    )
    if is_priced(row) and row.price_currency is None:
        row = changed(row, price_currency=currency)
    return changed(row, due_amount=_due_amount(row, offer))


async def _offers(ctx: Context, workspace_id: UUID, ids: set[UUID | None]) -> dict[UUID | None, Offer]:
    """What the shares with these ids offer now."""
    named = list(ids - {None})
    if not named:
        return {}
    rows = await ctx.connection.rows(_OFFERS, {"home": workspace_id, "ids": named})
    return {id: Offer(*offer) for id, *offer in rows}


def _select_offers() -> Select[Any]:
    shares, prices = table_of(ShareRow), table_of(SharePriceRow)
    chosen = and_(
        prices.c.workspace_id == shares.c.workspace_id,
        prices.c.share_id == shares.c.id,
        prices.c.is_archived.is_(False),
        prices.c.amount_type == PriceAmountType.CUSTOM.value,
    )
    least = func.coalesce(prices.c.minimum_amount, 0).label("least_amount")
    return (
        select(
            shares.c.id,
            shares.c.is_archived,
            case((prices.c.id.is_not(None), least)),
            prices.c.price_currency,
        )
        .join_from(shares, prices, chosen, isouter=True)
        .where(shares.c.workspace_id == bindparam("home"), among(shares.c.id, "ids"))
    )


_OFFERS = Kept(_select_offers())


def _due_amount(session: FileShareSessionRow, offer: Offer | None) -> int:
    """What has to be paid: the price, or less if the buyer chooses it; nothing is paid by a payment of 0."""
    price = session.price_amount or 0
    if not price or offer is None or offer.least_amount is None or offer.currency != session.price_currency:
        return price
    return max(1, min(price, offer.least_amount))


def _check_person(opening: Opening, person: ResolvedPerson) -> list[Problem]:
    if person.unknown_customer:
        sent = str(opening.data.customer_id)
        message = "There is no such customer"
        return [problem((*opening.loc, "customer_id"), message, "not_found", input=sent)]
    if person.conflict:
        message = "customer_id and external_customer_id name two people"
        sent = str(opening.data.external_customer_id)
        return [problem((*opening.loc, "external_customer_id"), message, "conflict", input=sent)]
    return []


def _check_share(
    opening: Opening, row: FileShareSessionRow, offers: Mapping[UUID | None, Offer]
) -> list[Problem]:
    id, loc = opening.data.share_id, (*opening.loc, "share_id")
    if id is None:
        return []
    if id not in offers:
        return [problem(loc, "There is no such share", "not_found", input=str(id))]
    if offers[id].is_archived and opening.is_live and is_priced(row):
        return [problem(loc, "The share is archived: it cannot be purchased", "archived", input=str(id))]
    return []
