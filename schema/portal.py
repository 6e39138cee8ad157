"""The customer portal, as customers see it: their own data, and what their workspace shows to everyone."""

from typing import Annotated, ClassVar
from uuid import UUID

import strawberry
from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from schema.addresses import BillingAddressInput
from schema.base import Input, Output, Resource, Update, graphql_input, graphql_type
from schema.customers import CustomerProfile
from schema.fields import CreatedAt
from schema.file_share_sessions import FileShareSessionBase
from schema.members import Member, MemberEmail, PersonNameInput, Role
from schema.pages import ListQuery, SortedByCreation
from schema.scalars import Email, Id, Moment
from schema.shares import ShareOffer, ShareSorting
from schema.sorting import CreatedAtSorting
from schema.workspace_settings import CustomerPortalSettings
from storage.enums import Currency, MemberRole

MOST_DOWNLOADS = 100


class PortalDoor(Input):
    """Whom a code is for: an e-mail address in one workspace."""

    email: Annotated[Email, Field(description="The customer's address, or one of its members'.")]
    slug: Annotated[str | None, Field(max_length=128, description="The workspace's slug.")] = None
    workspace_id: Annotated[
        Id | None, Field(validate_default=True, description="The workspace; needed unless `slug` is given.")
    ] = None

    @field_validator("workspace_id")
    @classmethod
    def _check_workspace(cls, id: UUID | None, info: ValidationInfo) -> UUID | None:
        if "slug" not in info.data:
            return id
        if id is None and info.data["slug"] is None:
            raise PydanticCustomError("missing", "Name the workspace: workspace_id or slug")
        if id is not None and info.data["slug"] is not None:
            raise PydanticCustomError("conflict", "Send workspace_id or slug, not both")
        return id


@graphql_input
class PortalCodeRequest(PortalDoor):
    """Whom to mail a code."""


@graphql_input
class PortalAuthentication(PortalDoor):
    """A code with the address and the workspace that it was mailed for."""

    code: Annotated[
        str,
        Field(min_length=1, max_length=64, description="The 6 characters, in any case; spaces do not count."),
    ]
    customer_id: Annotated[
        Id | None, Field(description="Whose portal is meant, where the answer before listed `choices`.")
    ] = None


@graphql_type
class PortalChoice(Output):
    """A customer whose portal the address opens."""

    customer_id: Id
    customer_name: str | None
    customer_email: Annotated[str, Field(description="The customer's own address.")]
    member_id: Annotated[Id | None, Field(description="The member whose session it would be.")]


@graphql_type
class PortalToken(Output):
    """A new customer session, whose token is shown only here; or the customers to choose from."""

    token: Annotated[
        str | None, Field(description="The customer access token; null while a choice is missing.")
    ] = None
    expires_at: Annotated[Moment | None, Field(description="When the token ends.")] = None
    choices: Annotated[
        list[PortalChoice],
        Field(description="Whose portal can be meant; empty once there is a token."),
    ]


@graphql_type
class PortalWorkspace(Output):
    """What a customer sees of the workspace whose portal it is in."""

    id: Id
    name: str
    slug: str
    avatar_url: str | None
    email: Annotated[str | None, Field(description="The public address of its support.")]
    website: str | None
    default_presentment_currency: Currency
    customer_portal_settings: CustomerPortalSettings


@graphql_type
class PortalSession(Resource):
    """The customer session that the token is of."""

    created_at: CreatedAt
    expires_at: Moment
    return_url: Annotated[str | None, Field(description="Where the portal's back button leads.")]
    customer_id: Id
    member: Annotated[Member | None, Field(description="Whose it is, where it is one member's.")]
    workspace: PortalWorkspace


@graphql_type
class PortalCustomer(CustomerProfile):
    """The customer whose session it is."""


@graphql_input
class PortalCustomerUpdate(Update):
    """A field left out keeps its value. Null clears `name`; the address is replaced as a whole."""

    clears: ClassVar[frozenset[str]] = frozenset({"name"})

    name: strawberry.Maybe[PersonNameInput]
    billing_address: strawberry.Maybe[BillingAddressInput | None]


@graphql_type
class PortalShare(ShareOffer):
    """A share that the customer's workspace offers to everyone."""


class PortalShareQuery(ListQuery):
    """The filters of the portal's list of shares."""

    query: Annotated[str | None, Field(max_length=256, description="A part of the name, in any case.")] = None
    sorting: Annotated[
        list[ShareSorting] | None, Field(max_length=6, description="The default is `-created_at`.")
    ] = None


@graphql_type
class PortalDownload(Output):
    id: Id
    at: Moment


@graphql_type
class PortalRefund(Output):
    """Money given back, in the currency of its payment."""

    id: Id
    amount: Annotated[int, Field(description="In minor units.")]
    at: Moment


@graphql_type
class PortalPayment(Output):
    """Money that the customer paid for a session."""

    id: Id
    amount: Annotated[int, Field(description="In minor units.")]
    currency: Currency
    at: Moment
    refunded_amount: Annotated[int, Field(description="What its refunds have given back so far.")]
    refunds: Annotated[list[PortalRefund], Field(description="The earliest first.")]


@graphql_type
class PortalFileShareSession(FileShareSessionBase):
    """The customer's own way with a share."""

    share_name: Annotated[str | None, Field(description="The share's, also once it is archived.")]
    downloads: Annotated[
        list[PortalDownload],
        Field(description=f"The latest first, {MOST_DOWNLOADS} at most; `download_count` counts them all."),
    ]
    payments: Annotated[list[PortalPayment], Field(description="The earliest first.")]


class PortalFileShareSessionQuery(ListQuery):
    """The order of the portal's list of sessions."""

    sorting: Annotated[
        list[CreatedAtSorting] | None, Field(max_length=2, description="The default is `-created_at`.")
    ] = None


class PortalMemberQuery(ListQuery):
    """The order of the portal's list of members."""

    sorting: SortedByCreation = None


@graphql_input
class PortalMemberCreate(Input):
    """A new member of the customer's team."""

    email: MemberEmail
    name: PersonNameInput = None
    role: Role = MemberRole.MEMBER


@graphql_input
class PortalMemberUpdate(Update):
    """A field left out keeps its value; null clears `name`."""

    clears: ClassVar[frozenset[str]] = frozenset({"name"})

    email: strawberry.Maybe[MemberEmail | None]
    name: strawberry.Maybe[PersonNameInput]
    role: strawberry.Maybe[Role | None]
