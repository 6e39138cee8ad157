"""Operations on events."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Column, ColumnElement, MetaData, Select, Table, func, or_, select
from sqlalchemy import Row as SelectedRow

from oauth.scopes import Scope
from resolvers.events.answers import LISTING
from resolvers.events.shapes import EVENT
from resolvers.operations.access import check_workspaces, visible, workspaces_of
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.lists import Listing, list_rows, one_of
from resolvers.operations.reading import read_one, read_page
from schema.events import Event, EventNameQuery, EventNameSorting, EventNameSummary, EventQuery
from schema.pages import Page
from storage.connections import Connection
from storage.rows import table_of
from storage.tables.customers import CustomerRow
from storage.tables.event_names import EventNameRow
from storage.tables.events import EventRow
from storage.totals.reading import event_names
from storage.totals.tallies import EVENT_NAMES

_table, _customers = table_of(EventRow), table_of(CustomerRow)
# Not a table of the database but the columns of a query: a list needs their types and nullability.
_columns = [table_of(EventNameRow).c[name] for name in ("name", *EVENT_NAMES.combinations)]
_names = Table(
    "names", MetaData(), *(Column(column.name, column.type, nullable=False) for column in _columns)
)
NAMES = Listing(
    EventRow,
    EventNameSorting,
    default="name",
    columns={key: _names.c[key] for key in EventNameSorting.names()},
    identity=_names.c.name,
    replica=True,
)


@requires(Scope.EVENTS_READ)
async def list_events(ctx: Context, filters: EventQuery) -> Page[Event]:
    """Lists events, newest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    return await read_page(ctx, LISTING, EVENT, filters)


@requires(Scope.EVENTS_READ)
async def get_event(ctx: Context, id: UUID) -> Event:
    """Returns an event."""
    return await read_one(ctx, EventRow, EVENT, replica=True, id=id)


@requires(Scope.EVENTS_READ)
async def list_event_names(ctx: Context, filters: EventNameQuery) -> Page[EventNameSummary]:
    """Lists the names of matching events, with how often, when first and when last each occurred."""
    await check_workspaces(ctx, filters.workspace_id)
    names = _names_of(ctx, filters).cte(_names.name)

    async def assemble(_: Connection, rows: Sequence[SelectedRow[Any]]) -> list[EventNameSummary]:
        return [EventNameSummary.model_validate(row._asdict()) for row in rows]

    return await list_rows(ctx, NAMES, filters, select(_names).add_cte(names), assemble)


def _names_of(ctx: Context, filters: EventNameQuery) -> Select[Any]:
    """The names as they are kept; those of the matching events if filters select some of a workspace's."""
    given = filters.model_dump(exclude={"page", "limit", "after", "sorting"}, exclude_none=True)
    if given.keys() <= {"workspace_id"} and ctx.principal.customer_id is None and ctx.transaction is None:
        return event_names(workspaces_of(ctx.principal, filters.workspace_id))
    # A name has one source: ingestion refuses the names of the service's own events.
    return (
        select(
            _table.c.name,
            func.min(_table.c.source).label("source"),
            func.count().label("occurrences"),
            func.min(_table.c.timestamp).label("first_seen"),
            func.max(_table.c.timestamp).label("last_seen"),
        )
        .where(visible(EventRow, ctx.principal), *_conditions(ctx, filters))
        .group_by(_table.c.name)
    )


def _conditions(ctx: Context, filters: EventNameQuery) -> list[ColumnElement[bool]]:
    conditions = [
        *one_of(_table.c.workspace_id, filters.workspace_id),
        *one_of(_table.c.customer_id, filters.customer_id),
    ]
    if filters.external_customer_id is not None:
        external_id = filters.external_customer_id
        # Events ingested with the external id, and events of the customer that has it now.
        same = _customers.c.external_id == external_id
        customer_ids = select(_customers.c.id).where(visible(CustomerRow, ctx.principal), same)
        conditions.append(
            or_(_table.c.external_customer_id == external_id, _table.c.customer_id.in_(customer_ids))
        )
    if filters.source is not None:
        conditions.append(_table.c.source == filters.source.value)
    if filters.start_timestamp is not None:
        conditions.append(_table.c.timestamp >= filters.start_timestamp)
    if filters.end_timestamp is not None:
        conditions.append(_table.c.timestamp < filters.end_timestamp)
    return conditions
