"""Metadata: custom keys and values that callers attach to resources."""

import math
from typing import Annotated, Any, NewType

import strawberry
from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from schema.kit.base import Input, graphql_input
from schema.values.scalars import OBJECTS, SCALARS, check_text

LONGEST_KEY, LONGEST_VALUE, MOST_PAIRS = 40, 500, 50
_INT64 = range(-(2**63), 2**63)


def _check_value(value: Any) -> Any:
    if isinstance(value, str):
        if len(value) > LONGEST_VALUE:
            raise PydanticCustomError("string_too_long", "String should have at most 500 characters")
        check_text(value)
    elif isinstance(value, int):
        if value not in _INT64:
            raise PydanticCustomError("int_range", "Integer should fit in 64 bits")
    elif not (isinstance(value, float) and math.isfinite(value)):
        raise PydanticCustomError(
            "metadata_value", "Value should be a string, an integer, a finite float or a boolean"
        )
    return value


def _check_size(pairs: Any) -> Any:
    # Pydantic counts the pairs only after each invalid one has become a problem.
    if isinstance(pairs, dict) and len(pairs) > MOST_PAIRS:
        raise PydanticCustomError(
            "too_long",
            "Metadata should have at most {most} pairs, not {sent}",
            {"most": MOST_PAIRS, "sent": len(pairs)},
        )
    return pairs


def _check_key(key: str) -> str:
    check_text(key)
    return key


MetadataKey = Annotated[str, Field(min_length=1, max_length=LONGEST_KEY), AfterValidator(_check_key)]
MetadataValue = Annotated[
    Any,
    PlainValidator(_check_value),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "maxLength": LONGEST_VALUE},
                {"type": "integer"},
                {"type": "number"},
                {"type": "boolean"},
            ]
        }
    ),
]
MetadataPairs = NewType("MetadataPairs", dict[MetadataKey, MetadataValue])

Metadata = Annotated[
    MetadataPairs,
    Field(
        max_length=MOST_PAIRS,
        description="At most 50 pairs of a custom key (1 to 40 characters) and a value: a string of at most "
        "500 characters, an integer, a float or a boolean.",
    ),
    BeforeValidator(_check_size),
]

SCALARS[MetadataPairs] = strawberry.scalar(
    name="Metadata",
    description="An object of custom keys and values: strings, integers, floats and booleans.",
    specified_by_url=OBJECTS,
    serialize=lambda value: value,
    parse_value=lambda value: value,
)


@graphql_input
class MetadataFilter(Input):
    """Selects resources whose metadata has the pair; numbers and booleans are written as in JSON."""

    key: MetadataKey
    value: Annotated[str, Field(max_length=LONGEST_VALUE)]
