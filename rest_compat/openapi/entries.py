"""The parts that every entry of the document has."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from rest_compat.openapi.headers import LIMITED
from rest_compat.openapi.schemas.plain import Schema

Security = list[dict[str, list[str]]]


def entry(
    tag: str,
    name: str,
    description: str,
    *,
    security: Security,
    responses: Mapping[str, Any],
    parameters: Iterable[Schema] | None = None,
    body: Mapping[str, Any] | None = None,
    needs_body: bool = True,
) -> dict[str, Any]:
    """The entry of the operation `name`. `body` has the media types of a body, which may be optional."""
    return {
        "tags": [tag],
        "summary": name.replace("_", " ").capitalize(),
        "description": description,
        "operationId": name,
        **({} if parameters is None else {"parameters": [*parameters]}),
        **({} if body is None else {"requestBody": {"content": body, "required": needs_body}}),
        "responses": responses,
        "security": security,
    }


def content(schema: Schema, media_type: str, example: Any = None) -> dict[str, Any]:
    """A body of one media type."""
    return {media_type: {"schema": schema} | ({} if example is None else {"example": example})}


def success(status: int, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The response of a request that succeeds."""
    rest = {} if body is None else {"content": body}
    return {"description": HTTPStatus(status).phrase, "headers": LIMITED} | rest


def header_parameter(name: str, description: str, schema: Schema, *, required: bool = False) -> Schema:
    """A header that a request can have."""
    return {"name": name, "in": "header", "required": required, "description": description, "schema": schema}
