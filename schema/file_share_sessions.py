"""File-share sessions, as callers see and report them: one buyer's or visitor's way with one share."""

from typing import Annotated

import strawberry
from pydantic import Field

from oauth.scopes import Scope
from schema.base import Input, Resource, graphql_input, graphql_type
from schema.customers import Customer
from schema.fields import ModifiedAt, WorkspaceId, WorkspaceIdFilter, WorkspaceIdInput
from schema.links import link, load
from schema.members import ExternalId
from schema.pages import ListQuery, Page
from schema.prices import LARGEST_AMOUNT
from schema.scalars import Id, Int, Long, LongInt, Moment, MomentInput
from schema.shares import Share
from schema.sorting import CreatedAtSorting
from storage.enums import Currency, FileShareSessionStatus

strawberry.enum(FileShareSessionStatus)

MinorUnits = Annotated[Int, Field(ge=0, le=LARGEST_AMOUNT, description="In minor units of the currency.")]
ReportedId = Annotated[
    ExternalId | None,
    Field(description="Its id in the caller's system, unique in the workspace: a repeat changes nothing."),
]
ReportedMoment = Annotated[
    MomentInput | None,
    Field(description="When it happened; the default is now. At most 5 minutes ahead."),
]
ShareIdInput = Annotated[Id | None, Field(description="The share that it is about.")]
CustomerIdInput = Annotated[Id | None, Field(description="The customer whose session it is.")]
ExternalCustomerIdInput = Annotated[
    ExternalId | None,
    Field(
        description="Whose session it is by the caller's own id: a customer's, or of anyone else. Together "
        "with `customer_id` it must name the same person."
    ),
]
ListPriceInput = Annotated[
    MinorUnits | None, Field(description="The list price in minor units; none, or 0, is a free session.")
]
ListPriceCurrencyInput = Annotated[
    Currency | None, Field(description="The default for a session with a price is the workspace's currency.")
]
FileSizeInput = Annotated[LongInt, Field(ge=0, description="What the share's files weigh, in bytes.")]


class FileShareSessionBase(Resource):
    """What a session's customer and its workspace both see of it."""

    created_at: Annotated[Moment, Field(description="When it began.")]
    modified_at: ModifiedAt
    workspace_id: WorkspaceId
    external_id: Annotated[str | None, Field(description="Its id in the caller's system.")]
    share_id: Id | None
    customer_id: Id | None
    external_customer_id: Annotated[
        str | None, Field(description="Whose session it is, by the id in the caller's system.")
    ]
    status: Annotated[
        FileShareSessionStatus,
        Field(description="`active` from the first download on, until it is `completed` or `expired`."),
    ]
    price_amount: Annotated[int | None, Field(description="The list price in minor units.")]
    price_currency: Currency | None
    file_size_bytes: Long
    download_count: int
    first_download_at: Moment | None
    ended_at: Annotated[Moment | None, Field(description="When it was completed or expired.")]


@graphql_type
class FileShareSession(FileShareSessionBase):
    """One visitor's way with a share: from its opening over downloads to its completion or expiry."""

    @link(Scope.SHARES_READ)
    async def share(self, info: strawberry.Info) -> Share | None:
        """The share that it is about."""
        if self.share_id is None:
            return None
        found: Share | None = await load(info, "share", (self.workspace_id, self.share_id))
        return found

    @link(Scope.CUSTOMERS_READ)
    async def customer(self, info: strawberry.Info) -> Customer | None:
        """The customer whose session it is; null once it is deleted."""
        if self.customer_id is None:
            return None
        found: Customer | None = await load(info, "customer", (self.workspace_id, self.customer_id))
        return found


FileShareSessionPage = Page[FileShareSession]


@graphql_input
class FileShareSessionCreate(Input):
    """A session that begins. With `created_at` it is history, which an archived share may have too."""

    file_size_bytes: FileSizeInput
    external_id: ReportedId = None
    share_id: ShareIdInput = None
    customer_id: CustomerIdInput = None
    external_customer_id: ExternalCustomerIdInput = None
    price_amount: ListPriceInput = None
    price_currency: ListPriceCurrencyInput = None
    created_at: Annotated[
        MomentInput | None,
        Field(description="When it began; the default is now. At most 5 minutes ahead."),
    ] = None
    workspace_id: WorkspaceIdInput = None


@graphql_input
class FileShareDownloadCreate(Input):
    """A download: not before the session began, not after it ended."""

    external_id: ReportedId = None
    at: ReportedMoment = None


@graphql_input
class FileShareSessionEnd(Input):
    """The end of a session: not before it began, not before its last download."""

    at: ReportedMoment = None


class FileShareSessionQuery(ListQuery):
    """The filters of a list of file-share sessions."""

    workspace_id: WorkspaceIdFilter = None
    share_id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only sessions of these shares.")
    ] = None
    customer_id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only sessions of these customers.")
    ] = None
    status: Annotated[
        list[FileShareSessionStatus] | None, Field(max_length=4, description="Only in one of these states.")
    ] = None
    sorting: Annotated[
        list[CreatedAtSorting] | None, Field(max_length=2, description="The default is `-created_at`.")
    ] = None
