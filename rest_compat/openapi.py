"""The OpenAPI document: FastAPI's, with credentials, conditional headers and metadata filters added."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from resolvers.operations.declaration import Operation

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


def describe_api(app: FastAPI) -> None:
    """Make `app.openapi()` return the complete document."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _complete(
                get_openapi(
                    title=app.title,
                    version=app.version,
                    summary="REST and GraphQL over the same operations; this is the REST surface.",
                    description=DESCRIPTION,
                    routes=app.routes,
                )
            )
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def operation_extras(operation: Operation, method: str) -> dict[str, Any]:
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
