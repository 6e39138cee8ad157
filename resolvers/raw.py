"""Raw GraphQL arguments as the data that REST would have sent, for input that graphql-core refuses."""

from collections.abc import Mapping
from enum import Enum
from inspect import isclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import strawberry
from graphql import FieldNode, OperationDefinitionNode, Undefined, value_from_ast_untyped
from pydantic import BaseModel
from strawberry.utils.str_converters import to_camel_case, to_snake_case

from resolvers.expose import collect, located
from resolvers.operations import Operation
from schema.errors import Invalid, Problem

Variables = Mapping[str, Any]


def with_defaults(definition: OperationDefinitionNode, variables: Variables) -> dict[str, Any]:
    """The variables as sent, and the document's defaults for those that were not."""
    defaults = {
        node.variable.name.value: value_from_ast_untyped(node.default_value)
        for node in definition.variable_definitions or ()
        if node.default_value is not None
    }
    return {**defaults, **variables}


def problems_of_field(operation: Operation, node: FieldNode, variables: Variables) -> list[Problem]:
    """What the operation's own models say against the arguments of `node`."""
    given = {}
    for argument in node.arguments or ():
        value = value_from_ast_untyped(argument.value, dict(variables))
        if value is not Undefined:
            given[to_snake_case(argument.name.value)] = value
    annotations = _annotations(operation)
    data = {name: _as_data(annotations.get(name), value) for name, value in given.items()}
    data.pop("if_match", None)
    try:
        operation.validate(collect(operation, data))
    except Invalid as invalid:
        return located(operation, invalid).problems
    return []


def _annotations(operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for parameter in operation.parameters:
        if parameter.place == "filters":
            found |= {name: field.annotation for name, field in parameter.annotation.model_fields.items()}
        else:
            found[parameter.name] = parameter.annotation
    return found


def _as_data(annotation: Any, value: Any) -> Any:
    bare = _bare(annotation)
    if get_origin(bare) is list and isinstance(value, list):
        return [_as_data(get_args(bare)[0], item) for item in value]
    if isclass(bare) and issubclass(bare, BaseModel) and isinstance(value, dict):
        names = {to_camel_case(name): name for name in bare.model_fields}
        fields = bare.model_fields
        return {
            names.get(key, key): _as_data(fields[names[key]].annotation, item) if key in names else item
            for key, item in value.items()
        }
    if isclass(bare) and issubclass(bare, Enum) and isinstance(value, str):
        return bare.__members__.get(value, value)
    return value


def _bare(annotation: Any) -> Any:
    """The annotation without `Annotated`, `Maybe` and `None`."""
    while True:
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin in (Annotated, strawberry.Maybe):
            annotation = arguments[0]
        elif origin in (Union, UnionType):
            annotation = next(item for item in arguments if item is not NoneType)
        else:
            return annotation
