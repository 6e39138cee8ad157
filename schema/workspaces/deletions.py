"""Deletions: which resources a workspace no longer has, for callers that keep a copy."""

from datetime import date
from typing import Annotated

import strawberry
from pydantic import Field

from schema.kit.base import Output, graphql_type
from schema.kit.deprecation import Deprecation
from schema.kit.fields import WorkspaceIdFilter
from schema.kit.pages import ListQuery
from schema.kit.sorting import Sorting
from schema.values.scalars import Id, Moment, MomentInput
from storage.enums import DeletedResource

strawberry.enum(DeletedResource)


@graphql_type
class Deletion(Output):
    """A resource that was deleted."""

    id: Annotated[
        Id,
        Deprecation("Use `resource_id`.", date(2026, 11, 26), date(2027, 11, 26)),
        Field(description="The id of the deleted resource."),
    ]
    workspace_id: Annotated[Id, Field(description="The workspace that owned the resource.")]
    resource: Annotated[DeletedResource, Field(description="The kind of the resource.")]
    resource_id: Annotated[Id, Field(description="The id of the deleted resource.")]
    deleted_at: Annotated[Moment, Field(description="The time of the deletion.")]


class DeletionSorting(Sorting, keys=("deleted_at",)): ...


class DeletionQuery(ListQuery):
    """The arguments of the list of deletions."""

    workspace_id: WorkspaceIdFilter = None
    resource: Annotated[
        list[DeletedResource] | None,
        Field(
            max_length=10,
            description="Only deletions of these kinds; the default is all that the credential may read.",
        ),
    ] = None
    deleted_since: Annotated[
        MomentInput | None,
        Field(description="Only deletions at this time or later, which was at most 90 days ago."),
    ] = None
    deleted_before: Annotated[MomentInput | None, Field(description="Only deletions before this time.")] = (
        None
    )
    sorting: Annotated[
        list[DeletionSorting] | None,
        Field(max_length=2, description="The sort keys in order; the default is `deleted_at`."),
    ] = None
