"""What a user allowed OAuth clients, as the user sees it."""

from typing import Annotated

from pydantic import Field

from schema.base import Resource, graphql_type
from schema.fields import CreatedAt, ModifiedAt
from schema.pages import ListQuery, SortedByCreation
from schema.scalars import Id


@graphql_type
class AuthorizedApplication(Resource):
    """An application that the user allowed something, once for each workspace and once for the user."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    client_id: Annotated[str, Field(description="The application's public name in the protocol.")]
    name: Annotated[str, Field(description="What the application calls itself.")]
    client_uri: Annotated[str | None, Field(description="The application's own page.")]
    workspace_id: Annotated[
        Id | None,
        Field(description="The workspace that it reaches; null where it reaches all of the user's."),
    ]
    scopes: Annotated[list[str], Field(description="What it was allowed, in alphabetical order.")]


class AuthorizedApplicationQuery(ListQuery):
    """How a list of authorized applications is read."""

    sorting: SortedByCreation = None
