"""Shares: items, sold or free, with prices, images, files to download and custom fields."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

import strawberry
from pydantic import AfterValidator, BaseModel, Field

from oauth.scopes import Scope
from schema.files.files import File
from schema.kit.base import Input, Output, Resource, Update, graphql_input, graphql_type
from schema.kit.fields import (
    CreatedAt,
    ModifiedAt,
    WorkspaceId,
    WorkspaceIdFilter,
    WorkspaceIdInput,
    unique_ids,
)
from schema.kit.links import link
from schema.kit.metadata import Metadata, MetadataFilter, MetadataPairs
from schema.kit.pages import ChangesQuery
from schema.kit.sorting import Sorting
from schema.shares.custom_fields import CustomField
from schema.shares.prices import Price, PriceInput
from schema.values.names import NAMED_BY_3
from schema.values.scalars import Bool, Id
from schema.workspaces.workspaces import Workspace
from storage.enums import Visibility

strawberry.enum(Visibility)

ShareName = Annotated[
    str, Field(min_length=3, max_length=256, description="The name in the customer portal and in emails.")
]
ShareNameInput = Annotated[ShareName, NAMED_BY_3]
ShareDescription = Annotated[str | None, Field(max_length=65_536, description="The text below the name.")]
VisibilityField = Annotated[
    Visibility, Field(description="Who can find the share: only public shares are listed.")
]
IsArchived = Annotated[
    Bool, Field(description="Whether the share is archived: an archived share cannot be purchased.")
]
Prices = Annotated[
    list[PriceInput],
    Field(
        min_length=1,
        max_length=20,
        description="All prices of the share: at most one static price (fixed, custom or free). An `id` "
        "keeps a current price.",
    ),
]
Medias = Annotated[
    list[Id],
    Field(
        max_length=100,
        description="The ids of uploaded files with the service `product_media`, in order of display.",
    ),
    AfterValidator(unique_ids),
]

Downloads = Annotated[
    list[Id],
    Field(
        max_length=100,
        description="The ids of uploaded files with the service `downloadable`, in order of display: what "
        "customers download.",
    ),
    AfterValidator(unique_ids),
]


@graphql_type
class AttachedCustomField(Output):
    """A custom field in a share's form."""

    custom_field_id: Id
    custom_field: CustomField
    order: Annotated[int, Field(description="The position in the form, from 0.")]
    required: bool


@graphql_input
class AttachedCustomFieldInput(Input):
    """A custom field to attach. Its position in the list is its position in the form."""

    custom_field_id: Id
    required: Bool


AttachedCustomFields = Annotated[
    list[AttachedCustomFieldInput],
    Field(max_length=20, description="The custom fields of the share's form, at most 20, in order."),
]


class ShareOffer(Resource):
    """The fields of a share that everyone with access to it sees."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    name: ShareName
    description: ShareDescription
    visibility: VisibilityField
    is_archived: IsArchived
    workspace_id: WorkspaceId
    prices: list[Price]
    medias: list[File]


@graphql_type
class Share(ShareOffer):
    """An item that a workspace sells or gives away."""

    metadata: MetadataPairs
    downloads: Annotated[list[File], Field(description="The files that customers download once they may.")]
    attached_custom_fields: list[AttachedCustomField]

    @link(Scope.WORKSPACES_READ)
    def workspace(self) -> Workspace | None:
        """The workspace that owns the share."""


@graphql_input
class ShareCreate(Input):
    """A new share."""

    name: ShareNameInput
    prices: Prices
    metadata: Metadata = Field(default_factory=lambda: MetadataPairs({}))
    description: ShareDescription = None
    visibility: VisibilityField = Visibility.PUBLIC
    medias: Medias | None = None
    downloads: Downloads | None = None
    attached_custom_fields: AttachedCustomFields = Field(default=[])
    workspace_id: WorkspaceIdInput = None


@graphql_input
class ShareUpdate(Update):
    """Changes to a share.

    Fields left out keep their values; `metadata` and the lists are replaced as a whole. Null clears
    `description` and empties `metadata`, `medias`, `downloads` and `attached_custom_fields`.
    """

    clears: ClassVar[frozenset[str]] = frozenset({"description"})
    empties: ClassVar[Mapping[str, type]] = {
        "metadata": dict,
        "medias": list,
        "downloads": list,
        "attached_custom_fields": list,
    }
    reads: ClassVar[type[BaseModel] | None] = Share
    keys: ClassVar[Mapping[str, str]] = {
        "prices": "id",
        "medias": "id",
        "downloads": "id",
        "attached_custom_fields": "custom_field_id",
    }

    metadata: strawberry.Maybe[Metadata | None]
    name: strawberry.Maybe[ShareNameInput | None]
    description: strawberry.Maybe[ShareDescription]
    is_archived: strawberry.Maybe[IsArchived | None]
    visibility: strawberry.Maybe[VisibilityField | None]
    prices: strawberry.Maybe[Prices | None]
    medias: strawberry.Maybe[Medias | None]
    downloads: strawberry.Maybe[Downloads | None]
    attached_custom_fields: strawberry.Maybe[AttachedCustomFields | None]


class ShareSorting(Sorting, keys=("created_at", "modified_at", "name", "price_amount")): ...


class ShareQuery(ChangesQuery):
    """The arguments of the list of shares."""

    id: Annotated[list[Id] | None, Field(max_length=100, description="Only the shares with these ids.")] = (
        None
    )
    workspace_id: WorkspaceIdFilter = None
    query: Annotated[
        str | None,
        Field(max_length=256, description="Only shares whose name contains this text, ignoring case."),
    ] = None
    is_archived: Annotated[
        bool | None, Field(description="Only archived shares, or only those that are not.")
    ] = None
    visibility: Annotated[
        list[Visibility] | None, Field(max_length=3, description="Only shares with this visibility.")
    ] = None
    metadata: Annotated[list[MetadataFilter] | None, Field(max_length=50)] = None
    sorting: Annotated[
        list[ShareSorting] | None,
        Field(max_length=8, description="The sort keys in order; the default is `-created_at`."),
    ] = None
