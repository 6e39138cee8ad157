"""The requests that webhook endpoints get, one entry for each kind of change."""

import re
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


def webhook_bodies() -> dict[str, Schema]:
    """The schemas of the bodies by name; receivers are typed by them also where `webhooks` is not read."""
    return {_body_name(kind): _body(kind) for kind in ChangeKind}


def _body_name(kind: ChangeKind) -> str:
    """`ShareCreatedPayload` for `share.created`."""
    return "".join(word.title() for word in re.split(r"[._]", kind.value)) + "Payload"


def _entry(kind: ChangeKind) -> dict[str, Any]:
    return {
        "summary": kind.value,
        "description": kind.description,
        "parameters": [header_parameter(*header, required=True) for header in _HEADERS],
        "requestBody": {"content": content({"$ref": REF + _body_name(kind)}, JSON), "required": True},
        "responses": {
            "2XX": {"description": "Accepted. Any other status is sent again, in order for each resource."},
            "410": {"description": "The endpoint is disabled."},
        },
        "security": [],
    }


def _body(kind: ChangeKind) -> Schema:
    return {
        "type": "object",
        "description": f"What an endpoint gets for `{kind.value}`.",
        "required": ["type", "timestamp", "resource_id", "data"],
        "properties": {
            "type": {"const": kind.value, "type": "string"},
            "timestamp": {"type": "string", "format": "date-time", "description": "The time of the change."},
            "resource_id": _resource_id(kind),
            "data": _data(kind),
        },
    }


def _resource_id(kind: ChangeKind) -> Schema:
    if READABLE[kind.resource].shape is None:
        return {"type": "null", "description": "A batch is no single resource."}
    return {**_ID, "description": "The id of the resource, which may be gone."}


def _data(kind: ChangeKind) -> Schema:
    """The resource, or null; of a batch, its count."""
    shape = READABLE[kind.resource].shape
    if shape is None:
        return _COUNT
    return {
        "anyOf": [{"$ref": REF + shape.model.__name__}, {"type": "null"}],
        "description": "The resource as REST reads it at the time of the attempt; null if it is gone.",
    }
