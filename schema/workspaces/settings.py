"""The settings of a workspace. An answer has all of them; a change is merged with the stored ones."""

from collections.abc import Mapping
from typing import Annotated, Any

import strawberry
from pydantic import Field, model_validator

from schema.kit.base import Input, Output, Update, graphql_input, graphql_type
from schema.values.integers import LARGEST_LONG
from schema.values.scalars import Bool
from schema.values.units import LongMoneyInput

_MEMBER_MODEL = Field(
    description="Whether customers have members, and customer sessions can belong to a member."
)
_SEAT_BASED_PRICING = Field(description="Stored and returned, without any other effect.")
_ANALYTICS_READ = Field(description="Stored and returned, without any other effect.")
_ANALYTICS_COMPARE = Field(description="Whether the dashboard compares with the previous period.")
_NEW_PAYMENT = Field(description="Whether the workspace's members get an email for each payment.")
_PAYMENT_CONFIRMATION = Field(description="Whether customers get an email for each of their payments.")
_SHOW = Field(description="Whether the customer portal shows the customer's usage.")

_Text = Annotated[str | None, Field(max_length=10_000)]
_Revenue = Annotated[
    LongMoneyInput | None, Field(ge=0, le=LARGEST_LONG, description="The yearly revenue in minor units.")
]
_Channels = Annotated[
    list[Annotated[str, Field(max_length=1000)]] | None,
    Field(
        max_length=100, description="The channels by which the business finds customers; replaced as a whole."
    ),
]
_SWITCHING = Field(description="Whether the business used another service before.")


@graphql_type
class FeatureSettings(Output):
    """The features that are enabled for the workspace."""

    member_model_enabled: Annotated[bool, _MEMBER_MODEL] = False
    seat_based_pricing_enabled: Annotated[bool, _SEAT_BASED_PRICING] = False
    analytics_read: Annotated[bool, _ANALYTICS_READ] = False
    analytics_compare: Annotated[bool, _ANALYTICS_COMPARE] = False


@graphql_type
class NotificationSettings(Output):
    """The emails that the workspace's members get."""

    new_payment: Annotated[bool, _NEW_PAYMENT] = True


@graphql_type
class CustomerEmailSettings(Output):
    """The emails that customers get."""

    payment_confirmation: Annotated[bool, _PAYMENT_CONFIRMATION] = True


@graphql_type
class CustomerPortalUsageSettings(Output):
    """The display of usage in the customer portal."""

    show: Annotated[bool, _SHOW] = True


@graphql_type
class CustomerPortalSettings(Output):
    """The settings of the customer portal."""

    usage: CustomerPortalUsageSettings = CustomerPortalUsageSettings()


class SettingsInput(Input):
    """Settings to change. Settings cannot be null: null is the same as leaving the field out."""

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        fields = cls.model_fields
        return {name: value for name, value in data.items() if value is not None or name not in fields}


@graphql_input
class FeatureSettingsInput(SettingsInput):
    """Features to enable or disable. Fields left out keep their values."""

    member_model_enabled: Annotated[Bool | None, _MEMBER_MODEL] = None
    seat_based_pricing_enabled: Annotated[Bool | None, _SEAT_BASED_PRICING] = None
    analytics_read: Annotated[Bool | None, _ANALYTICS_READ] = None
    analytics_compare: Annotated[Bool | None, _ANALYTICS_COMPARE] = None


@graphql_input
class NotificationSettingsInput(SettingsInput):
    """The emails that the workspace's members get. Fields left out keep their values."""

    new_payment: Annotated[Bool | None, _NEW_PAYMENT] = None


@graphql_input
class CustomerEmailSettingsInput(SettingsInput):
    """The emails that customers get. Fields left out keep their values."""

    payment_confirmation: Annotated[Bool | None, _PAYMENT_CONFIRMATION] = None


@graphql_input
class CustomerPortalUsageSettingsInput(SettingsInput):
    """The display of usage in the customer portal. Fields left out keep their values."""

    show: Annotated[Bool | None, _SHOW] = None


@graphql_input
class CustomerPortalSettingsInput(SettingsInput):
    """The settings of the customer portal. Fields left out keep their values."""

    usage: CustomerPortalUsageSettingsInput | None = None


@graphql_input
class WorkspaceDetailsInput(Update):
    """Private information about the business, for compliance. No answer contains it.

    Fields left out keep their values; null removes a value.
    """

    about: strawberry.Maybe[_Text]
    product_description: strawberry.Maybe[_Text]
    intended_use: strawberry.Maybe[_Text]
    customer_acquisition: strawberry.Maybe[_Channels]
    future_annual_revenue: strawberry.Maybe[_Revenue]
    switching: strawberry.Maybe[Annotated[Bool | None, _SWITCHING]]
    previous_annual_revenue: strawberry.Maybe[_Revenue]
