"""The entry of GitHub's callback, which no user's program calls.

A report's signature covers the body as sent, so the endpoint reads headers and body itself.
"""

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter

from resolvers.operations.answers import JSON
from rest_compat.openapi.examples import BODIES
from rest_compat.openapi.failures import failures_of
from rest_compat.openapi.operations import documented, words
from rest_compat.protocols.secret_scanning import KEY_HEADER, REPORT, REPORT_PATH, SIGNATURE_HEADER
from schema.credentials.leaks import MOST_LEAKS, Leak, LeakVerdict

REPORTS_TAG = {
    "name": "GitHub callbacks",
    "description": "What GitHub calls when it finds a credential in public: not for other programs.",
}


def document_reports(router: APIRouter) -> None:
    """Add the route to `router`, for FastAPI to document its answer."""
    router.add_api_route(
        REPORT_PATH,
        documented(REPORT, frozenset(), frozenset({"data"})),
        methods=["POST"],
        response_model=list[LeakVerdict],
        response_description=HTTPStatus.OK.phrase,
        tags=[REPORTS_TAG["name"]],
        summary=words(REPORT.name),
        description=REPORT.description,
        operation_id=REPORT.name,
    )


def complete_reports(paths: dict[str, Any]) -> None:
    """The headers, the body and the failures of the entry."""
    entry = paths[REPORT_PATH]["post"]
    body = {"type": "array", "maxItems": MOST_LEAKS, "items": Leak.model_json_schema()}
    content = {"schema": body, "example": BODIES[REPORT.name]}
    entry["security"] = []
    entry["parameters"] = [
        _sent_header(KEY_HEADER, "The identifier of the GitHub key that signed the body."),
        _sent_header(SIGNATURE_HEADER, "The key's ECDSA signature of the body as sent, in Base64."),
    ]
    entry["requestBody"] = {"required": True, "content": {JSON: content}}
    entry["responses"] = {
        "200": entry["responses"]["200"],
        **failures_of(REPORT, has_body=True),
    }


def _sent_header(name: str, description: str) -> dict[str, Any]:
    schema = {"type": "string"}
    return {"name": name, "in": "header", "required": True, "description": description, "schema": schema}
