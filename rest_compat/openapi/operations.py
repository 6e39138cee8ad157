"""The entry of each operation: its parameters from FastAPI, then what FastAPI does not know."""

import inspect
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query
from starlette.responses import JSONResponse, Response

from resolvers.operations.answers import JSON
from resolvers.operations.declaration import Operation
from rest_compat.openapi.examples import BODIES, PARAMETERS
from rest_compat.openapi.failures import failures_of
from rest_compat.openapi.schemas import Schema, without_null
from rest_compat.openapi.security import security_of
from rest_compat.routing.endpoint import EMPTY
from rest_compat.routing.reading import path_names_of
from rest_compat.routing.router import OperationRoute
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


def document_route(router: APIRouter, route: OperationRoute) -> None:
    """Add the route to `router`, for FastAPI to document its parameters, body and answer."""
    operation, served = route.operation, route.served
    router.add_api_route(
        route.path,
        documented(operation, path_names_of(route.path), route.omits),
        methods=[route.method],
        status_code=served.status,
        response_model=served.model if served.media_type == JSON else None,
        response_class=_response_class(served.status, served.media_type),
        response_description=HTTPStatus(served.status).phrase,
        tags=[route.tag],
        summary=words(route.operation_id),
        description=operation.description,
        operation_id=route.operation_id,
    )


def complete(entry: dict[str, Any], route: OperationRoute) -> None:
    """Add credentials, headers, failures and examples to the route's entry."""
    operation = route.operation
    entry["security"] = security_of(operation)
    if operation.deprecation is not None:
        entry |= operation.deprecation.flags
    entry["parameters"] = [
        *(_parameter(parameter) for parameter in entry.get("parameters", [])),
        *_headers(route),
    ]
    success = entry["responses"][str(route.served.status)]
    headers = _ENDING if operation.deprecation else {}
    headers = headers | (_ETAG if _has_tag(route) else {}) | (_REPLAYED if operation.changes else {})
    if headers:
        success["headers"] = headers
    entry["responses"] = {str(route.served.status): success}
    if _is_tagged(route):
        entry["responses"]["304"] = {"description": "The resource still has the tag of `If-None-Match`."}
    has_body = "requestBody" in entry
    entry["responses"] |= failures_of(operation, has_body=has_body)
    if has_body:
        _add_example(entry["requestBody"], operation)


def documented(operation: Operation, path_names: frozenset[str], omits: frozenset[str]) -> Callable[..., Any]:
    """A function with the operation's parameters, for FastAPI to document; it is never called."""

    async def document(**_: Any) -> Any:
        raise AssertionError("OperationEndpoint runs the operation itself.")

    parameters = []
    for parameter in operation.parameters:
        annotation: Any = Annotated[parameter.annotation, Query()]
        default = parameter.default
        if parameter.name in omits:
            continue
        if parameter.place == "data":
            annotation = Annotated[parameter.annotation, Body()]
        elif parameter.name in path_names:
            annotation, default = Annotated[parameter.annotation, Path()], inspect.Parameter.empty
        parameters.append(
            inspect.Parameter(
                parameter.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
        )
    document.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return document


def words(name: str) -> str:
    """The summary of the operation of this name."""
    return name.replace("_", " ").capitalize()


def _response_class(status: int, media_type: str) -> type[Response]:
    if status in EMPTY:
        return Response
    if media_type == JSON:
        return JSONResponse
    return type("Other", (Response,), {"media_type": media_type.partition(";")[0]})


def _has_tag(route: OperationRoute) -> bool:
    """Whether the answer has an `ETag`: a resource that was read, or changed and then read."""
    model = route.served.model
    is_given = route.method == "GET" or route.operation.gives is not None
    return is_given and inspect.isclass(model) and issubclass(model, Resource)


def _is_tagged(route: OperationRoute) -> bool:
    return route.method == "GET" and _has_tag(route)


def _parameter(entry: dict[str, Any]) -> dict[str, Any]:
    """A parameter of a path or a query: it can be left out, if at all, but it cannot be null."""
    if (entry["name"], entry["in"]) == ("metadata", "query"):
        return METADATA
    schema: Schema = without_null(entry["schema"])
    shown = {key: value for key, value in schema.items() if key != "description"}
    deprecated = {key: shown.pop(key) for key in ("deprecated", REASON) if key in shown}
    example = PARAMETERS.get(entry["name"]) if entry["required"] else None
    return entry | {"schema": shown} | deprecated | ({} if example is None else {"example": example})


def _headers(route: OperationRoute) -> list[dict[str, Any]]:
    headers, operation, method = [], route.operation, route.method
    if method in ("POST", "PATCH") and operation.changes:
        text = "A unique key of the request: a retry with the same key within 24 hours changes nothing."
        headers.append(_header("Idempotency-Key", text, _KEY))
    if operation.is_conditional and method == "PATCH":
        text = "An ETag: the request fails with 412 if the resource has another one."
        headers.append(_header("If-Match", text, _TEXT))
    if _is_tagged(route):
        text = "An ETag: the answer is 304 if the resource still has it."
        headers.append(_header("If-None-Match", text, _TEXT))
    return headers


def _header(name: str, description: str, schema: Schema) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}


def _add_example(body: dict[str, Any], operation: Operation) -> None:
    example = BODIES.get(operation.name)
    if example is not None:
        body["content"][JSON]["example"] = example
