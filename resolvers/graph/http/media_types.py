"""The media types of GraphQL over HTTP, and the HTTP status that each has for a failure.

https://graphql.github.io/graphql-over-http/draft/
"""

import re
from functools import lru_cache

from resolvers.operations.answers import JSON
from schema.errors import (
    DocumentNotRegistered,
    Failure,
    MethodNotAllowed,
    RateLimited,
    TooLarge,
    Unauthorized,
    UnsupportedMediaType,
)

RESPONSE_JSON = "application/graphql-response+json"
EVENT_STREAM = "text/event-stream"
# Documents that are refused as a whole: with `application/json` only these have a status of their own.
_HTTP_FAILURES = (Unauthorized, RateLimited, MethodNotAllowed, TooLarge, UnsupportedMediaType)
_UNPROCESSABLE, _BAD_REQUEST = 422, 400
LONGEST_KEPT = 200
_QUALITY = re.compile(r"[01](\.[0-9]{0,3})?")
_RANGES = {
    RESPONSE_JSON: RESPONSE_JSON,
    EVENT_STREAM: EVENT_STREAM,
    JSON: JSON,
    "application/*": JSON,
    "*/*": JSON,
}


def accepted_type(accept: str | None) -> str:
    """The media type to answer with: of those with the highest `q` the first, else `application/json`."""
    if accept is None:
        return JSON
    lowered = accept.lower()
    if RESPONSE_JSON not in lowered and EVENT_STREAM not in lowered:
        return JSON
    return (_kept_choice if len(lowered) <= LONGEST_KEPT else _choice)(lowered)


def accepts_events(accept: str | None) -> bool:
    """Whether a subscription may be answered, even if other documents are to be answered otherwise."""
    return accept is not None and EVENT_STREAM in accept.lower()


def _choice(accept: str) -> str:
    best, chosen = 0.0, JSON
    for entry in accept.split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        quality = _quality(parameters)
        if name in _RANGES and quality > best:
            best, chosen = quality, _RANGES[name]
    return chosen


_kept_choice = lru_cache(maxsize=64)(_choice)


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name == "q":
            return float(value) if _QUALITY.fullmatch(value) else 0.0
    return 1.0


def status_of(failure: Failure, media_type: str, *, is_read: bool) -> int:
    """The HTTP status of an answer without data. A request is read once it was found to have a document."""
    status = int(failure.status)
    if isinstance(failure, _HTTP_FAILURES):
        return status
    if media_type == JSON and (is_read or isinstance(failure, DocumentNotRegistered)):
        return 200
    return _BAD_REQUEST if status == _UNPROCESSABLE else status
