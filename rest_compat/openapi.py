"""The OpenAPI document: FastAPI's, with credentials, conditional headers and metadata filters added.

FastAPI serves nothing: it gets functions with the parameters of operations, to document them.
"""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from resolvers.operations.answers import JSON
from resolvers.operations.declaration import Operation
from rest_compat.api import documented_routes
from rest_compat.endpoint import EMPTY
from rest_compat.reading import path_names_of
from rest_compat.router import OperationRoute
from rest_compat.secret_scanning import KEY_HEADER, REPORT, REPORT_PATH, SIGNATURE_HEADER
from schema.leaks import MOST_LEAKS, Leak, LeakVerdict

TITLE, VERSION = "Duograph", "0.1.0"

BEARER = "bearer"
SCHEMES = {
    BEARER: {
        "type": "http",
        "scheme": "bearer",
        "description": "A workspace, personal, OAuth or customer access token.",
    }
}
DESCRIPTION = """
Send `Authorization: Bearer <token>` with every request; bodies are JSON. Every operation is also a field of
the GraphQL endpoint `/graphql`, which runs the same code.

An error has the body `{"error": code, "detail": ...}`. With status 422, `detail` lists every problem as
`{loc, msg, type, input}`. Lists accept `page` and `limit`, or `after` with a page's `next_cursor`.
`PATCH` keeps the values of fields that are left out. `POST` and `PATCH` accept an `Idempotency-Key`; reads of
single resources return an `ETag`.
"""
_BOUNDS = {"ge": "minimum", "le": "maximum"}
METADATA = {
    "name": "metadata",
    "in": "query",
    "required": False,
    "style": "deepObject",
    "explode": True,
    "description": "`metadata[key]=value`: only resources whose metadata has the pair; numbers and booleans "
    "are written as in JSON.",
    "schema": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 500}},
}


class Error(BaseModel):
    """The body of every error response.

    `detail` is a list of at most 100 problems if the status is 422; `more` counts the omitted ones.
    """

    error: str
    detail: str | list[dict[str, Any]]
    more: int | None = None


ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Error, "description": "A failure that the caller can correct."}
}
# FastAPI documents a model under the route's media type, but failures are always JSON.
ERRORS_AS_JSON: dict[int | str, dict[str, Any]] = {
    status: {
        "description": entry["description"],
        "content": {JSON: {"schema": {"$ref": f"#/components/schemas/{entry['model'].__name__}"}}},
    }
    for status, entry in ERRORS.items()
}


@cache
def openapi_document() -> dict[str, Any]:
    """The document of the whole REST surface."""
    router = APIRouter()
    for route in documented_routes():
        _document(router, route)
    _document_reports(router)
    return _complete(
        get_openapi(
            title=TITLE,
            version=VERSION,
            summary="REST and GraphQL over the same operations; this is the REST surface.",
            description=DESCRIPTION,
            routes=router.routes,
        )
    )


def _document(router: APIRouter, route: OperationRoute) -> None:
    operation, served = route.operation, route.served
    is_json = served.media_type == JSON
    router.add_api_route(
        route.path,
        _documented(operation, path_names_of(route.path), route.omits),
        methods=[route.method],
        status_code=served.status,
        response_model=served.model if is_json else None,
        response_class=_response_class(served.status, served.media_type),
        responses=ERRORS if is_json else ERRORS_AS_JSON,
        tags=[route.tag],
        summary=_words(route.operation_id),
        description=operation.description,
        operation_id=route.operation_id,
        openapi_extra=_extras(operation, route.method),
    )


def _document_reports(router: APIRouter) -> None:
    """A report's signature covers the body as sent, so the endpoint reads headers and body itself."""
    body = {"type": "array", "maxItems": MOST_LEAKS, "items": Leak.model_json_schema()}
    router.add_api_route(
        REPORT_PATH,
        _documented(REPORT, frozenset(), frozenset({"data"})),
        methods=["POST"],
        response_model=list[LeakVerdict],
        responses=ERRORS,
        tags=["secret scanning"],
        summary=_words(REPORT.name),
        description=REPORT.description,
        operation_id=REPORT.name,
        openapi_extra={
            "security": [],
            "parameters": [
                _sent_header(KEY_HEADER, "The identifier of the GitHub key that signed the body."),
                _sent_header(SIGNATURE_HEADER, "The key's ECDSA signature of the body as sent, in Base64."),
            ],
            "requestBody": {"required": True, "content": {JSON: {"schema": body}}},
        },
    )


def _documented(
    operation: Operation, path_names: frozenset[str], omits: frozenset[str]
) -> Callable[..., Any]:
    """A function with the operation's parameters, for FastAPI to document; it is never called."""

    async def documented(**_: Any) -> Any:
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
    documented.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return documented


def _response_class(status: int, media_type: str) -> type[Response]:
    if status in EMPTY:
        return Response
    if media_type == JSON:
        return JSONResponse
    return type("Other", (Response,), {"media_type": media_type.partition(";")[0]})


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _extras(operation: Operation, method: str) -> dict[str, Any]:
    """The parts of an operation's entry that FastAPI does not write: credential and headers."""
    headers = []
    if method in ("POST", "PATCH") and operation.changes:
        headers.append(
            _header(
                "Idempotency-Key",
                "A unique key of the request: a retry with the same key within 24 hours changes nothing.",
            )
        )
    if operation.is_conditional and method == "PATCH":
        headers.append(
            _header("If-Match", "An ETag: the request fails with 412 if the resource has another one.")
        )
    if method == "GET":
        headers.append(_header("If-None-Match", "An ETag: the answer is 304 if the resource still has it."))
    security: list[dict[str, Any]] = [{BEARER: []}] if operation.kinds else []
    return {"security": security, "parameters": headers}


def _header(name: str, description: str) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[\\x21-\\x7e]+$"}
    if name != "Idempotency-Key":
        schema = {"type": "string"}
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}


def _sent_header(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "description": description, "schema": {"type": "string"}}


def _complete(document: dict[str, Any]) -> dict[str, Any]:
    document.setdefault("components", {})["securitySchemes"] = SCHEMES
    document["paths"] = dict(sorted(document["paths"].items()))
    for path in document["paths"].values():
        for operation in path.values():
            operation["parameters"] = [
                METADATA if (entry["name"], entry["in"]) == ("metadata", "query") else entry
                for entry in operation.get("parameters", [])
            ]
    bounded: dict[str, Any] = _with_bounds(document)
    return bounded


def _with_bounds(schema: Any) -> Any:
    """Bounds with JSON Schema's names: Pydantic leaves its own where a validator precedes the number."""
    if isinstance(schema, dict):
        return {_BOUNDS.get(key, key): _with_bounds(value) for key, value in schema.items()}
    return [_with_bounds(item) for item in schema] if isinstance(schema, list) else schema
