"""Workspaces: the tenants that own all other resources."""

from typing import Annotated, Any, ClassVar

import strawberry
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from schema.kit.base import Input, Output, Resource, Update, graphql_input, graphql_type
from schema.kit.fields import CreatedAt, ModifiedAt, is_absent
from schema.kit.pages import ChangesQuery
from schema.kit.sorting import Sorting
from schema.values.app_links import AppSchemes
from schema.values.dates import ZONE_PATTERN, check_zone
from schema.values.names import NAMED_BY_3
from schema.values.scalars import Bool, Email, Moment, StoredEmail, Url
from schema.workspaces.settings import (
    CustomerEmailSettings,
    CustomerEmailSettingsInput,
    CustomerPortalSettings,
    CustomerPortalSettingsInput,
    FeatureSettings,
    FeatureSettingsInput,
    NotificationSettings,
    NotificationSettingsInput,
    WorkspaceDetailsInput,
)
from storage.enums import Currency, Language, WorkspaceStatus

strawberry.enum(Currency)
strawberry.enum(Language)
strawberry.enum(WorkspaceStatus)


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


WorkspaceName = Annotated[
    str,
    Field(
        min_length=3,
        max_length=256,
        description="The name in the customer portal and in emails.",
    ),
]
WorkspaceNameInput = Annotated[WorkspaceName, NAMED_BY_3]
WorkspaceSlug = Annotated[
    str,
    Field(
        min_length=3,
        max_length=128,
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$",
        json_schema_extra={"pattern": r"^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$"},
        description="The unique name in URLs and on card statements: lowercase letters and digits, in words "
        "joined by `-`. Uppercase letters are lowercased. It cannot be changed later.",
    ),
    BeforeValidator(_lower),
]
AvatarUrl = Annotated[Url | None, Field(description="The URL of the workspace's avatar.")]
_SUPPORT = Field(description="The public support email.")
PublicEmail = Annotated[Email | None, _SUPPORT]
Website = Annotated[Url | None, Field(description="The URL of the workspace's website.")]
DefaultCurrency = Annotated[Currency, Field(description="The currency where no other is given.")]


_SCHEMES = Field(
    description="The schemes of the workspace's apps, like `myapp`, that the `return_url` of a customer "
    "session may have besides http and https. REST leaves it out until it is set; null removes it."
)
_ZONE = Field(
    min_length=1,
    description="The IANA time zone of the workspace's dashboard and pages, which are in UTC without one. "
    "REST leaves it out until it is set; null removes it. Metrics and lists take theirs as an argument.",
    json_schema_extra={"pattern": ZONE_PATTERN},
)
TimeZone = Annotated[str, _ZONE, AfterValidator(check_zone)]
LANGUAGE = Field(
    description="The language of the portal and its emails for customers who chose none, and of invitations "
    "to people without an account; without one, the browser's. REST leaves it out until it is set; null "
    "removes it."
)
IsTest = Annotated[
    bool | None,
    Field(
        description="True for a test workspace, which is a copy of another; null for any other, and then "
        "left out by REST. It emails its own members only, and metrics of several workspaces leave it out.",
        exclude_if=is_absent,
    ),
]


@graphql_type
class Social(Output):
    """A link to a social profile."""

    url: str


@graphql_input
class SocialInput(Input):
    """A link to a social profile."""

    url: Url


Socials = Annotated[
    list[SocialInput], Field(max_length=50, description="The links to social profiles; replaced as a whole.")
]


class WorkspaceItem(Resource):
    """A workspace in the REST list, without its status and its default currency."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    name: WorkspaceName
    slug: str
    avatar_url: AvatarUrl
    email: Annotated[StoredEmail | None, _SUPPORT]
    website: Website
    socials: list[Social]
    details_submitted_at: Annotated[
        Moment | None,
        Field(description="The time the business details were first submitted; null if they were not."),
    ]
    feature_settings: FeatureSettings
    notification_settings: NotificationSettings
    customer_email_settings: CustomerEmailSettings
    customer_portal_settings: CustomerPortalSettings
    return_url_schemes: Annotated[list[str] | None, _SCHEMES, Field(exclude_if=is_absent)] = None
    timezone: Annotated[str | None, _ZONE, Field(exclude_if=is_absent)] = None
    language: Annotated[Language | None, LANGUAGE, Field(exclude_if=is_absent)] = None
    is_test: IsTest = None


@graphql_type
class Workspace(WorkspaceItem):
    """A tenant: the owner of shares, customers, files and events."""

    status: Annotated[
        WorkspaceStatus, Field(description="The state of the review, which only operators change.")
    ]
    default_presentment_currency: DefaultCurrency


@graphql_input
class WorkspaceCreate(Input):
    """A new workspace."""

    name: WorkspaceNameInput
    slug: WorkspaceSlug
    avatar_url: AvatarUrl = None
    email: PublicEmail = None
    website: Website = None
    socials: Socials = Field(default_factory=list)
    details: WorkspaceDetailsInput | None = None
    default_presentment_currency: DefaultCurrency = Currency.USD
    feature_settings: FeatureSettingsInput | None = None
    notification_settings: NotificationSettingsInput | None = None
    customer_email_settings: CustomerEmailSettingsInput | None = None
    customer_portal_settings: CustomerPortalSettingsInput | None = None
    return_url_schemes: Annotated[AppSchemes | None, _SCHEMES] = None
    timezone: TimeZone | None = None
    language: Annotated[Language | None, LANGUAGE] = None


@graphql_input
class WorkspaceCopy(Input):
    """The name and the slug of a copy, and what it has besides what the workspace sells."""

    name: Annotated[
        WorkspaceNameInput | None,
        Field(description="The copy's name; by default that of the workspace with ` (test)` after it."),
    ] = None
    slug: Annotated[
        WorkspaceSlug | None,
        Field(
            description="The copy's slug; by default that of the workspace with `-test-` and 8 characters."
        ),
    ] = None
    include_customers: Annotated[
        Bool,
        Field(description="Whether customers and their members are copied, with made-up emails and names."),
    ] = False
    include_history: Annotated[
        Bool,
        Field(
            description="Whether sessions, downloads, payments, refunds and events are copied too, and then "
            "customers: metrics are those of the workspace."
        ),
    ] = False


@graphql_input
class WorkspaceUpdate(Update):
    """Changes to a workspace.

    Fields left out keep their values; settings and `details` are merged, `socials` and `return_url_schemes`
    replaced.
    """

    clears: ClassVar[frozenset[str]] = frozenset(
        {"avatar_url", "email", "website", "return_url_schemes", "timezone", "language"}
    )
    reads: ClassVar[type[BaseModel] | None] = Workspace

    name: strawberry.Maybe[WorkspaceNameInput | None]
    avatar_url: strawberry.Maybe[AvatarUrl]
    email: strawberry.Maybe[PublicEmail]
    website: strawberry.Maybe[Website]
    socials: strawberry.Maybe[Socials | None]
    details: strawberry.Maybe[WorkspaceDetailsInput | None]
    default_presentment_currency: strawberry.Maybe[DefaultCurrency | None]
    feature_settings: strawberry.Maybe[FeatureSettingsInput | None]
    notification_settings: strawberry.Maybe[NotificationSettingsInput | None]
    customer_email_settings: strawberry.Maybe[CustomerEmailSettingsInput | None]
    customer_portal_settings: strawberry.Maybe[CustomerPortalSettingsInput | None]
    return_url_schemes: strawberry.Maybe[Annotated[AppSchemes | None, _SCHEMES]]
    timezone: strawberry.Maybe[TimeZone | None]
    language: strawberry.Maybe[Annotated[Language | None, LANGUAGE]]


class WorkspaceSorting(
    Sorting, keys=("created_at", "modified_at", "slug", "name", "next_review_threshold", "days_in_status")
): ...


class WorkspaceQuery(ChangesQuery):
    """The arguments of the list of workspaces."""

    slug: Annotated[str | None, Field(max_length=128, description="Only the workspace with this slug.")] = (
        None
    )
    name: Annotated[
        str | None,
        Field(max_length=256, description="Only workspaces whose name contains this text, ignoring case."),
    ] = None
    sorting: Annotated[
        list[WorkspaceSorting] | None,
        Field(max_length=12, description="The sort keys in order; the default is `created_at`."),
    ] = None
