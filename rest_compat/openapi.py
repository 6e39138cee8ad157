"""The OpenAPI document: FastAPI's, with what it cannot see: credentials, conditions and metadata filters."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from resolvers.operations.declaration import Operation

BEARER = "bearer"
SCHEMES = {
    BEARER: {
        "type": "http",
        "scheme": "bearer",
        "description": "A workspace token, a personal token, an OAuth access token or a customer's token.",
    }
}
DESCRIPTION = """
Send `Authorization: Bearer <token>` with every call; bodies are JSON. Every operation here is also a field
of the GraphQL endpoint `/graphql`, which runs the same code.

A failure answers `{"error": code, "detail": ...}`. With 422, `detail` lists every problem as
`{loc, msg, type, input}`. Lists take `page` and `limit`, or `after` with a page's `next_cursor`.
A `PATCH` keeps the fields it leaves out. `POST` and `PATCH` take an `Idempotency-Key`, single reads give an
`ETag`.
"""
_BOUNDS = {"ge": "minimum", "le": "maximum"}
METADATA = {
    "name": "metadata",
    "in": "query",
    "required": False,
    "style": "deepObject",
    "explode": True,
    "description": "`metadata[key]=value`: only those that hold the pair, numbers and booleans as JSON.",
    "schema": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 500}},
}


def describe_api(app: FastAPI) -> None:
    """Let `app.openapi()` give the complete document."""

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
    """What an operation's entry says beside FastAPI's part: its credential and the headers it takes."""
    headers = []
    if method in ("POST", "PATCH") and operation.changes:
        headers.append(_header("Idempotency-Key", "A retry under the same key does nothing, for 24 hours."))
    if operation.is_conditional and method == "PATCH":
        headers.append(_header("If-Match", "An ETag: change only what still has it."))
    if method == "GET":
        headers.append(_header("If-None-Match", "An ETag: answer 304 while it holds."))
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
    """Bounds in JSON Schema's words: pydantic keeps its own where a validator stands before the number."""
    if isinstance(schema, dict):
        return {_BOUNDS.get(key, key): _with_bounds(value) for key, value in schema.items()}
    return [_with_bounds(item) for item in schema] if isinstance(schema, list) else schema
