"""Customers, as callers see them: the people and teams that a workspace does business with."""

from typing import Annotated, Any, ClassVar

import strawberry
from pydantic import Field

from oauth.scopes import Scope
from schema.addresses import BillingAddress, BillingAddressInput
from schema.base import Input, Resource, Update, graphql_input, graphql_type
from schema.fields import CreatedAt, ModifiedAt, WorkspaceId, WorkspaceIdFilter, WorkspaceIdInput, is_absent
from schema.links import link, load, selects
from schema.members import ExternalId, Member, MemberExternalId, PersonName, PersonNameInput
from schema.metadata import Metadata, MetadataFilter, MetadataPairs
from schema.pages import COUNTED, ListQuery, check_page
from schema.scalars import Email, Moment
from schema.sorting import Sorting
from schema.workspaces import Workspace
from storage.enums import CustomerType

strawberry.enum(CustomerType)

CustomerEmail = Annotated[Email, Field(description="Unique in the workspace, in any case.")]
CustomerExternalId = Annotated[
    ExternalId | None,
    Field(description="Its id in the caller's system: unique in the workspace, and fixed once set."),
]
TypeField = Annotated[CustomerType, Field(description="An individual can become a team; a team stays one.")]


class CustomerProfile(Resource):
    """What a customer and its workspace both see of it."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    external_id: CustomerExternalId
    email: Annotated[str, Field(description="Unique in the workspace, in any case.")]
    email_verified: Annotated[
        bool, Field(description="Whether someone has entered the portal with this address.")
    ]
    name: PersonName
    billing_address: BillingAddress
    workspace_id: WorkspaceId
    avatar_url: Annotated[str, Field(description="The e-mail address's image at Gravatar.")]
    type: Annotated[
        CustomerType | None, Field(description="Null on customers of old times counts as individual.")
    ]


@graphql_type
class Customer(CustomerProfile):
    """A person or a team that a workspace does business with."""

    metadata: MetadataPairs
    deleted_at: Annotated[
        Moment | None, Field(description="When it was deleted; only events still show it then.")
    ]
    members: Annotated[
        strawberry.Private[list[Member] | None],
        Field(
            description="Everyone who acts for it, the oldest first. Left out of lists, sessions and events.",
            exclude_if=is_absent,
        ),
    ] = None

    @strawberry.pydantic.field(name="members", description="Everyone who acts for it, the oldest first.")
    async def all_members(self, info: strawberry.Info) -> list[Member]:
        if self.members is not None:
            return self.members
        found: list[Member] = await load(info, "members", (self.workspace_id, self.id))
        return found

    @strawberry.pydantic.field(
        name="etag", description="Changes with every change of the resource; for `ifMatch`."
    )
    async def etag(self, info: strawberry.Info) -> str:  # type: ignore[override]
        whole = self.model_copy(update={"members": await self.all_members(info)})
        return whole.etag_text()

    @link(Scope.WORKSPACES_READ)
    async def workspace(self, info: strawberry.Info) -> Workspace:
        """The workspace that the customer belongs to."""
        found: Workspace = await load(info, "workspace", self.workspace_id)
        return found

    @link(Scope.EVENTS_READ)
    async def events(
        self, info: strawberry.Info, limit: int = 10, page: int = 1
    ) -> Annotated["EventPage", strawberry.lazy("schema.events")]:  # type: ignore[name-defined]  # noqa: F821
        """The customer's events, the newest first.

        `nextCursor` continues in the field `events(customerId)`.
        """
        check_page(limit, page)
        key = (self.workspace_id, self.id, limit, page, selects(info, *COUNTED))
        found: Any = await load(info, "customer_events", key)
        return found

    @link(Scope.FILE_SHARE_SESSIONS_READ)
    async def file_share_sessions(
        self, info: strawberry.Info, limit: int = 10, page: int = 1
    ) -> Annotated["FileShareSessionPage", strawberry.lazy("schema.file_share_sessions")]:  # type: ignore[name-defined]  # noqa: F821
        """The customer's file-share sessions, the newest first.

        `nextCursor` continues in the field `fileShareSessions(customerId)`.
        """
        check_page(limit, page)
        key = (self.workspace_id, self.id, limit, page, selects(info, *COUNTED))
        found: Any = await load(info, "customer_file_share_sessions", key)
        return found


@graphql_input
class OwnerInput(Input):
    """The first member of a new customer; what is left out is the customer's own."""

    email: Annotated[Email | None, Field(description="The default is the customer's.")] = None
    name: Annotated[PersonNameInput, Field(description="The default is the customer's.")] = None
    external_id: MemberExternalId = None


@graphql_input
class CustomerCreate(Input):
    """A new customer with its owner."""

    email: CustomerEmail
    metadata: Metadata = Field(default_factory=lambda: MetadataPairs({}))
    external_id: CustomerExternalId = None
    name: PersonNameInput = None
    billing_address: BillingAddressInput | None = None
    type: Annotated[CustomerType | None, Field(description="Null means the default, `individual`.")] = (
        CustomerType.INDIVIDUAL
    )
    owner: Annotated[
        OwnerInput | None, Field(description="By default the customer's own address and name.")
    ] = None
    workspace_id: WorkspaceIdInput = None


@graphql_input
class CustomerUpdate(Update):
    """A field left out keeps its value. Null clears `name`; metadata and address are replaced as a whole."""

    clears: ClassVar[frozenset[str]] = frozenset({"name", "external_id"})

    metadata: strawberry.Maybe[Metadata | None]
    email: strawberry.Maybe[CustomerEmail | None]
    name: strawberry.Maybe[PersonNameInput]
    billing_address: strawberry.Maybe[BillingAddressInput | None]
    external_id: strawberry.Maybe[CustomerExternalId]
    type: strawberry.Maybe[TypeField | None]


class CustomerSorting(Sorting, keys=("created_at", "email", "name")): ...


class CustomerQuery(ListQuery):
    """The filters of a list of customers."""

    workspace_id: WorkspaceIdFilter = None
    email: Annotated[str | None, Field(max_length=320, description="The whole address, in any case.")] = None
    query: Annotated[
        str | None,
        Field(
            max_length=256,
            description="A part of the e-mail address or name, in any case, or the start of the external id.",
        ),
    ] = None
    metadata: Annotated[list[MetadataFilter] | None, Field(max_length=50)] = None
    sorting: Annotated[
        list[CustomerSorting] | None, Field(max_length=6, description="The default is `-created_at`.")
    ] = None
