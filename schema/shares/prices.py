"""Prices of shares. Amounts are in the currency's minor unit."""

from typing import Annotated, Any

import strawberry
from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from schema.kit.base import Input, Resource, graphql_input, graphql_type
from schema.kit.fields import CreatedAt, ModifiedAt, is_absent
from schema.values.scalars import Id
from schema.values.units import Money, MoneyInput
from storage.enums import Currency, PriceAmountType

strawberry.enum(PriceAmountType)
strawberry.enum(Currency)

LARGEST_AMOUNT = 99_999_999

Amount = Annotated[Money | None, Field(description="An amount in minor units.", exclude_if=is_absent)]
AmountInput = Annotated[
    MoneyInput | None, Field(ge=0, le=LARGEST_AMOUNT, description="An amount in minor units.")
]

KIND_FIELDS: dict[PriceAmountType, frozenset[str]] = {
    PriceAmountType.FIXED: frozenset({"price_amount", "price_currency"}),
    PriceAmountType.CUSTOM: frozenset(
        {"price_currency", "minimum_amount", "maximum_amount", "preset_amount"}
    ),
    PriceAmountType.FREE: frozenset(),
}
_KIND_FIELD_NAMES = sorted(frozenset[str]().union(*KIND_FIELDS.values()))


@graphql_type
class Price(Resource):
    """A price of a share: fixed, chosen by the buyer (`custom`), or free."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    amount_type: PriceAmountType
    is_archived: bool
    share_id: Id
    price_amount: Amount = None
    price_currency: Annotated[Currency | None, Field(exclude_if=is_absent)] = None
    minimum_amount: Amount = None
    maximum_amount: Amount = None
    preset_amount: Amount = None


@graphql_input
class PriceInput(Input):
    """A new price, or the `id` of a current price of the share to keep.

    `price_amount` is for `fixed`; `minimum_amount`, `maximum_amount` and `preset_amount` are for `custom`.
    """

    id: Annotated[Id | None, Field(description="The id of a current price of the share to keep.")] = None
    amount_type: PriceAmountType | None = None
    price_amount: Annotated[
        MoneyInput | None, Field(ge=1, le=LARGEST_AMOUNT, description="The amount in minor units.")
    ] = None
    price_currency: Annotated[
        Currency | None, Field(description="The currency; the default is the workspace's.")
    ] = None
    minimum_amount: AmountInput = None
    maximum_amount: AmountInput = None
    preset_amount: AmountInput = None

    @field_validator(*_KIND_FIELD_NAMES, mode="before")
    @classmethod
    def _check_field(cls, value: Any, info: ValidationInfo) -> Any:
        # Before the bounds of the field: no value would suit a kind that does not have it.
        kind = info.data.get("amount_type")
        is_new = info.data.get("id", value) is None
        if value is not None and is_new and kind is not None and info.field_name not in KIND_FIELDS[kind]:
            names = {"kind": kind.value, "field": str(info.field_name)}
            raise PydanticCustomError("price_kind", "A {kind} price does not have {field}", names)
        return value

    @model_validator(mode="after")
    def _check_kind(self) -> "PriceInput":
        if self.id is not None:
            return self
        if self.amount_type is None:
            raise PydanticCustomError("missing", "A new price needs amount_type")
        if self.amount_type == PriceAmountType.FIXED and self.price_amount is None:
            raise PydanticCustomError("missing", "A fixed price needs price_amount")
        self._check_order()
        return self

    def _check_order(self) -> None:
        optional = [self.minimum_amount, self.preset_amount, self.maximum_amount]
        amounts = [amount for amount in optional if amount is not None]
        if amounts != sorted(amounts):
            raise PydanticCustomError(
                "price_order", "minimum_amount, preset_amount and maximum_amount should be in ascending order"
            )
