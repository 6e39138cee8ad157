"""The settings of a workspace: an answer has every one, a change is merged at every depth."""

from collections.abc import Mapping
from typing import Annotated, Any

import strawberry
from pydantic import Field, model_validator

from schema.base import Input, Output, Update, graphql_input, graphql_type
from schema.scalars import LARGEST_LONG, Bool, LongInt

_MEMBER_MODEL = Field(description="Customers have members, and customer sessions can be one member's.")
_SEAT_BASED_PRICING = Field(description="Kept for its readers; nothing here depends on it.")
_ANALYTICS_READ = Field(description="Kept for its readers; nothing here depends on it.")
_ANALYTICS_COMPARE = Field(description="The dashboard compares with the period before.")
_NEW_PAYMENT = Field(description="The workspace's members get a mail for each payment.")
_PAYMENT_CONFIRMATION = Field(description="Customers get a mail for each payment of theirs.")
_SHOW = Field(description="The customer portal shows what the customer has used.")

_Text = Annotated[str | None, Field(max_length=10_000)]
_Revenue = Annotated[LongInt | None, Field(ge=0, le=LARGEST_LONG, description="In a year, in minor units.")]
_Channels = Annotated[
    list[Annotated[str, Field(max_length=1000)]] | None,
    Field(max_length=100, description="How customers are found; replaced as a whole."),
]
_SWITCHING = Field(description="Whether another service was used before.")


@graphql_type
class FeatureSettings(Output):
    """What the workspace has switched on."""

    member_model_enabled: Annotated[bool, _MEMBER_MODEL] = False
    seat_based_pricing_enabled: Annotated[bool, _SEAT_BASED_PRICING] = False
    analytics_read: Annotated[bool, _ANALYTICS_READ] = False
    analytics_compare: Annotated[bool, _ANALYTICS_COMPARE] = False


@graphql_type
class NotificationSettings(Output):
    """Which mails the workspace's own members get."""

    new_payment: Annotated[bool, _NEW_PAYMENT] = True


@graphql_type
class CustomerEmailSettings(Output):
    """Which mails customers get."""

    payment_confirmation: Annotated[bool, _PAYMENT_CONFIRMATION] = True


@graphql_type
class CustomerPortalUsageSettings(Output):
    """What the customer portal says about usage."""

    show: Annotated[bool, _SHOW] = True


@graphql_type
class CustomerPortalSettings(Output):
    """What the customer portal shows."""

    usage: CustomerPortalUsageSettings = CustomerPortalUsageSettings()


class SettingsInput(Input):
    """Settings to change. None of them can be null, so null is as if left out."""

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        known = cls.model_fields
        return {name: value for name, value in data.items() if value is not None or name not in known}


@graphql_input
class FeatureSettingsInput(SettingsInput):
    """What to switch on or off; what is left out stays as it is."""

    member_model_enabled: Annotated[Bool | None, _MEMBER_MODEL] = None
    seat_based_pricing_enabled: Annotated[Bool | None, _SEAT_BASED_PRICING] = None
    analytics_read: Annotated[Bool | None, _ANALYTICS_READ] = None
    analytics_compare: Annotated[Bool | None, _ANALYTICS_COMPARE] = None


@graphql_input
class NotificationSettingsInput(SettingsInput):
    """Which mails the workspace's own members get; what is left out stays as it is."""

    new_payment: Annotated[Bool | None, _NEW_PAYMENT] = None


@graphql_input
class CustomerEmailSettingsInput(SettingsInput):
    """Which mails customers get; what is left out stays as it is."""

    payment_confirmation: Annotated[Bool | None, _PAYMENT_CONFIRMATION] = None


@graphql_input
class CustomerPortalUsageSettingsInput(SettingsInput):
    """What the customer portal says about usage; what is left out stays as it is."""

    show: Annotated[Bool | None, _SHOW] = None


@graphql_input
class CustomerPortalSettingsInput(SettingsInput):
    """What the customer portal shows; what is left out stays as it is."""

    usage: CustomerPortalUsageSettingsInput | None = None


@graphql_input
class WorkspaceDetailsInput(Update):
    """Private information about the business, for compliance; never given back.

    What is left out stays as it is, null takes a statement back.
    """

    about: strawberry.Maybe[_Text]
    product_description: strawberry.Maybe[_Text]
    intended_use: strawberry.Maybe[_Text]
    customer_acquisition: strawberry.Maybe[_Channels]
    future_annual_revenue: strawberry.Maybe[_Revenue]
    switching: strawberry.Maybe[Annotated[Bool | None, _SWITCHING]]
    previous_annual_revenue: strawberry.Maybe[_Revenue]
