"""What a page shows or does, as a call of the API: a curl command and a GraphQL document to copy."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import cache
from shlex import quote
from typing import Any
from urllib.parse import quote as quote_part
from urllib.parse import urlencode
from uuid import UUID

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    get_named_type,
    parse,
    print_ast,
)
from strawberry.utils.str_converters import to_camel_case

from gateway.web.kit.visits import Visit
from resolvers.graph.execution.core_schema import core_schema
from resolvers.graph.root import Exposed, exposed
from resolvers.operations.declaration import Operation, operation_of
from rest_compat.api import operation_routes
from rest_compat.routing.paths import PREFIX

PAGE_SELECTION = ("data", "meta { total nextCursor }")


@dataclass(frozen=True)
class Call:
    """An operation with its arguments.

    `curl` is for a shell with a token in `$TOKEN`. `graphql` is a document, and `variables` its JSON text,
    empty if the document needs none.
    """

    curl: str
    graphql: str
    variables: str


def call_of(
    visit: Visit, resolver: Callable[..., Any], *, selection: str | None = None, **arguments: Any
) -> Call:
    """The call of an operation, with the arguments of `Visit.call`.

    `selection` is what the GraphQL document asks for, in braces; by default all fields with data.
    """
    schema = core_schema(visit.request.app.state.schema)
    return written_call(schema, visit.ctx.services.base_url, resolver, arguments, selection)


def written_call(
    schema: GraphQLSchema,
    base_url: str,
    resolver: Callable[..., Any],
    arguments: Mapping[str, Any],
    selection: str | None = None,
) -> Call:
    """The call of an operation at this address of REST."""
    operation = operation_of(resolver)
    values = {name: _plain(value) for name, value in arguments.items()}
    place = _graph(schema)[operation.name]
    data = _as_variable(place.field.args["data"].type, values.get("data") or {}) if "data" in values else None
    return Call(
        _curl(base_url, operation, values),
        _document(place, operation, values, selection),
        "" if data is None else json.dumps({"data": data}, ensure_ascii=False, indent=2),
    )


@cache
def _graph(schema: GraphQLSchema) -> dict[str, Exposed]:
    return exposed(schema)


def _curl(base_url: str, operation: Operation, values: Mapping[str, Any]) -> str:
    route = operation_routes()[operation.name]
    path, query, body = route.path_format.removeprefix(PREFIX), list[tuple[str, str]](), None
    for parameter in operation.parameters:
        value = values.get(parameter.name)
        if parameter.place == "data":
            body = value or {}
        elif parameter.place == "filters":
            query += _query(value or {})
        elif f"{{{parameter.name}}}" in path:
            path = path.replace(f"{{{parameter.name}}}", quote_part(str(value), safe=""))
        elif value is not None:
            query += _query({parameter.name: value})
    address = f"{base_url}{path}" + (f"?{urlencode(query, safe=':[]')}" if query else "")
    method = "" if route.method == "GET" else f" -X {route.method}"
    lines = [f"curl{method} {quote(address)}", '-H "Authorization: Bearer $TOKEN"']
    if body is not None:
        written = json.dumps(body, ensure_ascii=False, indent=2)
        lines += ["-H 'Content-Type: application/json'", f"-d {quote(written)}"]
    return " \\\n  ".join(lines)


def _query(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        if name == "metadata":
            pairs += [(f"metadata[{pair['key']}]", pair["value"]) for pair in value]
            continue
        for item in value if isinstance(value, list) else [value]:
            pairs.append((name, str(item).lower() if isinstance(item, bool) else str(item)))
    return pairs


def _document(place: Exposed, operation: Operation, values: Mapping[str, Any], selection: str | None) -> str:
    spread: dict[str, Any] = {}
    for parameter in operation.parameters:
        if parameter.place == "filters":
            spread |= values.get(parameter.name) or {}
        elif parameter.name in values:
            spread[parameter.name] = values[parameter.name]
    given, head = [], ""
    for name, value in ((to_camel_case(name), value) for name, value in spread.items()):
        if name not in place.field.args:
            continue
        type_ = place.field.args[name].type
        if name == "data":
            # Keys of metadata are any text, which only variables can hold.
            head = f"($data: {type_})"
        given.append(f"{name}: {'$data' if name == 'data' else _literal(type_, value)}")
    call = f"({', '.join(given)})" if given else ""
    below = _selection(place.field) if selection is None else selection
    asked = f"{' { '.join(place.path)}{call} {below}{' }' * (len(place.path) - 1)}"
    return print_ast(parse(f"{place.kind}{head} {{ {asked} }}"))


def _literal(type_: GraphQLInputType | None, value: Any) -> str:
    """A value of REST as it is written in a document."""
    if isinstance(type_, GraphQLNonNull):
        return _literal(type_.of_type, value)
    if isinstance(type_, GraphQLList):
        items = value if isinstance(value, list) else [value]
        return f"[{', '.join(_literal(type_.of_type, item) for item in items)}]"
    if isinstance(type_, GraphQLInputObjectType):
        pairs = (
            f"{to_camel_case(name)}: {_literal(type_.fields[to_camel_case(name)].type, item)}"
            for name, item in value.items()
        )
        return f"{{{', '.join(pairs)}}}"
    if isinstance(type_, GraphQLEnumType):
        return _enum_name(type_, value)
    return json.dumps(value, ensure_ascii=False)


def _as_variable(type_: GraphQLInputType, value: Any) -> Any:
    """A value of REST as a variable."""
    if isinstance(type_, GraphQLNonNull):
        return _as_variable(type_.of_type, value)
    if value is None:
        return None
    if isinstance(type_, GraphQLList):
        return [_as_variable(type_.of_type, item) for item in value]
    if isinstance(type_, GraphQLInputObjectType):
        named = {to_camel_case(name): item for name, item in value.items()}
        return {name: _as_variable(type_.fields[name].type, item) for name, item in named.items()}
    return _enum_name(type_, value) if isinstance(type_, GraphQLEnumType) else value


def _enum_name(type_: GraphQLEnumType, value: Any) -> str:
    return str(next(name for name, item in type_.values.items() if _plain(item.value) == value))


def _selection(field: GraphQLField) -> str:
    """The fields of the answer that hold data; of a page, its items and how many there are."""
    named = get_named_type(field.type)
    if isinstance(named, GraphQLObjectType) and "pageInfo" in named.fields:
        items, counts = PAGE_SELECTION
        return f"{{ {items} {_selection(named.fields[items])} {counts} }}"
    return _fields(named)


def _fields(named: GraphQLNamedType) -> str:
    if not isinstance(named, GraphQLObjectType):
        return ""
    model = named.extensions["strawberry-definition"].origin
    written = (
        f"{name} {_fields(get_named_type(field.type))}"
        for name, field in named.fields.items()
        if name in {to_camel_case(own) for own in model.model_fields} and not field.deprecation_reason
    )
    return f"{{ {' '.join(written)} }}"


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    if isinstance(value, UUID | date):
        return str(value)
    return value.value if isinstance(value, Enum) else value
