"""Fields that many resources share, declared once."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from schema.scalars import Id, Moment

CreatedAt = Annotated[Moment, Field(description="When it was made.")]
ModifiedAt = Annotated[Moment | None, Field(description="When it was last changed; null until then.")]
WorkspaceId = Annotated[Id, Field(description="The workspace that owns it.")]
WorkspaceIdInput = Annotated[
    Id | None,
    Field(description="The workspace to make it in; may be left out where the credential reaches just one."),
]
WorkspaceIdFilter = Annotated[list[Id] | None, Field(description="Only of these workspaces.", max_length=100)]


def is_absent(value: Any) -> bool:
    """For `exclude_if`: REST leaves the field out where it has no value, GraphQL says null."""
    return value is None


def unique_ids(ids: list[UUID]) -> list[UUID]:
    """For lists of ids. Raises `ValueError` where one comes twice."""
    if len(set(ids)) != len(ids):
        raise ValueError("The same id is listed twice")
    return ids
