"""Read a REST request as the arguments of an operation; the operation's own models check them."""

import re
from typing import Any

from fastapi import Request
from starlette.datastructures import QueryParams

from resolvers.operations.bodies import parse_json, read_body
from resolvers.operations.declaration import Operation, Parameter
from schema.annotations import is_list
from schema.base import SPARE_KEYS
from schema.errors import Invalid, problem

_METADATA = re.compile(r"metadata\[(.*)\]", re.DOTALL)


async def read_arguments(
    request: Request, operation: Operation, path_names: frozenset[str]
) -> dict[str, Any]:
    """The operation's arguments, checked. Raises `Invalid` with every problem at once, or `TooLarge`."""
    values: dict[str, Any] = dict(request.path_params)
    query = read_query(operation, request.query_params, path_names)
    values |= query
    try:
        if any(parameter.place == "data" for parameter in operation.parameters):
            # No body says nothing, as an empty object does: what is missing is then named.
            values["data"] = parse_json(await read_body(request, operation.largest_body) or b"{}")
        return operation.validate(values)
    except Invalid as invalid:
        raise located(operation, invalid, path_names) from None


def read_query(operation: Operation, params: QueryParams, path_names: frozenset[str]) -> dict[str, Any]:
    """The query's parameters by the resolver's parameter; unknown ones stay, to be refused by name.

    Raises `Invalid` for too many of them.
    """
    values: dict[str, Any] = {}
    taken: set[str] = set()
    grouped = _grouped(operation, params)
    for parameter in operation.parameters:
        if parameter.place == "filters":
            values[parameter.name] = _read_filters(parameter, grouped)
            taken |= set(params)
        elif parameter.place == "value" and parameter.name not in path_names and parameter.name in params:
            values[parameter.name] = params[parameter.name]
            taken.add(parameter.name)
    stray = set(params) - taken
    return values | {f"?{name}": params[name] for name in stray}


def located(operation: Operation, invalid: Invalid, path_names: frozenset[str]) -> Invalid:
    """The same problems with each `loc` beginning with `path`, `query` or `body`."""
    places = {parameter.name: parameter.place for parameter in operation.parameters}
    found = []
    for entry in invalid.problems:
        first, *rest = entry["loc"] or [""]
        place = places.get(str(first))
        if place == "filters":
            loc = ["query", *rest]
        elif place == "data":
            loc = ["body", *rest]
        elif str(first).startswith("?"):
            loc = ["query", str(first)[1:], *rest]
        elif place == "value":
            loc = ["path" if first in path_names else "query", first, *rest]
        else:
            loc = [first, *rest]
        found.append(entry | {"loc": loc})
    return Invalid(found, invalid.more)


def _grouped(operation: Operation, params: QueryParams) -> dict[str, list[str]]:
    """The values of each name, in order. Raises `Invalid`."""
    grouped: dict[str, list[str]] = {}
    for name, value in params.multi_items():
        grouped.setdefault(name, []).append(value)
    filters = operation.filters.model_fields if operation.filters else {}
    most = len(operation.parameters) + len(filters) + SPARE_KEYS
    pairs = sum(name.startswith("metadata[") for name in grouped) if "metadata" in filters else 0
    if len(grouped) - pairs > most:
        message = f"A query should have at most {most} different parameters, not {len(grouped) - pairs}"
        raise Invalid([problem(("query",), message, "too_many_fields")])
    return grouped


def _read_filters(parameter: Parameter, grouped: dict[str, list[str]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, given in grouped.items():
        field = parameter.annotation.model_fields.get(name)
        pair = _METADATA.fullmatch(name)
        if pair and "metadata" in parameter.annotation.model_fields:
            # Several values of one key are no text, which the model says.
            value: Any = given[0] if len(given) == 1 else given
            values.setdefault("metadata", []).append({"key": pair[1], "value": value})
        elif name == "metadata" or field is None or not is_list(field.annotation):
            values[name] = given[0] if len(given) == 1 else given
        else:
            values[name] = given
    return values


def path_names_of(path: str) -> frozenset[str]:
    """The parameters in a route's path."""
    return frozenset(re.findall(r"\{(\w+)(?::\w+)?\}", path))
