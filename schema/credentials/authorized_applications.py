"""OAuth clients to which a user has given access."""

from typing import Annotated

from pydantic import Field

from schema.kit.base import Resource, graphql_type
from schema.kit.fields import CreatedAt, ModifiedAt
from schema.kit.pages import ListQuery, SortedByCreation
from schema.values.scalars import Id


@graphql_type
class AuthorizedApplication(Resource):
    """An application with access to one of the user's workspaces, or to all of them."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    client_id: Annotated[str, Field(description="The application's OAuth client id.")]
    name: Annotated[str, Field(description="The application's name, as its owner wrote it.")]
    client_uri: Annotated[str | None, Field(description="The URL of the application's website.")]
    workspace_id: Annotated[
        Id | None,
        Field(description="The workspace it has access to; null if it has access to all of the user's."),
    ]
    scopes: Annotated[list[str], Field(description="The granted scopes, in alphabetical order.")]


class AuthorizedApplicationQuery(ListQuery):
    """The arguments of the list of authorized applications."""

    sorting: SortedByCreation = None
