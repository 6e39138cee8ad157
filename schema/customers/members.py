"""Members of customers: the people who act for a customer."""

from typing import Annotated, ClassVar

import strawberry
from pydantic import BaseModel, Field

from schema.kit.base import Input, Resource, Update, graphql_input, graphql_type
from schema.kit.fields import CreatedAt, ModifiedAt
from schema.kit.pages import ChangesQuery, SortedByChange
from schema.values.names import NAMED
from schema.values.scalars import Email, Id
from storage.enums import MemberRole

strawberry.enum(MemberRole)

PersonName = Annotated[str | None, Field(max_length=256)]
PersonNameInput = Annotated[PersonName, NAMED]
# Of a customer.
MOST_MEMBERS = 1_000
ExternalId = Annotated[str, Field(min_length=1, max_length=256)]
MemberEmail = Annotated[
    Email, Field(description="The member's email; unique within the customer, ignoring case.")
]
MemberExternalId = Annotated[
    ExternalId | None,
    Field(description="The member's id in the caller's system; unique within the customer."),
]
Role = Annotated[
    MemberRole,
    Field(
        description="The member's role. Each customer has exactly one owner: when another member becomes "
        "the owner, the previous owner becomes a billing manager."
    ),
]


@graphql_type
class Member(Resource):
    """A person who acts for a customer."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    customer_id: Id
    email: Annotated[str, Field(description="The member's email; unique within the customer, ignoring case.")]
    name: PersonName
    external_id: MemberExternalId
    role: Role


@graphql_input
class MemberCreate(Input):
    """A new member of a team customer."""

    customer_id: Id
    email: MemberEmail
    name: PersonNameInput = None
    external_id: MemberExternalId = None
    role: Role = MemberRole.MEMBER


@graphql_input
class MemberUpdate(Update):
    """Changes to a member. Fields left out keep their values; null clears `name` and `external_id`."""

    clears: ClassVar[frozenset[str]] = frozenset({"name", "external_id"})
    reads: ClassVar[type[BaseModel] | None] = Member

    email: strawberry.Maybe[MemberEmail | None]
    name: strawberry.Maybe[PersonNameInput]
    external_id: strawberry.Maybe[MemberExternalId]
    role: strawberry.Maybe[Role | None]


class MemberQuery(ChangesQuery):
    """The arguments of the list of members."""

    customer_id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only members of these customers.")
    ] = None
    sorting: SortedByChange = None
