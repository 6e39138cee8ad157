"""Billing addresses."""

from typing import Annotated

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError
from pydantic_extra_types.country import CountryAlpha2

from schema.base import Input, Output, graphql_input, graphql_type

_country = TypeAdapter(CountryAlpha2)


def _check_country(code: str) -> str:
    try:
        return str(_country.validate_python(code))
    except ValidationError:
        raise PydanticCustomError(
            "country", "Input should be a country code of ISO 3166 with two letters, like `DE`"
        ) from None


Line = Annotated[str | None, Field(max_length=256)]
Country = Annotated[
    Annotated[str, AfterValidator(_check_country)] | None,
    Field(description="ISO 3166 alpha-2, like `DE`."),
]


@graphql_type
class BillingAddress(Output):
    """Where a customer is billed; any part of it can be unknown."""

    line1: str | None = None
    line2: str | None = None
    postal_code: str | None = None
    city: str | None = None
    state: str | None = None
    country: Annotated[str | None, Field(description="ISO 3166 alpha-2, like `DE`.")] = None


@graphql_input
class BillingAddressInput(Input):
    """Where a customer is billed; what is left out is unknown."""

    line1: Line = None
    line2: Line = None
    postal_code: Line = None
    city: Line = None
    state: Annotated[
        str | None, Field(max_length=256, description="A subdivision; not checked against the country.")
    ] = None
    country: Country = None
