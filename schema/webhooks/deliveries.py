"""Webhook deliveries: a change that an endpoint is told, with every attempt to tell it."""

from datetime import datetime
from typing import Annotated, ClassVar

import strawberry
from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from schema.changes.changes import Kind
from schema.files.uploads import HeaderFields
from schema.kit.base import Input, Output, Resource, graphql_input, graphql_type
from schema.kit.fields import CreatedAt, WorkspaceId, WorkspaceIdFilter, is_absent
from schema.kit.pages import ListQuery, SortedByCreation
from schema.values.scalars import Id, Int, Moment, MomentInput
from storage.changes.kinds import ChangeKind
from storage.enums import DeliveryStatus

# How many deliveries one call may send again.
MOST_REDELIVERED = 1_000

strawberry.enum(DeliveryStatus)


@graphql_type
class WebhookAttempt(Output):
    """One request to an endpoint, with both sides of it."""

    at: Annotated[Moment, Field(description="The time of the request.")]
    duration: Annotated[Int, Field(description="How long it took, in milliseconds.")]
    status: Annotated[Int | None, Field(description="The HTTP status of the answer; null without one.")]
    code: Annotated[
        str | None,
        Field(
            description="What prevented an answer: `dns`, `refused`, `timeout`, `tls` or `blocked`; "
            "`redirect` if the answer was one; null otherwise."
        ),
    ]
    request_headers: Annotated[HeaderFields, Field(description="The headers that were sent.")]
    request_body: Annotated[
        str | None,
        Field(description="The first 4 KiB of what was sent; null without the scopes that read it."),
    ]
    response_headers: Annotated[HeaderFields, Field(description="The first 4 KiB of the answer's headers.")]
    response_body: Annotated[
        str | None,
        Field(description="The first 4 KiB of the answer; null without the scopes that read what was sent."),
    ]
    scopes: Annotated[
        list[str], Field(description="The scopes that read what was sent, in alphabetical order.")
    ]


@graphql_type
class WebhookDelivery(Resource):
    """A change that an endpoint is told."""

    unhashed: ClassVar[frozenset[str]] = frozenset({"attempts"})

    created_at: CreatedAt
    workspace_id: WorkspaceId
    endpoint_id: Annotated[Id, Field(description="The endpoint, which may be deleted by now.")]
    change_id: Annotated[
        Id, Field(description="The id of the change, which every attempt sends as `webhook-id`.")
    ]
    kind: Annotated[Kind, Field(description="What happened to which resource.")]
    resource_id: Annotated[Id | None, Field(description="The id of the resource; null for a batch.")]
    at: Annotated[Moment, Field(description="The time of the change.")]
    status: Annotated[
        DeliveryStatus,
        Field(
            description="`pending` until it succeeds or is given up; `skipped` if it was not sent because "
            "the endpoint no longer asks for it."
        ),
    ]
    attempt_count: Annotated[Int, Field(description="The number of attempts so far.")]
    next_attempt_at: Annotated[
        Moment | None, Field(description="The time of the next attempt; null if there will be none.")
    ]
    ended_at: Annotated[Moment | None, Field(description="The time at which it was no longer pending.")]
    attempts: Annotated[
        list[WebhookAttempt] | None,
        Field(
            description="Every attempt, oldest first; only in answers with a single delivery.",
            exclude_if=is_absent,
        ),
    ] = None


class WebhookDeliveryQuery(ListQuery):
    """The arguments of the list of webhook deliveries."""

    workspace_id: WorkspaceIdFilter = None
    endpoint_id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only deliveries to these endpoints.")
    ] = None
    status: Annotated[
        list[DeliveryStatus] | None,
        Field(max_length=len(DeliveryStatus), description="Only deliveries with one of these statuses."),
    ] = None
    kind: Annotated[
        list[Kind] | None,
        Field(max_length=len(ChangeKind), description="Only changes of these kinds."),
    ] = None
    resource_id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only changes of these resources.")
    ] = None
    sorting: SortedByCreation = None


@graphql_input
class WebhookRedelivery(Input):
    """Which deliveries of an endpoint to send again, by the time at which they were made."""

    since: Annotated[MomentInput, Field(description="Only deliveries made at this time or later.")]
    until: Annotated[
        MomentInput | None, Field(description="Only deliveries made before this time; by default up to now.")
    ] = None
    status: Annotated[
        list[DeliveryStatus],
        Field(
            min_length=1,
            max_length=len(DeliveryStatus),
            description="Only deliveries with one of these statuses; by default what did not arrive.",
        ),
    ] = Field(default=[DeliveryStatus.FAILED, DeliveryStatus.SKIPPED])

    @field_validator("until")
    @classmethod
    def _check_order(cls, until: datetime | None, info: ValidationInfo) -> datetime | None:
        since = info.data.get("since")
        if until is not None and since is not None and until <= since:
            raise PydanticCustomError("order", "Input should be later than `since`")
        return until


@graphql_type
class WebhookRedelivered(Output):
    """How many deliveries are sent again."""

    redelivered: Annotated[
        Int, Field(description=f"The number of deliveries, up to {MOST_REDELIVERED:,} for each call.")
    ]
    has_more: Annotated[bool, Field(description="Whether others remain: repeat the call for them.")]
