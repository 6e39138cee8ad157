"""Users as the other members of their workspaces see them."""

from typing import Annotated

from pydantic import Field

from schema.kit.base import Output, graphql_type
from schema.values.scalars import Id


@graphql_type
class Person(Output):
    """A user's name and email."""

    id: Annotated[Id, Field(description="The `user_id` of the user's workspace memberships.")]
    email: str
    name: str | None


CreatedBy = Annotated[
    Person | None,
    Field(description="The user who created the resource, directly or with a token; null if unknown."),
]
CreatedByFilter = Annotated[
    list[Id] | None, Field(description="Only resources created by the users with these ids.", max_length=100)
]
