"""The customer portal: the customer's own data, and what the workspace offers to everyone."""

from collections.abc import Mapping
from typing import Annotated, ClassVar
from uuid import UUID

import strawberry
from pydantic import BaseModel, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from schema.customers.addresses import BillingAddressInput
from schema.customers.customers import CustomerProfile, LanguageInput
from schema.customers.members import Member, MemberEmail, PersonNameInput, Role
from schema.file_shares.sessions import FileShareSessionBase, ShareIds
from schema.files.files import File
from schema.kit.base import Input, Output, Resource, Update, graphql_input, graphql_type
from schema.kit.fields import CreatedAt, is_absent
from schema.kit.pages import ListQuery, SortedByCreation
from schema.kit.sorting import CreatedAtSorting
from schema.portal.files import PortalFile
from schema.shares.shares import ShareOffer, ShareSorting
from schema.values.scalars import Email, Id, Moment
from schema.values.units import Money
from schema.workspaces.settings import CustomerPortalSettings
from schema.workspaces.workspaces import LANGUAGE, IsTest
from storage.enums import Currency, Language, MemberRole

MOST_DOWNLOADS = 100


class PortalAddress(Input):
    """The recipient of a code: an email in one workspace."""

    email: Annotated[Email, Field(description="The email of the customer or of one of its members.")]
    slug: Annotated[str | None, Field(max_length=128, description="The workspace's slug.")] = None
    workspace_id: Annotated[
        Id | None, Field(validate_default=True, description="The workspace's id; required without `slug`.")
    ] = None

    @field_validator("workspace_id")
    @classmethod
    def _check_workspace(cls, id: UUID | None, info: ValidationInfo) -> UUID | None:
        if "slug" not in info.data:
            return id
        if id is None and info.data["slug"] is None:
            raise PydanticCustomError("missing", "Send workspace_id or slug")
        if id is not None and info.data["slug"] is not None:
            raise PydanticCustomError("conflict", "Send workspace_id or slug, not both")
        return id


@graphql_input
class PortalCodeRequest(PortalAddress):
    """The recipient of a new code."""


@graphql_input
class PortalAuthentication(PortalAddress):
    """A code, with the email and the workspace that it was sent for."""

    code: Annotated[
        str,
        Field(min_length=1, max_length=64, description="The 6 characters; case and spaces are ignored."),
    ]
    customer_id: Annotated[
        Id | None, Field(description="The chosen customer, if the previous answer listed `choices`.")
    ] = None


@graphql_type
class PortalChoice(Output):
    """A customer whose portal the email gives access to."""

    customer_id: Id
    customer_name: str | None
    customer_email: Annotated[str, Field(description="The customer's own email.")]
    member_id: Annotated[Id | None, Field(description="The member that the session would belong to.")]


@graphql_type
class PortalToken(Output):
    """The token of a new customer session, or the customers to choose from."""

    token: Annotated[
        str | None,
        Field(description="The customer access token, only in this answer; null until a customer is chosen."),
    ] = None
    expires_at: Annotated[
        Moment | None, Field(description="The time of the token's expiry; null until a customer is chosen.")
    ] = None
    choices: Annotated[
        list[PortalChoice],
        Field(description="The customers to choose from; empty if there is a token."),
    ]


@graphql_type
class PortalWorkspace(Output):
    """The portal's workspace, as its customers see it."""

    id: Id
    name: str
    slug: str
    avatar_url: str | None
    email: Annotated[str | None, Field(description="The public support email.")]
    website: str | None
    default_presentment_currency: Currency
    customer_portal_settings: CustomerPortalSettings
    is_test: IsTest = None
    language: Annotated[Language | None, LANGUAGE, Field(exclude_if=is_absent)] = None


@graphql_type
class PortalSession(Resource):
    """The customer session of the token."""

    created_at: CreatedAt
    expires_at: Moment
    return_url: Annotated[
        str | None,
        Field(
            description="The target of the portal's back button; null if the workspace no longer allows its "
            "scheme."
        ),
    ]
    customer_id: Id
    member: Annotated[Member | None, Field(description="The member that the session belongs to, if any.")]
    workspace: PortalWorkspace


@graphql_type
class PortalCustomer(CustomerProfile):
    """The customer that the session belongs to."""


@graphql_input
class PortalCustomerUpdate(Update):
    """Changes to the customer.

    Fields left out keep their values; null clears `name` and `language`, and empties `billing_address`, which
    is replaced as a whole.
    """

    clears: ClassVar[frozenset[str]] = frozenset({"name", "language"})
    empties: ClassVar[Mapping[str, type]] = {"billing_address": dict}
    reads: ClassVar[type[BaseModel] | None] = PortalCustomer

    name: strawberry.Maybe[PersonNameInput]
    language: strawberry.Maybe[LanguageInput]
    billing_address: strawberry.Maybe[BillingAddressInput | None]


@graphql_type
class PortalShare(ShareOffer):
    """A public share of the customer's workspace."""


class PortalShareQuery(ListQuery):
    """The arguments of the portal's list of shares."""

    query: Annotated[
        str | None,
        Field(max_length=256, description="Only shares whose name contains this text, ignoring case."),
    ] = None
    sorting: Annotated[
        list[ShareSorting] | None,
        Field(max_length=8, description="The sort keys in order; the default is `-created_at`."),
    ] = None


@graphql_type
class PortalDownload(Output):
    """A download in a session."""

    id: Id
    at: Moment


@graphql_type
class PortalRefund(Output):
    """A refund, in the currency of its payment."""

    id: Id
    amount: Annotated[Money, Field(description="The amount in minor units.")]
    at: Moment


@graphql_type
class PortalPayment(Output):
    """A payment of the customer for a session."""

    id: Id
    amount: Annotated[Money, Field(description="The amount in minor units.")]
    currency: Currency
    at: Moment
    refunded_amount: Annotated[Money, Field(description="The sum of the refunds, in minor units.")]
    refunds: Annotated[list[PortalRefund], Field(description="The refunds, earliest first.")]


@graphql_type
class PortalFileShareSession(FileShareSessionBase):
    """A session of the customer with a share."""

    share_name: Annotated[str | None, Field(description="The name of the share, also if it is archived.")]
    share_description: Annotated[str | None, Field(description="The text of the share.")]
    share_medias: Annotated[list[File], Field(description="The images of the share.")]
    left_to_pay: Annotated[
        Money,
        Field(
            description="What is left to pay, in minor units of `price_currency`: the price, or the minimum "
            "of a price that the buyer chooses, less what was paid in this currency and not refunded."
        ),
    ]
    can_download: Annotated[
        bool,
        Field(
            description="Whether the customer can download the files now: nothing is left to pay, and the "
            "session did not expire."
        ),
    ]
    files: Annotated[list[PortalFile], Field(description="The files of the share now, in order.")]
    downloads: Annotated[
        list[PortalDownload],
        Field(
            description=f"The latest {MOST_DOWNLOADS} downloads, latest first; `download_count` is the "
            "number of all."
        ),
    ]
    payments: Annotated[list[PortalPayment], Field(description="The payments, earliest first.")]


class PortalFileShareSessionQuery(ListQuery):
    """The arguments of the portal's list of sessions."""

    share_id: ShareIds = None
    sorting: Annotated[
        list[CreatedAtSorting] | None,
        Field(max_length=2, description="The sort keys in order; the default is `-created_at`."),
    ] = None


class PortalMemberQuery(ListQuery):
    """The arguments of the portal's list of members."""

    sorting: SortedByCreation = None


@graphql_input
class PortalMemberCreate(Input):
    """A new member of the customer's team."""

    email: MemberEmail
    name: PersonNameInput = None
    role: Role = MemberRole.MEMBER


@graphql_input
class PortalMemberUpdate(Update):
    """Changes to a member. Fields left out keep their values; null clears `name`."""

    clears: ClassVar[frozenset[str]] = frozenset({"name"})
    reads: ClassVar[type[BaseModel] | None] = Member

    email: strawberry.Maybe[MemberEmail | None]
    name: strawberry.Maybe[PersonNameInput]
    role: strawberry.Maybe[Role | None]
