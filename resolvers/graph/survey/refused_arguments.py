"""Raw GraphQL arguments as the data that REST would send, to explain what graphql-core refuses."""

from collections import Counter
from collections.abc import Mapping
from enum import Enum
from inspect import isclass
from typing import Any, get_args, get_origin

from graphql import (
    DocumentNode,
    FieldNode,
    OperationDefinitionNode,
    Token,
    TokenKind,
    Undefined,
    value_from_ast_untyped,
)
from pydantic import BaseModel
from pydantic_core import to_json
from strawberry.utils.str_converters import to_camel_case, to_snake_case

from resolvers.graph.execution.fields import FIRST, annotations_of, located, validated
from resolvers.operations.declaration import Operation
from schema.errors import Invalid
from schema.kit.annotations import unwrap

Variables = dict[str, Any]


def with_defaults(definition: OperationDefinitionNode, variables: Variables) -> dict[str, Any]:
    """The variables as sent, with the document's defaults for those omitted."""
    defaults = {
        node.variable.name.value: value_from_ast_untyped(node.default_value)
        for node in definition.variable_definitions or ()
        if node.default_value is not None
    }
    return {**defaults, **variables}


def uses_of_variables(document: DocumentNode) -> dict[str, int]:
    """How often the document uses each of its variables."""
    uses: Counter[str] = Counter()
    token = document.loc.start_token if document.loc else None
    while token is not None:
        if token.kind is TokenKind.DOLLAR:
            token = _after(token)
            uses[token.value if token and token.value else ""] += 1
        token = token.next if token else None
    # The first one declares the variable.
    return {name: many - 1 for name, many in uses.items() if many > 1}


def filled_size(uses: Mapping[str, int], variables: Variables) -> int:
    """The variables' size in bytes of JSON, each counted as often as it is used."""
    return sum(
        many * len(to_json(variables[name], fallback=str)) for name, many in uses.items() if name in variables
    )


def _after(token: Token) -> Token | None:
    following = token.next
    while following is not None and following.kind is TokenKind.COMMENT:
        following = following.next
    return following


def refusal_of_field(operation: Operation, node: FieldNode, variables: Variables) -> Invalid | None:
    """The problems that the operation's own models find in the arguments of `node`; None without any."""
    try:
        _checked(operation, node, variables)
    except Invalid as invalid:
        return located(operation, invalid)
    return None


def weight_of_field(operation: Operation, node: FieldNode, variables: Variables) -> int:
    """The operation's cost in calls with the arguments of `node`; 1 if they are refused."""
    if operation.weigh is None:
        return 1
    try:
        return operation.weigh(**_checked(operation, node, variables))
    except Invalid:
        return 1


def _checked(operation: Operation, node: FieldNode, variables: Variables) -> dict[str, Any]:
    arguments, annotations = {}, annotations_of(operation)
    for argument in node.arguments or ():
        value = value_from_ast_untyped(argument.value, variables)
        if value is not Undefined:
            name = to_snake_case(sent := argument.name.value)
            # Only a name in the spelling of this surface is the parameter's.
            is_known = (name in annotations or name == FIRST) and to_camel_case(name) == sent
            arguments[name if is_known else sent] = value
    data = {name: _as_data(annotations.get(name), value) for name, value in arguments.items()}
    data.pop("if_match", None)
    return validated(operation, data)


def _as_data(annotation: Any, value: Any) -> Any:
    type_ = unwrap(annotation)
    if get_origin(type_) is list and isinstance(value, list):
        return [_as_data(get_args(type_)[0], item) for item in value]
    if isclass(type_) and issubclass(type_, BaseModel) and isinstance(value, dict):
        names = {to_camel_case(name): name for name in type_.model_fields}
        fields = type_.model_fields
        return {
            names.get(key, key): _as_data(fields[names[key]].annotation, item) if key in names else item
            for key, item in value.items()
        }
    if isclass(type_) and issubclass(type_, Enum) and isinstance(value, str):
        return type_.__members__.get(value, value)
    return value
