"""The entry of GitHub's callback, which no user's program calls.

A report's signature covers the body as sent, so the endpoint reads headers and body itself.
"""

from typing import Any

from resolvers.operations.answers import JSON
from rest_compat.openapi.answers import answers
from rest_compat.openapi.entries import content, entry, header_parameter, success
from rest_compat.openapi.examples import BODIES
from rest_compat.openapi.failures import failures_of
from rest_compat.openapi.schemas.plain import REF
from rest_compat.protocols.secret_scanning import KEY_HEADER, REPORT, SIGNATURE_HEADER
from schema.credentials.leaks import MOST_LEAKS, Leak, LeakVerdict

REPORTS_TAG = {
    "name": "GitHub callbacks",
    "description": "What GitHub calls when it finds a credential in public: not for other programs.",
}


def report_entry() -> dict[str, Any]:
    """The entry of the callback."""
    leaks = {"type": "array", "maxItems": MOST_LEAKS, "items": Leak.model_json_schema()}
    verdicts = {"type": "array", "items": {"$ref": REF + LeakVerdict.__name__}}
    key = "The identifier of the GitHub key that signed the body."
    signature = "The key's ECDSA signature of the body as sent, in Base64."
    return entry(
        REPORTS_TAG["name"],
        REPORT.name,
        REPORT.description,
        security=[],
        parameters=[
            header_parameter(KEY_HEADER, key, {"type": "string"}, required=True),
            header_parameter(SIGNATURE_HEADER, signature, {"type": "string"}, required=True),
        ],
        body=content(leaks, JSON, BODIES[REPORT.name]),
        responses={
            "200": success(200, content(verdicts, JSON, answers().get(REPORT.name))),
            **failures_of(REPORT, has_body=True),
        },
    )
