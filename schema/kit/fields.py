"""Fields that many resources share."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from schema.values.scalars import Id, Moment

CreatedAt = Annotated[Moment, Field(description="The time of creation.")]
ModifiedAt = Annotated[
    Moment | None, Field(description="The time of the last change; null if there was none.")
]
WorkspaceId = Annotated[Id, Field(description="The workspace that owns the resource.")]
WorkspaceIdInput = Annotated[
    Id | None,
    Field(description="The workspace to create the resource in; optional with access to only one workspace."),
]
WorkspaceIdFilter = Annotated[
    list[Id] | None, Field(description="Only resources of these workspaces.", max_length=100)
]


def is_absent(value: Any) -> bool:
    """For `exclude_if`: REST leaves out a field without a value; in GraphQL it is null."""
    return value is None


def unique_ids(ids: list[UUID]) -> list[UUID]:
    """Checks a list of ids. Raises `ValueError` if an id is listed twice."""
    if len(set(ids)) != len(ids):
        raise ValueError("Input should list each id once")
    return ids
