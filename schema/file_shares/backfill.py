"""Histories of file-share sessions from before the caller reported sessions live."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from schema.customers.members import ExternalId
from schema.file_shares.payments import MOST_PAYMENTS, PlatformFee, RefundedFee
from schema.file_shares.sessions import (
    CustomerIdInput,
    ExternalCustomerIdInput,
    FileSizeInput,
    ListPriceCurrencyInput,
    ListPriceInput,
    MinorUnits,
    ReportedId,
    ShareIdInput,
)
from schema.kit.base import Input, Output, graphql_input, graphql_type
from schema.kit.fields import WorkspaceIdInput
from schema.values.scalars import Id, Int, MomentInput
from storage.enums import Currency

MOST_HISTORIES = 500
MOST_DOWNLOADS = 1_000

PastMoment = Annotated[
    MomentInput, Field(description="The time of occurrence, at most 5 minutes in the future.")
]
EndMoment = Annotated[
    MomentInput | None,
    Field(description="The time of this end. A session has at most one end."),
]


@graphql_input
class RefundHistory(Input):
    """A refund in a history."""

    amount: MinorUnits
    at: PastMoment
    platform_fee: RefundedFee = 0
    external_id: ReportedId = None


@graphql_input
class PaymentHistory(Input):
    """A payment in a history, with its refunds."""

    amount: MinorUnits
    currency: Currency
    at: PastMoment
    platform_fee: PlatformFee = 0
    external_id: ReportedId = None
    refunds: Annotated[list[RefundHistory], Field(max_length=MOST_PAYMENTS)] = Field(default=[])


@graphql_input
class FileShareSessionHistory(Input):
    """The history of one session: its beginning, downloads, payments and end."""

    external_id: Annotated[
        ExternalId,
        Field(
            description="The session's id in the caller's system; a stored id makes the history a duplicate."
        ),
    ]
    created_at: PastMoment
    file_size_bytes: FileSizeInput
    share_id: ShareIdInput = None
    customer_id: CustomerIdInput = None
    external_customer_id: ExternalCustomerIdInput = None
    price_amount: ListPriceInput = None
    price_currency: ListPriceCurrencyInput = None
    downloads: Annotated[
        list[PastMoment],
        Field(max_length=MOST_DOWNLOADS, description="The times of the downloads, in any order."),
    ] = Field(default=[])
    payments: Annotated[list[PaymentHistory], Field(max_length=MOST_PAYMENTS)] = Field(default=[])
    completed_at: EndMoment = None
    expired_at: EndMoment = None

    @field_validator("expired_at")
    @classmethod
    def _check_end(cls, moment: datetime | None, info: ValidationInfo) -> datetime | None:
        if moment is not None and info.data.get("completed_at") is not None:
            raise PydanticCustomError("conflict", "Send completed_at or expired_at, not both")
        return moment


@graphql_input
class FileShareSessionIngest(Input):
    """A batch of histories, stored as a whole or not at all."""

    sessions: Annotated[list[FileShareSessionHistory], Field(min_length=1, max_length=MOST_HISTORIES)]
    workspace_id: WorkspaceIdInput = None


@graphql_type
class FileShareSessionIngestResult(Output):
    """The outcome of a batch of histories."""

    inserted: Annotated[Int, Field(description="The number of new histories.")]
    duplicates: Annotated[
        Int,
        Field(
            description="The number of histories ignored because their `external_id` was stored before or is "
            "earlier in the batch."
        ),
    ]
    # By default empty, as in answers to an Idempotency-Key that were kept before there were ids.
    ids: Annotated[
        list[Id],
        Field(
            description="The ids of the sessions in the order in which they were sent; of an ignored one, "
            "the id of the session that was stored before."
        ),
    ] = Field(default_factory=list)
