"""Payments for file-share sessions, and their refunds."""

from typing import Annotated

from pydantic import Field

from schema.base import Input, Output, Resource, graphql_input, graphql_type
from schema.fields import CreatedAt
from schema.file_share_sessions import MinorUnits, ReportedId, ReportedMoment
from schema.scalars import Id, Moment
from storage.enums import Currency

PlatformFee = Annotated[MinorUnits, Field(description="The platform's share of the amount, in minor units.")]
RefundedFee = Annotated[
    MinorUnits, Field(description="The part of the platform fee that is refunded, in minor units.")
]


@graphql_type
class FileShareRefund(Output):
    """A refund, in the currency of its payment."""

    id: Id
    external_id: Annotated[str | None, Field(description="The id in the caller's system.")]
    amount: Annotated[int, Field(description="The amount in minor units.")]
    platform_fee: Annotated[
        int, Field(description="The part of the platform fee that was refunded, in minor units.")
    ]
    at: Moment


@graphql_type
class FileSharePayment(Resource):
    """A payment for a file-share session."""

    created_at: CreatedAt
    file_share_session_id: Id
    external_id: Annotated[str | None, Field(description="The id in the caller's system.")]
    amount: Annotated[int, Field(description="The amount in minor units.")]
    platform_fee: Annotated[int, Field(description="The platform's share of the amount, in minor units.")]
    currency: Currency
    at: Annotated[Moment, Field(description="The time of the payment.")]
    refunded_amount: Annotated[int, Field(description="The sum of the refunds, in minor units.")]
    refunds: Annotated[list[FileShareRefund], Field(description="The refunds, earliest first.")]


@graphql_input
class FileSharePaymentCreate(Input):
    """A payment for a session, after its beginning and possibly after its end."""

    amount: MinorUnits
    currency: Currency
    platform_fee: PlatformFee = 0
    external_id: ReportedId = None
    at: ReportedMoment = None


@graphql_input
class FileShareRefundCreate(Input):
    """A refund of a payment: at most the remaining amount and the remaining platform fee."""

    amount: Annotated[
        MinorUnits | None,
        Field(description="The amount in minor units; the default is the remaining amount."),
    ] = None
    platform_fee: RefundedFee = 0
    external_id: ReportedId = None
    at: ReportedMoment = None
