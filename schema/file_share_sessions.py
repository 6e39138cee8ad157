"""File-share sessions: from a visitor's opening of a share to the completion or expiry."""

from typing import Annotated

import strawberry
from pydantic import Field

from oauth.scopes import Scope
from schema.base import Input, Resource, graphql_input, graphql_type
from schema.customers import Customer
from schema.fields import ModifiedAt, WorkspaceId, WorkspaceIdFilter, WorkspaceIdInput
from schema.links import RowKey, link, load
from schema.members import ExternalId
from schema.pages import ListQuery, Page
from schema.prices import LARGEST_AMOUNT
from schema.scalars import Id, Int, Long, LongInt, Moment, MomentInput
from schema.shares import Share
from schema.sorting import CreatedAtSorting
from storage.enums import Currency, FileShareSessionStatus

strawberry.enum(FileShareSessionStatus)

MinorUnits = Annotated[
    Int, Field(ge=0, le=LARGEST_AMOUNT, description="An amount in minor units of the currency.")
]
ReportedId = Annotated[
    ExternalId | None,
    Field(
        description="The id in the caller's system, unique in the workspace; a repeated id changes nothing."
    ),
]
ReportedMoment = Annotated[
    MomentInput | None,
    Field(description="The time of occurrence; the default is now. At most 5 minutes in the future."),
]
ShareIdInput = Annotated[Id | None, Field(description="The share that the session is about.")]
CustomerIdInput = Annotated[Id | None, Field(description="The customer that the session belongs to.")]
ExternalCustomerIdInput = Annotated[
    ExternalId | None,
    Field(
        description="The id, in the caller's system, of the customer or other person that the session "
        "belongs to. Together with `customer_id` it must name the same person."
    ),
]
ListPriceInput = Annotated[
    MinorUnits | None, Field(description="The list price in minor units; null or 0 for a free session.")
]
ListPriceCurrencyInput = Annotated[
    Currency | None, Field(description="The currency of the price; the default is the workspace's currency.")
]
FileSizeInput = Annotated[LongInt, Field(ge=0, description="The size of the share's files, in bytes.")]


class FileShareSessionBase(Resource):
    """The fields of a session that its customer sees too."""

    created_at: Annotated[Moment, Field(description="The time of the session's beginning.")]
    modified_at: ModifiedAt
    workspace_id: WorkspaceId
    external_id: Annotated[str | None, Field(description="The id in the caller's system.")]
    share_id: Id | None
    customer_id: Id | None
    external_customer_id: Annotated[
        str | None,
        Field(description="The id, in the caller's system, of the person that the session belongs to."),
    ]
    status: Annotated[
        FileShareSessionStatus,
        Field(description="`active` from the first download until the session is `completed` or `expired`."),
    ]
    price_amount: Annotated[int | None, Field(description="The list price in minor units.")]
    price_currency: Currency | None
    file_size_bytes: Long
    download_count: int
    first_download_at: Moment | None
    ended_at: Annotated[Moment | None, Field(description="The time of completion or expiry.")]


@graphql_type
class FileShareSession(FileShareSessionBase):
    """One visitor's session with a share: opened, downloaded, then completed or expired."""

    @link(Scope.SHARES_READ)
    async def share(self, info: strawberry.Info) -> Share | None:
        """The share that the session is about."""
        if self.share_id is None:
            return None
        share: Share | None = await load(info, "share", RowKey(self.workspace_id, self.share_id))
        return share

    @link(Scope.CUSTOMERS_READ)
    async def customer(self, info: strawberry.Info) -> Customer | None:
        """The customer that the session belongs to; null if deleted."""
        if self.customer_id is None:
            return None
        customer: Customer | None = await load(info, "customer", RowKey(self.workspace_id, self.customer_id))
        return customer


FileShareSessionPage = Page[FileShareSession]


@graphql_input
class FileShareSessionCreate(Input):
    """A new session. With `created_at`, it is a past session, which an archived share can have too."""

    file_size_bytes: FileSizeInput
    external_id: ReportedId = None
    share_id: ShareIdInput = None
    customer_id: CustomerIdInput = None
    external_customer_id: ExternalCustomerIdInput = None
    price_amount: ListPriceInput = None
    price_currency: ListPriceCurrencyInput = None
    created_at: Annotated[
        MomentInput | None,
        Field(
            description="The time of the session's beginning; the default is now. At most 5 minutes in the "
            "future."
        ),
    ] = None
    workspace_id: WorkspaceIdInput = None


@graphql_input
class FileShareDownloadCreate(Input):
    """A download, between the session's beginning and end."""

    external_id: ReportedId = None
    at: ReportedMoment = None


@graphql_input
class FileShareSessionEnd(Input):
    """The end of a session, not before its beginning or its last download."""

    at: ReportedMoment = None


class FileShareSessionQuery(ListQuery):
    """The arguments of the list of file-share sessions."""

    workspace_id: WorkspaceIdFilter = None
    share_id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only sessions of these shares.")
    ] = None
    customer_id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only sessions of these customers.")
    ] = None
    status: Annotated[
        list[FileShareSessionStatus] | None,
        Field(max_length=4, description="Only sessions with one of these statuses."),
    ] = None
    sorting: Annotated[
        list[CreatedAtSorting] | None,
        Field(max_length=2, description="The sort keys in order; the default is `-created_at`."),
    ] = None
