"""Events as the API returns them, and the loaders of links to them."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import and_, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from resolvers.customers.answers import customer_of
from resolvers.operations.access import visible
from resolvers.operations.context import Context
from resolvers.operations.linked_pages import LinkedList, load_pages, of_keys
from resolvers.operations.lists import Listing
from schema.events import LABELS, Event, EventQuery, EventSorting
from schema.links import PageKey, RowKey
from schema.pages import Page
from storage.rows import every, table_of, values_of
from storage.tables.customers import CustomerRow
from storage.tables.events import EventRow

_events, _customers = table_of(EventRow), table_of(CustomerRow)
LISTING = Listing(EventRow, EventSorting, default="-timestamp", replica=True)
_OF_CUSTOMERS: LinkedList[EventRow, Event] = LinkedList(
    LISTING,
    _events.c.customer_id,
    lambda customer_id, limit, page: EventQuery(customer_id=[customer_id], limit=limit, page=page),
)
_CHILDREN: LinkedList[EventRow, Event] = LinkedList(
    LISTING,
    _events.c.parent_id,
    lambda parent_id, limit, page: EventQuery(parent_id=parent_id, limit=limit, page=page),
)


async def assemble_events(connection: AsyncConnection, rows: Sequence[EventRow]) -> list[Event]:
    """The events of these rows with customers and child counts: two statements for any number of rows."""
    workspaces = {row.workspace_id for row in rows}
    of_rows = and_(_events.c.workspace_id.in_(workspaces), _events.c.parent_id.in_([row.id for row in rows]))
    counted = (
        select(_events.c.parent_id, func.count().label("children"))
        .where(of_rows)
        .group_by(_events.c.parent_id)
    )
    children: dict[UUID, int] = {}
    customers: dict[UUID | None, CustomerRow] = {}
    if rows:
        children = {row.parent_id: row.children for row in await connection.execute(counted)}
    if ids := {row.customer_id for row in rows} - {None}:
        # Deleted customers too: their events still show them.
        condition = and_(_customers.c.workspace_id.in_(workspaces), _customers.c.id.in_(ids))
        customers = {customer.id: customer for customer in await every(connection, CustomerRow, condition)}
    return [_event_of(row, customers.get(row.customer_id), children.get(row.id, 0)) for row in rows]


async def load_events(ctx: Context, keys: Sequence[RowKey]) -> list[Event | None]:
    """The visible event of each key, a workspace id and an event id; None without one."""
    requested = of_keys(_events.c.id, keys)
    async with ctx.snapshot(replica=True) as connection:
        rows = await every(connection, EventRow, visible(EventRow, ctx.principal), requested)
        events = {(event.workspace_id, event.id): event for event in await assemble_events(connection, rows)}
    return [events.get(key) for key in keys]


async def load_customer_events(ctx: Context, keys: Sequence[PageKey]) -> list[Page[Event]]:
    """A page of each customer's events, newest first."""
    return await load_pages(ctx, _OF_CUSTOMERS, keys, assemble_events)


async def load_event_children(ctx: Context, keys: Sequence[PageKey]) -> list[Page[Event]]:
    """A page of each event's direct children, newest first."""
    return await load_pages(ctx, _CHILDREN, keys, assemble_events)


def _event_of(row: EventRow, customer: CustomerRow | None, child_count: int) -> Event:
    return Event.model_validate(
        {
            **values_of(row),
            "customer": customer and customer_of(customer),
            "label": LABELS.get(row.name, row.name),
            "child_count": child_count,
        }
    )
