"""Payments for file-share sessions, and their refunds."""

from typing import Annotated

from pydantic import Field

from schema.file_shares.reports import FileShareReport, FileShareReportQuery
from schema.file_shares.sessions import MinorUnits, ReportedId, ReportedMoment
from schema.kit.base import Input, graphql_input, graphql_type
from schema.kit.fields import ModifiedAt
from schema.kit.links import at_most
from schema.kit.pages import Page
from schema.values.scalars import Id
from schema.values.units import Money
from storage.enums import Currency

# Payments of a session, and refunds of a payment.
MOST_PAYMENTS = 100
PlatformFee = Annotated[MinorUnits, Field(description="The platform's share of the amount, in minor units.")]
RefundedFee = Annotated[
    MinorUnits, Field(description="The part of the platform fee that is refunded, in minor units.")
]


@graphql_type
class FileShareRefund(FileShareReport):
    """A refund, in the currency of its payment."""

    file_share_payment_id: Id
    amount: Annotated[Money, Field(description="The amount in minor units.")]
    platform_fee: Annotated[
        Money, Field(description="The part of the platform fee that was refunded, in minor units.")
    ]
    currency: Currency


@graphql_type
class FileSharePayment(FileShareReport):
    """A payment for a file-share session."""

    modified_at: ModifiedAt
    amount: Annotated[Money, Field(description="The amount in minor units.")]
    platform_fee: Annotated[Money, Field(description="The platform's share of the amount, in minor units.")]
    currency: Currency
    refunded_amount: Annotated[Money, Field(description="The sum of the refunds, in minor units.")]
    refunds: Annotated[
        list[FileShareRefund], Field(description="The refunds, earliest first."), at_most(MOST_PAYMENTS)
    ]


FileSharePaymentPage = Page[FileSharePayment]
FileShareRefundPage = Page[FileShareRefund]

Currencies = Annotated[
    list[Currency] | None, Field(max_length=10, description="Only amounts in these currencies.")
]


class FileSharePaymentQuery(FileShareReportQuery):
    """The arguments of the list of payments."""

    currency: Currencies = None


class FileShareRefundQuery(FileShareReportQuery):
    """The arguments of the list of refunds."""

    file_share_payment_id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only refunds of these payments.")
    ] = None
    currency: Currencies = None


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
