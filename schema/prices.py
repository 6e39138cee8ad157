"""Prices of shares, as callers see them. Amounts are in the currency's minor unit."""

from typing import Annotated

import strawberry
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from schema.base import Input, Resource, graphql_input, graphql_type
from schema.fields import CreatedAt, ModifiedAt, is_absent
from schema.scalars import Id, Int
from storage.enums import Currency, PriceAmountType

strawberry.enum(PriceAmountType)
strawberry.enum(Currency)

LARGEST_AMOUNT = 99_999_999

Amount = Annotated[int | None, Field(description="In minor units.", exclude_if=is_absent)]
AmountInput = Annotated[Int | None, Field(ge=0, le=LARGEST_AMOUNT, description="In minor units.")]

KIND_FIELDS: dict[PriceAmountType, frozenset[str]] = {
    PriceAmountType.FIXED: frozenset({"price_amount", "price_currency"}),
    PriceAmountType.CUSTOM: frozenset(
        {"price_currency", "minimum_amount", "maximum_amount", "preset_amount"}
    ),
    PriceAmountType.FREE: frozenset(),
}


@graphql_type
class Price(Resource):
    """What a share costs: a fixed amount, one the buyer chooses, or nothing."""

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
    """A new price, or by `id` one of the share's current prices to keep.

    `price_amount` is for `fixed`; `minimum_amount`, `maximum_amount` and `preset_amount` are for `custom`.
    """

    id: Annotated[Id | None, Field(description="A current price of the share, to keep.")] = None
    amount_type: PriceAmountType | None = None
    price_amount: Annotated[Int | None, Field(ge=1, le=LARGEST_AMOUNT, description="In minor units.")] = None
    price_currency: Annotated[
        Currency | None, Field(description="The default is the workspace's currency.")
    ] = None
    minimum_amount: AmountInput = None
    maximum_amount: AmountInput = None
    preset_amount: AmountInput = None

    @model_validator(mode="after")
    def _check_kind(self) -> "PriceInput":
        if self.id is not None:
            return self
        if self.amount_type is None:
            raise PydanticCustomError("missing", "A new price needs its amount_type")
        sent = {name for name, value in self if value is not None} - {"id", "amount_type"}
        stray = sorted(sent - KIND_FIELDS[self.amount_type])
        if stray:
            raise PydanticCustomError(
                "price_kind",
                "A {kind} price has no {fields}",
                {"kind": self.amount_type.value, "fields": ", ".join(stray)},
            )
        if self.amount_type == PriceAmountType.FIXED and self.price_amount is None:
            raise PydanticCustomError("missing", "A fixed price needs its price_amount")
        self._check_order()
        return self

    def _check_order(self) -> None:
        chain = [self.minimum_amount, self.preset_amount, self.maximum_amount]
        known = [amount for amount in chain if amount is not None]
        if known != sorted(known):
            raise PydanticCustomError(
                "price_order", "minimum_amount, preset_amount and maximum_amount must not decrease"
            )
