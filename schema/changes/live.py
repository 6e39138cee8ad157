"""Live updates in GraphQL: what its subscriptions tell, and what they can be asked for."""

from datetime import date
from typing import Annotated

import strawberry
from pydantic import Field

from schema.changes.changes import (
    POSITION,
    Change,
    ChangeStreamQuery,
    Kind,
    LatestChangeQuery,
    Position,
)
from schema.kit.base import Output, graphql_type
from schema.kit.fields import WorkspaceId
from schema.kit.nodes import LOOKUP, Node
from schema.values.scalars import Id
from storage.changes.kinds import ChangeKind


@graphql_type
class FollowedChange(Change):
    """A change that was committed, with its resource by its type."""

    @strawberry.pydantic.field(
        description="The resource as it is now; null if it is gone, of a batch, and of a workspace access "
        "token, which `data` has. Needs the scope that reads it.",
        metadata={LOOKUP: {}},
    )
    def node(self) -> Node | None:
        raise TypeError("A plan reads the resource.")


@graphql_type
class ChangeEvent(Output):
    """Tells a change."""

    change: FollowedChange


@graphql_type
class MetricsChange(Output):
    """Tells that metrics of a workspace have changed."""

    workspace_id: WorkspaceId
    first_day: Annotated[
        date,
        Field(
            description="The first day that has changed, in the workspace's time zone or else in UTC. Later "
            "days may have changed too."
        ),
    ]


class ChangeSubscriptionQuery(LatestChangeQuery):
    """The arguments of the subscription to changes."""

    after: Annotated[
        Position | None,
        Field(
            json_schema_extra={"pattern": POSITION},
            description="The position after which it begins: that of the last change that arrived. Without "
            "it, it begins with the next change that is made.",
        ),
    ] = None
    kinds: Annotated[
        list[Kind] | None,
        Field(
            max_length=len(ChangeKind),
            description="Only changes of these kinds; the default is all that the credential may read.",
        ),
    ] = None
    resource_id: Annotated[Id | None, Field(description="Only changes of the resource with this id.")] = None

    def as_stream(self) -> ChangeStreamQuery:
        """The same, as the stream of REST takes it."""
        return ChangeStreamQuery.model_construct(
            workspace_id=self.workspace_id, after=self.after, kind=self.kinds, resource_id=self.resource_id
        )
