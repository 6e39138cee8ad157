"""The headers that tell a caller what a request cost and what is left, on every answer under a limit."""

from typing import Any

from rest_compat.openapi.schemas.plain import Schema


def _header(description: str, schema: Schema) -> dict[str, Any]:
    return {"description": description, "schema": schema}


_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
RATE_LIMITS: dict[str, Any] = {
    "RateLimit-Cost": _header("How many calls the request cost.", _NUMBER),
    "RateLimit-Limit": _header("How many calls a window has; left out without a limit.", _NUMBER),
    "RateLimit-Remaining": _header("How many calls are left in this window.", _NUMBER),
    "RateLimit-Reset": _header("The seconds until all calls are there again.", _NUMBER),
    "RateLimit-Policy": _header(
        'The limit as a structured field, `"default";q=<calls>;w=<seconds>` '
        "(draft-ietf-httpapi-ratelimit-headers).",
        _TEXT,
    ),
    "RateLimit": _header(
        'What is left as a structured field, `"default";r=<calls>;t=<seconds>` '
        "(draft-ietf-httpapi-ratelimit-headers).",
        _TEXT,
    ),
}
# What each response has; the document describes them once.
LIMITED = {name: {"$ref": f"#/components/headers/{name}"} for name in RATE_LIMITS}
