"""Billing addresses."""

from typing import Annotated

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError
from pydantic_extra_types.country import CountryAlpha2

from schema.kit.base import Input, Output, graphql_input, graphql_type

_country = TypeAdapter(CountryAlpha2)


def _check_country(code: str) -> str:
    try:
        return str(_country.validate_python(code))
    except ValidationError:
        raise PydanticCustomError(
            "country", "Input should be an ISO 3166 country code of two letters, like `DE`"
        ) from None


Line = Annotated[str | None, Field(max_length=256)]
Country = Annotated[
    Annotated[str, AfterValidator(_check_country)] | None,
    Field(description="The ISO 3166 alpha-2 country code, like `DE`."),
]


@graphql_type
class BillingAddress(Output):
    """A customer's billing address; any part can be null."""

    line1: str | None = None
    line2: str | None = None
    postal_code: str | None = None
    city: str | None = None
    state: str | None = None
    country: Annotated[str | None, Field(description="The ISO 3166 alpha-2 country code, like `DE`.")] = None


@graphql_input
class BillingAddressInput(Input):
    """A customer's billing address; parts left out are null."""

    line1: Line = None
    line2: Line = None
    postal_code: Line = None
    city: Line = None
    state: Annotated[
        str | None,
        Field(max_length=256, description="The state or other subdivision; not checked against the country."),
    ] = None
    country: Country = None
