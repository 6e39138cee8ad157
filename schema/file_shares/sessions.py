"""File-share sessions: from a visitor's opening of a share to the completion or expiry."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import strawberry
from pydantic import Field

from oauth.scopes import Scope
from schema.customers.members import ExternalId
from schema.file_shares.links import OfShareAndCustomer
from schema.kit.base import Input, Resource, graphql_input, graphql_type
from schema.kit.fields import IdOrNone, ModifiedAt, WorkspaceId, WorkspaceIdFilter, WorkspaceIdInput
from schema.kit.links import list_link
from schema.kit.pages import Page
from schema.kit.ranges import RangeQuery
from schema.kit.sorting import ResourceSorting
from schema.shares.prices import LARGEST_AMOUNT
from schema.values.scalars import Id, Moment, MomentInput
from schema.values.units import Money, MoneyInput, Size, SizeInput
from storage.enums import Currency, FileShareSessionStatus

strawberry.enum(FileShareSessionStatus)

MinorUnits = Annotated[
    MoneyInput, Field(ge=0, le=LARGEST_AMOUNT, description="An amount in minor units of the currency.")
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
ShareIds = Annotated[
    list[Id] | None, Field(max_length=100, description="Only what happened with these shares.")
]
ShareIdsOrNone = Annotated[
    list[IdOrNone] | None,
    Field(max_length=100, description="Only what happened with these shares; `none`: without a share."),
]
OtherShareIds = Annotated[
    list[IdOrNone] | None,
    Field(max_length=100, description="Nothing that happened with these shares; `none`: only with a share."),
]
CustomerIds = Annotated[
    list[IdOrNone] | None,
    Field(max_length=100, description="Only what these customers did; `none`: what no customer did."),
]
OtherCustomerIds = Annotated[
    list[IdOrNone] | None,
    Field(max_length=100, description="Nothing that these customers did; `none`: only what customers did."),
]
ExternalCustomerIdFilter = Annotated[
    str | None,
    Field(
        max_length=256,
        description="Only what the customer or person with this id in the caller's system did, as metrics "
        "count it: also before the customer had the id.",
    ),
]
ReportedIdFilter = Annotated[
    list[ExternalId] | None,
    Field(max_length=100, description="Only those with these ids in the caller's system."),
]
ListPriceInput = Annotated[
    MinorUnits | None, Field(description="The list price in minor units; null or 0 for a free session.")
]
ListPriceCurrencyInput = Annotated[
    Currency | None, Field(description="The currency of the price; the default is the workspace's currency.")
]
FileSizeInput = Annotated[SizeInput, Field(ge=0, description="The size of the share's files, in bytes.")]


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
    price_amount: Annotated[Money | None, Field(description="The list price in minor units.")]
    price_currency: Currency | None
    file_size_bytes: Size
    download_count: int
    first_download_at: Moment | None
    ended_at: Annotated[Moment | None, Field(description="The time of completion or expiry.")]


@graphql_type
class FileShareSession(FileShareSessionBase, OfShareAndCustomer):
    """One visitor's session with a share: opened, downloaded, then completed or expired."""

    @list_link(Scope.FILE_SHARE_SESSIONS_READ)
    def downloads(
        self,
    ) -> Annotated["FileShareDownloadPage", strawberry.lazy("schema.file_shares.downloads")] | None:  # type: ignore[name-defined]  # noqa: F821
        """The session's downloads, latest first.

        `fileShareDownloads(fileShareSessionId)` lists them too.
        """

    @list_link(Scope.FILE_SHARE_SESSIONS_READ)
    def payments(
        self,
    ) -> Annotated["FileSharePaymentPage", strawberry.lazy("schema.file_shares.payments")] | None:  # type: ignore[name-defined]  # noqa: F821
        """The session's payments, latest first.

        `fileSharePayments(fileShareSessionId)` lists them too.
        """

    @list_link(Scope.FILE_SHARE_SESSIONS_READ)
    def refunds(
        self,
    ) -> Annotated["FileShareRefundPage", strawberry.lazy("schema.file_shares.payments")] | None:  # type: ignore[name-defined]  # noqa: F821
        """The refunds of the session's payments, latest first.

        `fileShareRefunds(fileShareSessionId)` lists them too.
        """


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


@strawberry.enum
class FileShareSessionMetric(StrEnum):
    """A metric that counts sessions."""

    FILE_SHARE_SESSIONS = "file_share_sessions"
    FILE_SHARE_FREE_SESSIONS = "file_share_free_sessions"
    FILE_SHARE_PAID_SESSIONS = "file_share_paid_sessions"
    FILE_SHARE_ACTIVE_SESSIONS = "file_share_active_sessions"
    FILE_SHARE_COMPLETED_SESSIONS = "file_share_completed_sessions"
    FILE_SHARE_EXPIRED_SESSIONS = "file_share_expired_sessions"
    FILE_SHARE_PAYMENT_CONVERSION = "file_share_payment_conversion"


class CountedSessions(NamedTuple):
    """The sessions that a metric counts between two instants; a side without one is open."""

    metric: FileShareSessionMetric
    begins: datetime | None
    ends: datetime | None


class FileShareSessionQuery(RangeQuery):
    """The arguments of the list of file-share sessions. Its dates are those of `created_at`."""

    workspace_id: WorkspaceIdFilter = None
    share_id: ShareIdsOrNone = None
    share_id_not: OtherShareIds = None
    customer_id: CustomerIds = None
    customer_id_not: OtherCustomerIds = None
    external_customer_id: ExternalCustomerIdFilter = None
    external_id: ReportedIdFilter = None
    metric: Annotated[
        FileShareSessionMetric | None,
        Field(
            description="Only the sessions that this metric counts in the range of dates: those completed or "
            "expired then, or active at its end; of the conversion, those created then with a price that "
            "have a payment."
        ),
    ] = None
    currency: Annotated[
        list[Currency] | None,
        Field(max_length=10, description="Only sessions with a price in these currencies."),
    ] = None
    status: Annotated[
        list[FileShareSessionStatus] | None,
        Field(max_length=4, description="Only sessions with one of these statuses."),
    ] = None
    sorting: Annotated[
        list[ResourceSorting] | None,
        Field(max_length=4, description="The sort keys in order; the default is `-created_at`."),
    ] = None

    def sent(self) -> dict[str, Any]:
        """With a metric, which counts other moments than `created_at`, it stands for the dates too."""
        sent = super().sent()
        if self.metric is not None:
            sent["metric"] = CountedSessions(
                self.metric, sent.pop("start_date", None), sent.pop("end_date", None)
            )
        return sent
