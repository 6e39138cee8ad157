"""The requests that webhook endpoints get, one entry for each kind of change."""

from typing import Any

from resolvers.changes.readable import READABLE
from resolvers.operations.answers import JSON
from rest_compat.openapi.entries import content, header_parameter
from rest_compat.openapi.schemas.plain import REF, Schema
from storage.changes.kinds import ChangeKind

_ID, _NUMBER = {"type": "string", "format": "uuid"}, {"type": "string", "pattern": "^[0-9]+$"}
_HEADERS = (
    ("webhook-id", "The id of the change: the same for each attempt.", _ID),
    ("webhook-timestamp", "When the attempt was made, in seconds since 1970.", _NUMBER),
    (
        "webhook-signature",
        "`v1,` and the HMAC-SHA256 of `id.timestamp.body`, one for each secret, separated by a space.",
        {"type": "string"},
    ),
)
_COUNT: Schema = {
    "type": "object",
    "required": ["count"],
    "properties": {"count": {"type": "integer", "description": "How many were ingested."}},
}


def webhook_entries() -> dict[str, Any]:
    """The entries by kind, for the document's `webhooks`."""
    return {kind.value: {"post": _entry(kind)} for kind in ChangeKind}


def _entry(kind: ChangeKind) -> dict[str, Any]:
    return {
        "summary": kind.value,
        "description": kind.description,
        "parameters": [header_parameter(*header, required=True) for header in _HEADERS],
        "requestBody": {"content": content(_body(kind), JSON), "required": True},
        "responses": {
            "2XX": {"description": "Accepted. Any other status is sent again, in order for each resource."},
            "410": {"description": "The endpoint is disabled."},
        },
        "security": [],
    }


def _body(kind: ChangeKind) -> Schema:
    return {
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": {"const": kind.value, "type": "string"},
            "timestamp": {"type": "string", "format": "date-time", "description": "The time of the change."},
            "data": _data(kind),
        },
    }


def _data(kind: ChangeKind) -> Schema:
    """The resource as REST reads it at the time of the attempt; of a batch, its count."""
    shape = READABLE[kind.resource].shape
    if shape is None:
        return _COUNT
    gone = {"type": "null", "description": "The resource is gone."}
    return {"anyOf": [{"$ref": REF + shape.model.__name__}, gone]}
