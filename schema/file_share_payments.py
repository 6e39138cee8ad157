"""Payments for file-share sessions and their refunds, as callers see and report them."""

from typing import Annotated

from pydantic import Field

from schema.base import Input, Output, Resource, graphql_input, graphql_type
from schema.fields import CreatedAt
from schema.file_share_sessions import MinorUnits, ReportedId, ReportedMoment
from schema.scalars import Id, Moment
from storage.enums import Currency

PlatformFee = Annotated[MinorUnits, Field(description="The platform's part of the amount, in minor units.")]
FeeGivenBack = Annotated[
    MinorUnits, Field(description="What the platform gives back of its fee, in minor units.")
]


@graphql_type
class FileShareRefund(Output):
    """Money given back, in the currency of its payment."""

    id: Id
    external_id: Annotated[str | None, Field(description="Its id in the caller's system.")]
    amount: Annotated[int, Field(description="In minor units.")]
    platform_fee: Annotated[int, Field(description="What the platform gave back of its fee.")]
    at: Moment


@graphql_type
class FileSharePayment(Resource):
    """Money paid for a file-share session."""

    created_at: CreatedAt
    file_share_session_id: Id
    external_id: Annotated[str | None, Field(description="Its id in the caller's system.")]
    amount: Annotated[int, Field(description="In minor units.")]
    platform_fee: Annotated[int, Field(description="The platform's part of the amount, in minor units.")]
    currency: Currency
    at: Annotated[Moment, Field(description="When it was paid.")]
    refunded_amount: Annotated[int, Field(description="What its refunds have given back so far.")]
    refunds: Annotated[list[FileShareRefund], Field(description="The earliest first.")]


@graphql_input
class FileSharePaymentCreate(Input):
    """A payment for a session; it may come after the session's end, but not before its beginning."""

    amount: MinorUnits
    currency: Currency
    platform_fee: PlatformFee = 0
    external_id: ReportedId = None
    at: ReportedMoment = None


@graphql_input
class FileShareRefundCreate(Input):
    """A refund of a payment: never more than is left of its amount and of its platform fee."""

    amount: Annotated[MinorUnits | None, Field(description="The default is all that is left.")] = None
    platform_fee: FeeGivenBack = 0
    external_id: ReportedId = None
    at: ReportedMoment = None
