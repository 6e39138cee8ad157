"""The customers, members, shares and parents that ingested events refer to, and the problems with them.

Every function takes the events of a batch by their place in it, and reads all that they refer to with one
statement for each kind.
"""

from collections.abc import Iterable, Mapping, Set
from typing import Any
from uuid import UUID

from sqlalchemy import Select, Table, bindparam, or_, select

from resolvers.operations.context import Context
from schema.errors import Problem, problem
from schema.events.ingestion import EventCreate
from storage.dialects.matching import among
from storage.engine.statements.kept import Kept
from storage.persons.persons import NO_PERSON, PersonReference, ResolvedPerson, persons_of
from storage.rows.rows import table_of
from storage.tables.customers.customers import MemberRow
from storage.tables.events.events import EventRow
from storage.tables.shares.shares import ShareRow

EventsByPlace = Mapping[int, EventCreate]
PersonsByPlace = Mapping[int, ResolvedPerson]
# The ids of a member: ours, and the one in the caller's system.
MemberIds = tuple[UUID | None, str | None]

_events, _members, _shares = table_of(EventRow), table_of(MemberRow), table_of(ShareRow)


def _of_home(table: Table, *names: str) -> Select[Any]:
    """These columns of the workspace's rows."""
    home = bindparam("home", type_=table.c.workspace_id.type)
    return select(*(table.c[name] for name in names)).where(table.c.workspace_id == home)


_SHARE_IDS, _EVENT_IDS = (
    Kept(_of_home(table, "id").where(among(table.c.id, "ids"))) for table in (_shares, _events)
)
_BY_EXTERNAL_ID = Kept(
    _of_home(_events, "external_id", "id").where(among(_events.c.external_id, "external_ids"))
)
_MEMBERS = Kept(
    _of_home(_members, "customer_id", "id", "external_id").where(
        among(_members.c.customer_id, "customers"),
        _members.c.deleted_at.is_(None),
        or_(among(_members.c.id, "ids"), among(_members.c.external_id, "external_ids")),
    )
)


async def find_persons(
    ctx: Context, workspace_id: UUID, events: EventsByPlace
) -> tuple[PersonsByPlace, list[Problem]]:
    """The person of each event: a customer, or an external id without one yet."""
    named = {(event.customer_id, event.external_customer_id) for event in events.values()}
    if named <= {(None, None)}:
        return dict.fromkeys(events, NO_PERSON), []
    references = [PersonReference(event.customer_id, event.external_customer_id) for event in events.values()]
    resolved = await persons_of(ctx.connection, ctx.services.database, workspace_id, references)
    persons = dict(zip(events, resolved, strict=True))
    problems = []
    for place, person in persons.items():
        if person.unknown_customer:
            problems.append(_problem(events, place, "customer_id", "There is no such customer", "not_found"))
        if person.conflict:
            message = "This is not the external id of the customer that `customer_id` names"
            problems.append(_problem(events, place, "external_customer_id", message, "conflict"))
    return persons, problems


async def find_members(
    ctx: Context, workspace_id: UUID, events: EventsByPlace, persons: PersonsByPlace
) -> tuple[dict[int, MemberIds], list[Problem]]:
    """The members who acted; each must belong to its event's customer."""
    with_member = {
        place: event
        for place, event in events.items()
        if (event.member_id is not None or event.external_member_id is not None)
        and not persons[place].is_refused
    }
    existing = await _existing_members(ctx, workspace_id, with_member, persons)
    members: dict[int, MemberIds] = {}
    problems = []
    for place, event in with_member.items():
        person = persons[place]
        if event.member_id is None and person.customer_id is None and person.external_customer_id is not None:
            # There are no members before the external id belongs to a customer.
            members[place] = (None, event.external_member_id)
            continue
        matches: set[MemberIds] = set()
        for field in ("member_id", "external_member_id"):
            named = getattr(event, field)
            member = existing.get((person.customer_id, named))
            if member is not None:
                matches.add(member)
            elif named is not None:
                message = "The event's customer has no such member"
                problems.append(_problem(events, place, field, message, "not_found"))
        if len(matches) > 1:
            message = "This is not the external id of the member that `member_id` names"
            problems.append(_problem(events, place, "external_member_id", message, "conflict"))
        elif matches:
            members[place] = matches.pop()
    return members, problems


async def _existing_members(
    ctx: Context, workspace_id: UUID, events: EventsByPlace, persons: PersonsByPlace
) -> dict[tuple[UUID | None, UUID | str], MemberIds]:
    """The members that the events refer to, by customer and by either id."""
    if not events:
        return {}
    values = {
        "home": workspace_id,
        "customers": list({persons[place].customer_id for place in events} - {None}),
        "ids": list({event.member_id for event in events.values()} - {None}),
        "external_ids": list({event.external_member_id for event in events.values()} - {None}),
    }
    existing: dict[tuple[UUID | None, UUID | str], MemberIds] = {}
    for customer_id, id, external_id in await ctx.connection.rows(_MEMBERS, values):
        existing[customer_id, id] = (id, external_id)
        if external_id is not None:
            existing[customer_id, external_id] = (id, external_id)
    return existing


async def check_shares(ctx: Context, workspace_id: UUID, events: EventsByPlace) -> list[Problem]:
    """The problems with the events' shares; events may refer to archived ones."""
    named = {event.share_id for event in events.values()} - {None}
    if not named:
        return []
    existing_ids = await _existing(ctx, _SHARE_IDS, workspace_id, named)
    return [
        _problem(events, place, "share_id", "There is no such share", "not_found")
        for place, event in events.items()
        if event.share_id is not None and event.share_id not in existing_ids
    ]


async def find_parents(
    ctx: Context, workspace_id: UUID, events: EventsByPlace, batch: Mapping[str, UUID]
) -> tuple[dict[int, UUID], list[Problem]]:
    """The ids of the parents; `batch` holds the ids of the batch's events by external id."""
    named = {place: event.parent_id for place, event in events.items() if event.parent_id is not None}
    if not named:
        return {}, []
    known = {**batch, **await _earlier_events(ctx, workspace_id, set(named.values()) - batch.keys())}
    message = "There is no event with this id or external id, here or in this batch"
    problems = [
        _problem(events, place, "parent_id", message, "not_found")
        for place, name in named.items()
        if name not in known
    ]
    problems += [
        _problem(events, place, "parent_id", "An event cannot be among its own ancestors", "cycle")
        for place in _in_circles(events)
    ]
    return {place: known[name] for place, name in named.items() if name in known}, problems


async def _earlier_events(ctx: Context, workspace_id: UUID, names: set[str]) -> dict[str, UUID]:
    """The ids of stored events by the names that parents are given: their ids, else their external ids."""
    if not names:
        return {}
    known = {name: id for name in names if (id := _as_id(name)) is not None}
    if known:
        existing_ids = await _existing(ctx, _EVENT_IDS, workspace_id, set(known.values()))
        known = {name: id for name, id in known.items() if id in existing_ids}
    others = names - known.keys()
    return known | await ids_by_external_id(ctx, workspace_id, others) if others else known


async def ids_by_external_id(ctx: Context, workspace_id: UUID, external_ids: set[str]) -> dict[str, UUID]:
    """The ids of the stored events that have one of these external ids."""
    values = {"home": workspace_id, "external_ids": list(external_ids)}
    return dict(await ctx.connection.rows(_BY_EXTERNAL_ID, values))


def _in_circles(events: EventsByPlace) -> Iterable[int]:
    """The places of new events that are their own ancestors."""
    places = {event.external_id: place for place, event in events.items() if event.external_id is not None}
    above = {place: places[event.parent_id] for place, event in events.items() if event.parent_id in places}
    done: set[int] = set()
    for start in above:
        path: list[int] = []
        place: int | None = start
        while place is not None and place not in done:
            done.add(place)
            path.append(place)
            place = above.get(place)
        if place in path:
            yield from path[path.index(place) :]


async def _existing(ctx: Context, kept: Kept, workspace_id: UUID, ids: Set[Any]) -> set[UUID]:
    return {id for (id,) in await ctx.connection.rows(kept, {"home": workspace_id, "ids": list(ids)})}


def _as_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _problem(events: EventsByPlace, place: int, field: str, message: str, type: str) -> Problem:
    sent: Any = getattr(events[place], field)
    return problem(("data", "events", place, field), message, type, input=str(sent))
