"""Events as rows become answers, the pages of them behind links, and how the service writes its own."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Column, and_, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from resolvers.access import Row, visible
from resolvers.context import Context
from resolvers.customer_parts import customer_of
from resolvers.lists import Listing, make_cursor, page_of
from schema.events import LABELS, Event, EventPage, EventQuery
from storage.enums import EventSource
from storage.rows import insert_row, table_of
from storage.tables.customers import CustomerRow
from storage.tables.events import EventRow

RowKey = tuple[UUID, UUID]
# Workspace, parent, limit, page, and whether the total will be seen.
PageKey = tuple[UUID, UUID, int, int, bool]

_events, _customers = table_of(EventRow), table_of(CustomerRow)
LISTING = Listing(EventRow, {"timestamp": _events.c.timestamp}, default=("-timestamp",), replica=True)


async def record_event(
    connection: AsyncConnection, customer: Row, name: str, **metadata: str | None
) -> Mapping[str, Any]:
    """Write an event of the service about a customer, in the transaction of what it tells."""
    return await insert_row(
        connection,
        EventRow,
        workspace_id=customer["workspace_id"],
        source=EventSource.SYSTEM,
        name=name,
        customer_id=customer["id"],
        external_customer_id=customer["external_id"],
        metadata=metadata,
    )


async def assemble_events(connection: AsyncConnection, rows: Sequence[Row]) -> list[Event]:
    """The events of these rows with their customers and counts: two statements, however many rows."""
    workspaces = {row["workspace_id"] for row in rows}
    of_rows = and_(
        _events.c.workspace_id.in_(workspaces), _events.c.parent_id.in_([row["id"] for row in rows])
    )
    counted = (
        select(_events.c.parent_id, func.count().label("children"))
        .where(of_rows)
        .group_by(_events.c.parent_id)
    )
    children: dict[UUID, int] = {}
    customers: dict[UUID, Row] = {}
    if rows:
        children = {row.parent_id: row.children for row in await connection.execute(counted)}
    if ids := {row["customer_id"] for row in rows} - {None}:
        # Deleted ones too: an event goes on showing whose it was.
        theirs = and_(_customers.c.workspace_id.in_(workspaces), _customers.c.id.in_(ids))
        found = (await connection.execute(select(_customers).where(theirs))).mappings()
        customers = {row["id"]: dict(row) for row in found}
    return [_event_of(row, customers.get(row["customer_id"]), children.get(row["id"], 0)) for row in rows]


async def load_events(ctx: Context, keys: Sequence[RowKey]) -> list[Event | None]:
    """The visible events of these workspaces and ids, in their order."""
    wanted = select(_events).where(visible(EventRow, ctx.principal), _of(_events.c.id, keys))
    async with ctx.snapshot(replica=True) as connection:
        rows = [dict(row) for row in (await connection.execute(wanted)).mappings()]
        found = {(event.workspace_id, event.id): event for event in await assemble_events(connection, rows)}
    return [found.get(key) for key in keys]


async def load_customer_events(ctx: Context, keys: Sequence[PageKey]) -> list[EventPage]:
    """A page of each customer's events, the newest first."""
    return await _load_pages(ctx, _events.c.customer_id, keys)


async def load_event_children(ctx: Context, keys: Sequence[PageKey]) -> list[EventPage]:
    """A page of each event's direct children, the newest first."""
    return await _load_pages(ctx, _events.c.parent_id, keys)


async def _load_pages(ctx: Context, column: Column[Any], keys: Sequence[PageKey]) -> list[EventPage]:
    """The pages of `keys`; one statement finds the events of all of them.

    Only what an index holds is numbered; the rows of the pages are looked up afterwards.
    """
    counted = any(key[4] for key in keys)
    parents = (_events.c.workspace_id, column)
    newest_first = (_events.c.timestamp.desc(), _events.c.id.desc())
    total = func.count().over(partition_by=parents) if counted else literal(None, BigInteger)
    place = func.row_number().over(partition_by=parents, order_by=newest_first)
    numbered = (
        select(_events.c.workspace_id, _events.c.id, place.label("place"), total.label("total"))
        .where(visible(EventRow, ctx.principal), _of(column, [key[:2] for key in keys]))
        .subquery()
    )
    # The first of each parent tells the total to a page past the end, one too many that there are more.
    wanted = [numbered.c.place == 1]
    for limit, page in {key[2:4] for key in keys}:
        first, last = ((page - 1) * limit + 1, page * limit + 1)
        wanted.append(numbered.c.place.between(literal(first, BigInteger), literal(last, BigInteger)))
    same = and_(_events.c.workspace_id == numbered.c.workspace_id, _events.c.id == numbered.c.id)
    joined = select(_events, numbered.c.place, numbered.c.total).join_from(numbered, _events, same)
    async with ctx.snapshot(replica=True) as connection:
        found = await connection.execute(joined.where(or_(*wanted)).order_by(numbered.c.place))
        rows = [dict(row) for row in found.mappings()]
        events = await assemble_events(connection, rows)
    by_parent: dict[RowKey, list[tuple[Row, Event]]] = defaultdict(list)
    for row, event in zip(rows, events, strict=True):
        by_parent[row["workspace_id"], row[column.name]].append((row, event))
    return [_page(ctx, column, key, by_parent[key[:2]]) for key in keys]


def _page(ctx: Context, column: Column[Any], key: PageKey, found: list[tuple[Row, Event]]) -> EventPage:
    _, parent, limit, page, counted = key
    skipped = (page - 1) * limit
    here = [(row, event) for row, event in found if skipped < row["place"] <= skipped + limit]
    more = any(row["place"] > skipped + limit for row, _ in found) and here
    total = (found[0][0]["total"] if found else 0) if counted else None
    of_parent = {"customer_id": [parent]} if column.name == "customer_id" else {"parent_id": parent}
    query = EventQuery.model_validate({**of_parent, "limit": limit, "page": page})
    cursor = make_cursor(ctx, LISTING, query, here[-1][0]) if more else None
    return page_of(query, [event for _, event in here], total, cursor)


def _of(column: Column[Any], keys: Sequence[RowKey]) -> Any:
    return and_(
        _events.c.workspace_id.in_({workspace_id for workspace_id, _ in keys}),
        column.in_([id for _, id in keys]),
    )


def _event_of(row: Row, customer: Row | None, child_count: int) -> Event:
    return Event.model_validate(
        {
            **row,
            "customer": customer and customer_of(customer),
            "label": LABELS.get(row["name"], row["name"]),
            "child_count": child_count,
        }
    )
