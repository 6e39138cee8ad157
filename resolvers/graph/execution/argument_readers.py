"""Readers of arguments, made once from the declaration of a field: they give the data that REST would send.

They do what Strawberry does at each request by looking at the types of all inputs.
"""

from collections.abc import Callable, Mapping
from typing import Any

from graphql import (
    GraphQLField,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
)
from strawberry.types.base import StrawberryMaybe, StrawberryOptional

from resolvers.graph.execution.plain_fields import DEFINITION

# The key of a field's extensions for its reader.
READER = "argument reader"

# Makes the data of a value that is not null; None stands for the value itself.
Read = Callable[[Any], Any]
# The names of a value in GraphQL and in Python, with how it is read.
Named = tuple[str, str, Read | None]


def read_arguments(declared: GraphQLField, values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a field by their names in Python, from graphql-core's values."""
    reader: list[Named] | None = declared.extensions.get(READER)
    if reader is None:
        reader = declared.extensions[READER] = _named(declared.args, {})
    return _read(reader, values)


def _read(reader: list[Named], values: Mapping[str, Any]) -> dict[str, Any]:
    data = {}
    for name, python_name, read in reader:
        if name in values:
            value = values[name]
            data[python_name] = value if read is None or value is None else read(value)
    return data


def _named(declared: Mapping[str, Any], inputs: dict[str, list[Named]]) -> list[Named]:
    """How arguments or the fields of an input are read; `inputs` are those that are known by now.

    Raises `TypeError` for a `Maybe` that cannot be null: Strawberry would refuse its null at each request.
    """
    named = []
    for name, each in declared.items():
        definition = each.extensions[DEFINITION]
        if isinstance(definition.type, StrawberryMaybe) and not isinstance(
            definition.type.of_type, StrawberryOptional
        ):
            raise TypeError(f"The `Maybe` of {name} has to accept null.")
        named.append((name, definition.python_name, _reader(each.type, inputs)))
    return named


def _reader(type_: Any, inputs: dict[str, list[Named]]) -> Read | None:
    bare: Any = get_nullable_type(type_)
    if is_leaf_type(bare):
        return None
    if is_list_type(bare):
        item = _reader(bare.of_type, inputs)
        # A copy, because graphql-core gives the same default to every request.
        return (
            list if item is None else lambda values: [None if each is None else item(each) for each in values]
        )
    # An input may have fields of its own type.
    fields = inputs.get(bare.name)
    if fields is None:
        fields = inputs[bare.name] = []
        fields += _named(bare.fields, inputs)
    known = fields
    return lambda values: _read(known, values)
