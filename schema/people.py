"""Users, as those see them who share a workspace with them."""

from typing import Annotated

from pydantic import Field

from schema.base import Output, graphql_type
from schema.scalars import Id


@graphql_type
class Person(Output):
    """A user, by name and address."""

    id: Annotated[Id, Field(description="The `user_id` of workspace members.")]
    email: str
    name: str | None


CreatedBy = Annotated[
    Person | None,
    Field(description="The user who created it, by themselves or with a token of theirs; null if unknown."),
]
CreatedByFilter = Annotated[
    list[Id] | None, Field(description="Only what these users created, by their ids.", max_length=100)
]
