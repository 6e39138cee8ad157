"""Fields that many resources share."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, Field, WithJsonSchema

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

# In a filter by ids, `none`: what has none. No resource has this id.
NO_ID = UUID(int=0)


def _none_as_id(value: Any) -> Any:
    return str(NO_ID) if value == "none" else value


IdOrNone = Annotated[
    Id,
    BeforeValidator(_none_as_id),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": "^(none|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$",
            "description": "An id, or `none` for what has none.",
        }
    ),
]


def is_absent(value: Any) -> bool:
    """For `exclude_if`: REST leaves out a field without a value; in GraphQL it is null."""
    return value is None


def unique_ids(ids: list[UUID]) -> list[UUID]:
    """Checks a list of ids. Raises `ValueError` if an id is listed twice."""
    if len(set(ids)) != len(ids):
        raise ValueError("Input should list each id once")
    return ids
