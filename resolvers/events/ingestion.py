"""Ingestion of events that a workspace's own systems report."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID, uuid4

from oauth.scopes import Scope
from resolvers.events.references import (
    EventsByPlace,
    check_shares,
    find_members,
    find_parents,
    find_persons,
    ids_by_external_id,
)
from resolvers.operations.checks import check_reported
from resolvers.operations.context import Context
from resolvers.operations.declaration import LARGEST_BATCH, requires
from resolvers.operations.rows.lookups import workspace_for
from schema.errors import Invalid, Problem
from schema.events.ingestion import COST_DIGITS, EventCost, EventCreate, EventIngest, EventIngestResult
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.enums import EventSource, FactKind
from storage.ids import new_ids
from storage.metrics.facts import Fact, record_facts
from storage.rows.rows import Values, insert_complete_rows, insert_new_complete_rows
from storage.tables.events.events import EventRow
from storage.types import write_json

_NO_COST = {"cost_amount": None, "cost_parts": None, "cost_currency": None}
# What the facts of an event depend on.
_MEASURED = itemgetter(
    "workspace_id", "timestamp", "share_id", "person", "cost_currency", "cost_amount", "cost_parts"
)


@requires(Scope.EVENTS_WRITE, largest_body=LARGEST_BATCH, causes=(ChangeKind.EVENTS_INGESTED,))
async def ingest_events(ctx: Context, data: EventIngest) -> EventIngestResult:
    """Ingests a batch of up to 1,000 events: all new ones, or none if one of them is invalid.

    An event whose external id exists in the workspace is a duplicate, and is skipped without validation.
    """
    workspace_id = await workspace_for(ctx, data.workspace_id)
    existing = await _existing_ids(ctx, workspace_id, data.events)
    events, new_ids = _new_events(data.events, existing)
    ids = existing | new_ids
    rows = await _rows(ctx, workspace_id, events, ids)
    # Nothing refuses those without external ids, and looking for what does takes PostgreSQL longer.
    if ids:
        # Batches with the same ids wait for each other, and cannot deadlock.
        rows.sort(key=lambda values: values["external_id"] or "")
        inserted = await insert_new_complete_rows(ctx.connection, EventRow, rows)
    else:
        inserted = rows
        await insert_complete_rows(ctx.connection, EventRow, rows)
    await record_facts(ctx.connection, facts_of(inserted))
    if len(inserted) < len(rows):  # Another request has just stored some of them.
        ids |= await _existing_ids(ctx, workspace_id, data.events)
    # Sorting has kept the order of those without an external id.
    unnamed = iter([row["id"] for row in rows if row["external_id"] is None])
    return EventIngestResult.made(
        inserted=len(inserted),
        duplicates=len(data.events) - len(inserted),
        ids=[next(unnamed) if event.external_id is None else ids[event.external_id] for event in data.events],
    )


async def _existing_ids(ctx: Context, workspace_id: UUID, events: Sequence[EventCreate]) -> dict[str, UUID]:
    """The ids of events that exist in the workspace, by external id."""
    external_ids = {event.external_id for event in events if event.external_id is not None}
    return await ids_by_external_id(ctx, workspace_id, external_ids) if external_ids else {}


def _new_events(
    events: Sequence[EventCreate], existing: dict[str, UUID]
) -> tuple[dict[int, EventCreate], dict[str, UUID]]:
    """The new events by their place in the batch, and new ids for those with an external id."""
    new: dict[int, EventCreate] = {}
    ids: dict[str, UUID] = {}
    for place, event in enumerate(events):
        if event.external_id is not None:
            if event.external_id in existing or event.external_id in ids:
                continue
            ids[event.external_id] = uuid4()
        new[place] = event
    return new, ids


async def _rows(
    ctx: Context, workspace_id: UUID, events: EventsByPlace, ids: dict[str, UUID]
) -> list[Values]:
    """The rows of new events. Raises `Invalid` with the problems of all of them.

    `ids` holds the ids of the batch's events, new and existing, by external id.
    """
    moment = now()
    problems = _moment_problems(events, moment)
    persons, person_problems = await find_persons(ctx, workspace_id, events)
    members, member_problems = await find_members(ctx, workspace_id, events, persons)
    problems += person_problems + member_problems + await check_shares(ctx, workspace_id, events)
    parents, parent_problems = await find_parents(ctx, workspace_id, events, ids)
    problems += parent_problems
    if problems:
        raise Invalid(sorted(problems, key=lambda entry: entry["loc"][2]))
    rows: list[Values] = []
    for id, (place, event) in zip(new_ids(len(events)), events.items(), strict=True):
        person = persons[place]
        member_id, external_member_id = members.get(place, (None, None))
        # Every column, of the table: looking for missing ones would take as long again.
        rows.append(
            {
                "workspace_id": workspace_id,
                "id": id if event.external_id is None else ids[event.external_id],
                "created_at": moment,
                "timestamp": event.timestamp or moment,
                "external_id": event.external_id,
                "source": EventSource.USER,
                "name": event.name,
                "customer_id": person.customer_id,
                "external_customer_id": person.external_customer_id,
                "person": person.person,
                "member_id": member_id,
                "external_member_id": external_member_id,
                "share_id": event.share_id,
                "parent_id": parents.get(place),
                "metadata": write_json(event.metadata),
                **(_NO_COST if event.cost is None else _cost_of(event.cost)),
            }
        )
    return rows


def _moment_problems(events: EventsByPlace, clock: datetime) -> list[Problem]:
    return [
        entry
        for place, event in events.items()
        if event.timestamp is not None
        for entry in check_reported(event.timestamp, clock, ("data", "events", place, "timestamp"))
    ]


def _cost_of(cost: EventCost) -> dict[str, Any]:
    # Exact: the product has at most 24 digits, and a decimal's context holds 28.
    amount, parts = divmod(int(cost.amount * Decimal(10**COST_DIGITS)), 10**COST_DIGITS)
    return {"cost_amount": amount, "cost_parts": parts, "cost_currency": cost.currency.value}


def facts_of(events: Sequence[Values]) -> list[Fact]:
    """The events and their costs, from complete rows; equal ones that follow each other are one object."""
    facts: list[Fact] = []
    for measured, same in groupby(events, key=_MEASURED):
        workspace_id, moment, share_id, person, currency, amount, parts = measured
        many = len(list(same))
        facts += [Fact(workspace_id, FactKind.EVENT, moment, share_id, person)] * many
        if currency is not None:
            cost = {"currency": currency, "amount": amount or 0, "parts": parts or 0}
            facts += [Fact(workspace_id, FactKind.COST, moment, share_id, person, **cost)] * many
    return facts
