"""Events, written by the service or sent by the workspace."""

from typing import Annotated

import strawberry
from pydantic import Field, SkipValidation, WithJsonSchema

from oauth.scopes import Scope
from schema.customers.customers import Customer
from schema.customers.members import ExternalId
from schema.kit.base import Output, Resource, graphql_type
from schema.kit.fields import IdOrNone, WorkspaceId, WorkspaceIdFilter
from schema.kit.links import link, list_link
from schema.kit.metadata import MetadataFilter, MetadataPairs
from schema.kit.pages import ListQuery, Page
from schema.kit.ranges import RangeQuery
from schema.kit.sorting import Sorting
from schema.shares.shares import Share
from schema.values.scalars import Id, Int, Moment, MomentInput
from storage.enums import Currency, EventSource

strawberry.enum(EventSource)

LABELS = {"customer.created": "Customer Created"}

EventName = Annotated[str, Field(description="The kind of event, like `customer.created`.")]
# The service's own events may have null values; callers cannot send null.
EventMetadata = Annotated[
    MetadataPairs, SkipValidation(), WithJsonSchema({"type": "object", "additionalProperties": True})
]
Names = Annotated[list[str] | None, Field(max_length=100, description="Only events with these names.")]
OtherNames = Annotated[list[str] | None, Field(max_length=100, description="No events with these names.")]
CustomerIds = Annotated[
    list[IdOrNone] | None,
    Field(max_length=100, description="Only events of these customers; `none`: of no customer."),
]
ExternalCustomerId = Annotated[
    str | None,
    Field(
        max_length=256,
        description="Only events of the customer or person with this id in the caller's system.",
    ),
]
Source = Annotated[
    EventSource | None,
    Field(description="Only events from this source: `system` (the service) or `user` (the workspace)."),
]
From = Annotated[MomentInput | None, Field(description="Only events at this time or later.")]
Until = Annotated[MomentInput | None, Field(description="Only events before this time.")]


@graphql_type
class Cost(Output):
    """The cost of an event to the workspace."""

    amount: Annotated[str, Field(description="The exact amount in minor units, a decimal like `12.5`.")]
    currency: Currency


@graphql_type
class Event(Resource):
    """An event in the service or in the workspace's own systems."""

    timestamp: Annotated[Moment, Field(description="The time of the event.")]
    workspace_id: WorkspaceId
    customer_id: Id | None
    customer: Annotated[
        Customer | None, Field(description="The customer in its current state, also if deleted.")
    ]
    external_customer_id: str | None
    label: Annotated[
        str, Field(description="The display name: a title for the service's own events, else the name.")
    ]
    source: EventSource
    name: EventName
    metadata: EventMetadata
    member_id: Annotated[Id | None, Field(description="The acting member of the customer.")]
    external_member_id: str | None
    child_count: Annotated[Int, Field(description="The number of events with this one as their parent.")]
    parent_id: Id | None
    share_id: Annotated[Id | None, Field(description="The share that the event is about.")]
    external_id: Annotated[str | None, Field(description="The event's id in the caller's system.")]
    cost: Annotated[Cost | None, Field(description="The cost to the workspace, if it was reported.")]

    @link(Scope.EVENTS_READ)
    def parent(self) -> Annotated["Event", strawberry.lazy("schema.events.events")] | None:
        """The parent event."""

    @link(Scope.SHARES_READ)
    def share(self) -> Share | None:
        """The share that the event is about."""

    @list_link(Scope.EVENTS_READ)
    def children(
        self,
    ) -> Annotated["EventPage", strawberry.lazy("schema.events.events")] | None:
        """The events with this one as their parent, newest first.

        `events(parentId)` lists them too.
        """


EventPage = Page[Event]


class EventSorting(Sorting, keys=("timestamp", "modified_at")): ...


class EventQuery(RangeQuery):
    """The arguments of the list of events. Its dates are those of `timestamp`."""

    workspace_id: WorkspaceIdFilter = None
    customer_id: CustomerIds = None
    customer_id_not: Annotated[
        list[IdOrNone] | None,
        Field(max_length=100, description="No events of these customers; `none`: only of customers."),
    ] = None
    external_customer_id: ExternalCustomerId = None
    name: Names = None
    name_not: OtherNames = None
    source: Source = None
    parent_id: Annotated[Id | None, Field(description="Only events whose parent is this event.")] = None
    external_id: Annotated[
        list[ExternalId] | None,
        Field(max_length=100, description="Only events with these ids in the caller's system."),
    ] = None
    share_id: Annotated[
        list[IdOrNone] | None,
        Field(max_length=100, description="Only events about these shares; `none`: about no share."),
    ] = None
    share_id_not: Annotated[
        list[IdOrNone] | None,
        Field(max_length=100, description="No events about these shares; `none`: only about a share."),
    ] = None
    currency: Annotated[
        list[Currency] | None,
        Field(max_length=10, description="Only events with a cost in these currencies."),
    ] = None
    start_timestamp: From = None
    end_timestamp: Until = None
    metadata: Annotated[list[MetadataFilter] | None, Field(max_length=50)] = None
    sorting: Annotated[
        list[EventSorting] | None,
        Field(max_length=4, description="The sort keys in order; the default is `-timestamp`."),
    ] = None


@graphql_type
class EventNameSummary(Output):
    """An event name and its number of events."""

    name: EventName
    source: EventSource
    occurrences: Annotated[Int, Field(description="The number of events with this name.")]
    first_seen: Annotated[Moment, Field(description="The time of the earliest event.")]
    last_seen: Annotated[Moment, Field(description="The time of the latest event.")]


class EventNameSorting(Sorting, keys=("name", "occurrences", "first_seen", "last_seen")): ...


class EventNameQuery(ListQuery):
    """The arguments of the list of event names. The filters select the events that are counted."""

    workspace_id: WorkspaceIdFilter = None
    customer_id: CustomerIds = None
    external_customer_id: ExternalCustomerId = None
    source: Source = None
    start_timestamp: From = None
    end_timestamp: Until = None
    sorting: Annotated[
        list[EventNameSorting] | None,
        Field(max_length=8, description="The sort keys in order; the default is `name`."),
    ] = None
