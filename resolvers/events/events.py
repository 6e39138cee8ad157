"""Operations on events."""

from typing import Any
from uuid import UUID

from sqlalchemy import Column, ColumnElement, MetaData, Select, Table, and_, func, select

from oauth.scopes import Scope
from resolvers.events.answers import LISTING
from resolvers.events.shapes import EVENT
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.access import workspaces_of
from resolvers.operations.rows.filters import any_of
from resolvers.operations.rows.lists import Asked, Groups, Listing
from resolvers.operations.rows.lookups import check_workspaces
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.shapes.shapes import Shape
from schema.events.events import Event, EventNameQuery, EventNameSorting, EventNameSummary, EventQuery
from schema.kit.pages import Page
from storage.ledger.books import Workspaces
from storage.rows.rows import table_of
from storage.tables.events.event_names import EventNameRow
from storage.tables.events.events import EventRow
from storage.totals.events import EVENT_NAMES
from storage.totals.reading import event_names

_table = table_of(EventRow)
# The columns of a query, not of a table in the database: a list needs their types and nullability.
_columns = [table_of(EventNameRow).c[name] for name in ("name", *EVENT_NAMES.values)]
_names = Table(
    "names",
    MetaData(),
    *(
        Column(column.name, column.type, nullable=False, primary_key=column.name == "name")
        for column in _columns
    ),
)


def _names_of(asked: Asked) -> Select[Any]:
    """The names that are kept, if they are the answer; otherwise those of the matching events, counted."""
    is_kept = asked.filters.keys() <= {"workspace_id"} and asked.principal.customer_id is None
    if is_kept and not asked.is_in_change:
        return event_names(_workspaces_of(asked))
    # A name has one source: ingestion refuses the names of the service's own events.
    return (
        select(
            _table.c.name,
            func.min(_table.c.source).label("source"),
            func.count().label("occurrences"),
            func.min(_table.c.timestamp).label("first_seen"),
            func.max(_table.c.timestamp).label("last_seen"),
        )
        .where(*asked.conditions)
        .group_by(_table.c.name)
    )


def _workspaces_of(asked: Asked) -> Workspaces:
    """The caller's workspaces, restricted to the ones that the filter names."""
    accessible = workspaces_of(asked.principal, None)

    def among(column: Any) -> ColumnElement[bool]:
        sent = (any_of(column).make(name, form, asked.principal) for name, form in asked.filters.items())
        return and_(accessible(column), *sent)

    return among


EVENT_NAME = Shape(EventNameSummary, _names)
NAMES = Listing(
    EventRow,
    EventNameSorting,
    default="name",
    identity=_names.c.name,
    replica=True,
    query=EventNameQuery,
    filters={name: LISTING.filters[name] for name in EventNameQuery.filter_names()},
    groups=Groups(_names, _names_of),
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
    return await read_page(ctx, NAMES, EVENT_NAME, filters)
