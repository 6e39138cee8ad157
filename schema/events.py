"""Events, as callers see them: what happened, by the service's or the workspace's own account."""

from typing import Annotated

import strawberry
from pydantic import Field, SkipValidation, WithJsonSchema

from oauth.scopes import Scope
from schema.base import Output, Resource, graphql_type
from schema.customers import Customer
from schema.fields import WorkspaceId, WorkspaceIdFilter
from schema.links import link, load, selects
from schema.metadata import MetadataFilter, MetadataPairs
from schema.pages import COUNTED, ListQuery, Page, check_page
from schema.scalars import Id, Int, Moment, MomentInput
from schema.sorting import Sorting
from storage.enums import EventSource

strawberry.enum(EventSource)

LABELS = {"customer.created": "Customer Created"}

EventName = Annotated[str, Field(description="Like `customer.created`.")]
# What we write about a customer has null where the customer has nothing; callers cannot send a null.
EventMetadata = Annotated[
    MetadataPairs, SkipValidation(), WithJsonSchema({"type": "object", "additionalProperties": True})
]
Names = Annotated[list[str] | None, Field(max_length=100, description="Only events of these names.")]
CustomerIds = Annotated[list[Id] | None, Field(max_length=100, description="Only events of these customers.")]
ExternalCustomerId = Annotated[
    str | None,
    Field(max_length=256, description="Only events of the customer with this id in the caller's system."),
]
Source = Annotated[
    EventSource | None, Field(description="`system`: written by the service; `user`: sent by the workspace.")
]
From = Annotated[MomentInput | None, Field(description="Only events at this moment or later.")]
Until = Annotated[MomentInput | None, Field(description="Only events before this moment.")]


@graphql_type
class Event(Resource):
    """Something that happened."""

    timestamp: Annotated[Moment, Field(description="When it happened.")]
    workspace_id: WorkspaceId
    customer_id: Id | None
    customer: Annotated[
        Customer | None, Field(description="As it is now; deleted customers are still shown here.")
    ]
    external_customer_id: str | None
    label: Annotated[str, Field(description="The name for people: of the service's own events a title.")]
    source: EventSource
    name: EventName
    metadata: EventMetadata
    member_id: Annotated[Id | None, Field(description="The member of the customer who acted.")]
    external_member_id: str | None
    child_count: Annotated[Int, Field(description="How many events name it as their parent.")]
    parent_id: Id | None

    @link(Scope.EVENTS_READ)
    async def parent(
        self, info: strawberry.Info
    ) -> Annotated["Event", strawberry.lazy("schema.events")] | None:
        """The event that this one belongs to."""
        if self.parent_id is None:
            return None
        found: Event | None = await load(info, "event", (self.workspace_id, self.parent_id))
        return found

    @link(Scope.EVENTS_READ)
    async def children(
        self, info: strawberry.Info, limit: int = 10, page: int = 1
    ) -> Annotated["EventPage", strawberry.lazy("schema.events")]:
        """The events that name this one as their parent, the newest first.

        `nextCursor` continues in the field `events(parentId)`.
        """
        check_page(limit, page)
        key = (self.workspace_id, self.id, limit, page, selects(info, *COUNTED))
        found: EventPage = await load(info, "event_children", key)
        return found


EventPage = Page[Event]


class EventSorting(Sorting, keys=("timestamp",)): ...


class EventQuery(ListQuery):
    """The filters of a list of events."""

    workspace_id: WorkspaceIdFilter = None
    customer_id: CustomerIds = None
    external_customer_id: ExternalCustomerId = None
    name: Names = None
    source: Source = None
    parent_id: Annotated[Id | None, Field(description="Only direct children of this event.")] = None
    start_timestamp: From = None
    end_timestamp: Until = None
    metadata: Annotated[list[MetadataFilter] | None, Field(max_length=50)] = None
    sorting: Annotated[
        list[EventSorting] | None, Field(max_length=2, description="The default is `-timestamp`.")
    ] = None


@graphql_type
class EventNameSummary(Output):
    """One name of events and how often it occurs."""

    name: EventName
    source: EventSource
    occurrences: Annotated[Int, Field(description="How many events have the name.")]
    first_seen: Annotated[Moment, Field(description="The moment of the earliest.")]
    last_seen: Annotated[Moment, Field(description="The moment of the latest.")]


class EventNameSorting(Sorting, keys=("name", "occurrences", "first_seen", "last_seen")): ...


class EventNameQuery(ListQuery):
    """The filters of the names of events; the counts are of the events that match."""

    workspace_id: WorkspaceIdFilter = None
    customer_id: CustomerIds = None
    external_customer_id: ExternalCustomerId = None
    source: Source = None
    start_timestamp: From = None
    end_timestamp: Until = None
    sorting: Annotated[
        list[EventNameSorting] | None, Field(max_length=8, description="The default is `name`.")
    ] = None
