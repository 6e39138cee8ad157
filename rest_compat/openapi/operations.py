"""The entry of each operation, from its declaration and the schema of its arguments."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from resolvers.expansion import MOST_LEVELS, MOST_PATHS
from resolvers.links import LINKS
from resolvers.operations.answers import JSON
from rest_compat.openapi.answers import answers
from rest_compat.openapi.entries import content, entry, header_parameter, success
from rest_compat.openapi.examples import BODIES, PARAMETERS
from rest_compat.openapi.failures import failures_of
from rest_compat.openapi.headers import LIMITED
from rest_compat.openapi.schemas.plain import REF, Schema, without_null
from rest_compat.openapi.security import security_of
from rest_compat.routing.endpoint import EMPTY
from rest_compat.routing.reading import EXPAND, path_names_of
from rest_compat.routing.router import OperationRoute
from rest_compat.routing.streams import LAST_EVENT_ID, StreamEndpoint
from schema.changes.changes import POSITION
from schema.kit.base import Resource
from schema.kit.deprecation import REASON

METADATA = {
    "name": "metadata",
    "in": "query",
    "required": False,
    "style": "deepObject",
    "explode": True,
    "description": "`metadata[key]=value`: only resources whose metadata has the pair; numbers and booleans "
    "are written as in JSON.",
    "schema": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 500}},
    # Without it, programs that try operations out make pairs up, and find nothing.
    "example": {},
}
_KEY = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[\\x21-\\x7e]+$"}
_TEXT = {"type": "string"}
_POSITION = {"type": "string", "pattern": POSITION}
_LOCATION = {"Location": {"description": "The path that reads the new resource.", "schema": _TEXT}}
_ETAG = {"ETag": {"description": "The version of the resource, for `If-Match`.", "schema": _TEXT}}
_ENDING = {
    "Deprecation": {"description": "Since when the operation is deprecated (RFC 9745).", "schema": _TEXT},
    "Sunset": {"description": "When the operation ends (RFC 8594).", "schema": _TEXT},
}
_REPLAYED = {
    "Idempotency-Replayed": {
        "description": "`true` if an earlier request with the same `Idempotency-Key` made the change.",
        "schema": _TEXT,
    }
}
_NOT_MODIFIED = {
    "description": "The resource still has the tag of `If-None-Match`.",
    "headers": {**_ETAG, **LIMITED},
}


def operation_entry(route: OperationRoute, answer: Schema, schemas: Mapping[str, Schema]) -> dict[str, Any]:
    """The entry of a route. `answer` is the schema of its answer; `schemas` has that of its arguments."""
    operation, status = route.operation, route.served.status
    arguments = schemas[operation.arguments.__name__]
    data = next((item for item in operation.parameters if item.place == "data"), None)
    body = None
    if data is not None:
        body = content(arguments["properties"][data.name], JSON, BODIES.get(operation.name))
    return entry(
        route.tag,
        route.operation_id,
        operation.description,
        security=security_of(operation),
        parameters=[*_parameters(route, arguments, schemas), *_headers(route)],
        body=body,
        needs_body=data is not None and not _takes_nothing(data.annotation),
        responses={
            str(status): _success(route, answer),
            **(_repeated(route, answer) if operation.repeatable else {}),
            **({"304": _NOT_MODIFIED} if _is_tagged(route) else {}),
            **failures_of(operation, has_body=data is not None),
        },
    ) | (operation.deprecation.flags if operation.deprecation else {})


def _takes_nothing(model: Any) -> bool:
    """Whether an empty body, which is read as an empty object, is valid."""
    try:
        TypeAdapter(model).validate_python({})
    except ValidationError:
        return False
    return True


def _success(route: OperationRoute, schema: Schema) -> dict[str, Any]:
    status, media_type = route.served.status, route.served.media_type.partition(";")[0]
    body, example = None, answers().get(route.operation_id)
    if status not in EMPTY:
        body = content(schema if media_type == JSON else _TEXT, media_type, example)
    headers = _ENDING if route.operation.deprecation else {}
    headers = headers | (_ETAG if _has_tag(route) else {}) | (_REPLAYED if _takes_key(route) else {})
    headers = headers | (_LOCATION if status == 201 and route.served.place_of_new is not None else {})
    return success(status, body) | {"headers": {**headers, **LIMITED}}


def _repeated(route: OperationRoute, schema: Schema) -> dict[str, Any]:
    """The answer to what was reported before: the same, with another status."""
    text = "The `external_id` was reported before: nothing has changed, and this is what is there."
    return {"200": _success(route, schema) | {"description": text}}


def _takes_key(route: OperationRoute) -> bool:
    """Whether a request can have an `Idempotency-Key`."""
    return route.method in ("POST", "PATCH") and route.operation.changes


def _has_tag(route: OperationRoute) -> bool:
    """Whether the answer has an `ETag`: a resource that was read, or changed and then read."""
    model = route.served.model
    is_given = route.method == "GET" or route.operation.gives is not None
    return is_given and inspect.isclass(model) and issubclass(model, Resource)


def _is_tagged(route: OperationRoute) -> bool:
    return route.method == "GET" and _has_tag(route)


def _parameters(
    route: OperationRoute, arguments: Schema, schemas: Mapping[str, Schema]
) -> Iterator[dict[str, Any]]:
    """Those of the path and the query. A `Filters` is a reference to the schema of its parameters."""
    in_path = path_names_of(route.path)
    if route.served.expands is not None:
        yield _expand(sorted(LINKS[route.served.expands]))
    for parameter in route.operation.parameters:
        schema = arguments["properties"][parameter.name]
        if parameter.place == "filters":
            filters = schemas[schema["$ref"].removeprefix(REF)]
            for name, field in filters["properties"].items():
                is_needed = name in filters.get("required", ())
                yield _parameter(name, field, "query", route, required=is_needed)
        elif parameter.place == "value" and parameter.name not in route.omits:
            is_in_path = parameter.name in in_path
            required = is_in_path or parameter.name in arguments.get("required", ())
            place = "path" if is_in_path else "query"
            yield _parameter(parameter.name, schema, place, route, required=required)


def _expand(links: Sequence[str]) -> dict[str, Any]:
    names = ", ".join(f"`{name}`" for name in links)
    return {
        "name": EXPAND,
        "in": "query",
        "required": False,
        "style": "form",
        "explode": False,
        "description": f"Links to have in the answer, each with its object or first page: {names}, and the "
        f"links of these after a dot, at most {MOST_LEVELS} levels. Each needs the scope to read it, and "
        "costs what it costs in GraphQL. Expanded answers have no `ETag`.",
        "schema": {"type": "array", "maxItems": MOST_PATHS, "items": {"type": "string"}},
        # Without it, programs that try operations out make names up.
        "example": [],
    }


def _about(name: str, route: OperationRoute) -> str:
    """What an id in a path is of: the collection before it."""
    collection = route.path.partition(f"{{{name}")[0].strip("/").rpartition("/")[2]
    noun = "customer" if name == "external_id" else collection.replace("-", " ")
    noun = f"{noun[:-3]}y" if noun.endswith("ies") else noun.removesuffix("s")
    return f"The id of the {noun}" + (" in the caller's system." if name == "external_id" else ".")


def _parameter(
    name: str, schema: Schema, place: str, route: OperationRoute, *, required: bool
) -> dict[str, Any]:
    """A parameter can be left out, if at all, but it cannot be null."""
    if (name, place) == ("metadata", "query"):
        return METADATA
    schema = without_null(schema)
    about = {key: schema[key] for key in ("description", "deprecated", REASON) if key in schema}
    if place == "path" and "description" not in about:
        about["description"] = _about(name, route)
    example = {"example": PARAMETERS[name]} if required and name in PARAMETERS else {}
    rest = {key: value for key, value in schema.items() if key not in about}
    return {"name": name, "in": place, "required": required, "schema": rest} | about | example


def _headers(route: OperationRoute) -> Iterator[dict[str, Any]]:
    if _takes_key(route):
        text = "A unique key of the request: a retry with the same key within 24 hours changes nothing."
        yield header_parameter("Idempotency-Key", text, _KEY)
    if isinstance(route.served, StreamEndpoint):
        text = "The `id` of the last event that arrived: the stream goes on after it."
        yield header_parameter(LAST_EVENT_ID, text, _POSITION)
    if route.operation.is_conditional:
        text = "An ETag: the request fails with 412 if the resource has another one."
        yield header_parameter("If-Match", text, _TEXT)
    if _is_tagged(route):
        text = "An ETag: the answer is 304 if the resource still has it."
        yield header_parameter("If-None-Match", text, _TEXT)
