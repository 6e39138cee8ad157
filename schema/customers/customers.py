"""Customers: the people and teams that a workspace does business with."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

import strawberry
from pydantic import BaseModel, Field

from oauth.scopes import Scope
from schema.customers.addresses import BillingAddress, BillingAddressInput
from schema.customers.members import ExternalId, Member, MemberExternalId, PersonName, PersonNameInput
from schema.kit.base import SHAPED, Input, Resource, Update, graphql_input, graphql_type
from schema.kit.fields import (
    CreatedAt,
    ModifiedAt,
    WorkspaceId,
    WorkspaceIdFilter,
    WorkspaceIdInput,
    is_absent,
)
from schema.kit.links import READ_BY_A_PLAN, link, list_link
from schema.kit.metadata import Metadata, MetadataFilter, MetadataPairs
from schema.kit.pages import ChangesQuery
from schema.kit.sorting import Sorting
from schema.values.scalars import Email, Id, Moment
from schema.workspaces.workspaces import Workspace
from storage.enums import CustomerType, Language

strawberry.enum(CustomerType)

CustomerEmail = Annotated[
    Email, Field(description="The customer's email; unique in the workspace, ignoring case.")
]
CustomerExternalId = Annotated[
    ExternalId | None,
    Field(
        description="The customer's id in the caller's system; unique in the workspace, and cannot be "
        "changed once set."
    ),
]
TypeField = Annotated[
    CustomerType,
    Field(description="An individual can become a team, but a team cannot become an individual."),
]
LanguageInput = Annotated[
    Language | None,
    Field(
        description="The language that the customer chose for the portal and its emails. REST leaves it out "
        "until it is set; null removes it."
    ),
]
Anonymize = Annotated[
    bool, Field(description="Whether personal data is overwritten too, which cannot be undone.")
]


class CustomerProfile(Resource):
    """The fields of a customer that the customer sees too."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    external_id: CustomerExternalId
    email: Annotated[str, Field(description="The customer's email; unique in the workspace, ignoring case.")]
    email_verified: Annotated[
        bool, Field(description="Whether the customer has signed in to the portal with this email.")
    ]
    name: PersonName
    billing_address: BillingAddress
    workspace_id: WorkspaceId
    avatar_url: Annotated[str, Field(description="The URL of the email's Gravatar image.")]
    type: Annotated[
        CustomerType | None, Field(description="Null on legacy customers, which count as individuals.")
    ]
    language: Annotated[LanguageInput, Field(exclude_if=is_absent)] = None


@graphql_type
class Customer(CustomerProfile):
    """A person or a team that a workspace does business with."""

    metadata: MetadataPairs
    deleted_at: Annotated[
        Moment | None, Field(description="The time of deletion; only events still show deleted customers.")
    ]
    members: Annotated[
        strawberry.Private[list[Member] | None],
        Field(
            description="The customer's members, oldest first. Left out of lists, sessions and events.",
            exclude_if=is_absent,
        ),
    ] = None

    @strawberry.pydantic.field(
        name="members", description="The customer's members, oldest first.", metadata={SHAPED: "members"}
    )
    async def all_members(self) -> list[Member]:
        raise TypeError(READ_BY_A_PLAN)

    @strawberry.pydantic.field(
        name="etag",
        description="The version of the resource, for `ifMatch`; differs after every change.",
        metadata={SHAPED: "etag"},
    )
    async def etag(self) -> str:  # type: ignore[override]
        raise TypeError(READ_BY_A_PLAN)

    @link(Scope.WORKSPACES_READ)
    def workspace(self) -> Workspace | None:
        """The workspace that the customer belongs to."""

    @list_link(Scope.EVENTS_READ)
    def events(
        self,
    ) -> Annotated["EventPage", strawberry.lazy("schema.events.events")] | None:  # type: ignore[name-defined]  # noqa: F821
        """The customer's events, newest first.

        `events(customerId)` lists them too.
        """

    @list_link(Scope.FILE_SHARE_SESSIONS_READ)
    def file_share_sessions(
        self,
    ) -> Annotated["FileShareSessionPage", strawberry.lazy("schema.file_shares.sessions")] | None:  # type: ignore[name-defined]  # noqa: F821
        """The customer's file-share sessions, newest first.

        `fileShareSessions(customerId)` lists them too.
        """


@graphql_input
class OwnerInput(Input):
    """The owner of a new customer: its first member."""

    email: Annotated[Email | None, Field(description="The default is the customer's email.")] = None
    name: Annotated[PersonNameInput, Field(description="The default is the customer's name.")] = None
    external_id: MemberExternalId = None


@graphql_input
class CustomerCreate(Input):
    """A new customer with its owner."""

    email: CustomerEmail
    metadata: Metadata = Field(default_factory=lambda: MetadataPairs({}))
    external_id: CustomerExternalId = None
    name: PersonNameInput = None
    billing_address: BillingAddressInput | None = None
    type: Annotated[
        CustomerType | None, Field(description="The default, also for null, is `individual`.")
    ] = CustomerType.INDIVIDUAL
    owner: Annotated[
        OwnerInput | None, Field(description="The default has the customer's email and name.")
    ] = None
    language: LanguageInput = None
    workspace_id: WorkspaceIdInput = None


@graphql_input
class CustomerUpdate(Update):
    """Changes to a customer.

    Fields left out keep their values; `metadata` and `billing_address` are replaced as a whole. Null clears
    `name` and empties `metadata` and `billing_address`.
    """

    clears: ClassVar[frozenset[str]] = frozenset({"name", "external_id", "language"})
    empties: ClassVar[Mapping[str, type]] = {"metadata": dict, "billing_address": dict}
    reads: ClassVar[type[BaseModel] | None] = Customer

    metadata: strawberry.Maybe[Metadata | None]
    email: strawberry.Maybe[CustomerEmail | None]
    name: strawberry.Maybe[PersonNameInput]
    billing_address: strawberry.Maybe[BillingAddressInput | None]
    external_id: strawberry.Maybe[CustomerExternalId]
    type: strawberry.Maybe[TypeField | None]
    language: strawberry.Maybe[LanguageInput]


class CustomerSorting(Sorting, keys=("created_at", "modified_at", "email", "name")): ...


class CustomerQuery(ChangesQuery):
    """The arguments of the list of customers."""

    id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only the customers with these ids.")
    ] = None
    workspace_id: WorkspaceIdFilter = None
    email: Annotated[
        str | None, Field(max_length=320, description="Only the customer with this email, ignoring case.")
    ] = None
    query: Annotated[
        str | None,
        Field(
            max_length=256,
            description="Only customers whose email or name contains this text, ignoring case, or whose "
            "external id starts with it.",
        ),
    ] = None
    metadata: Annotated[list[MetadataFilter] | None, Field(max_length=50)] = None
    sorting: Annotated[
        list[CustomerSorting] | None,
        Field(max_length=8, description="The sort keys in order; the default is `-created_at`."),
    ] = None
