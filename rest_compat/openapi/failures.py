"""The failures of operations: which statuses each can have, and the bodies that they have."""

import inspect
from http import HTTPStatus
from typing import Annotated, Any, Literal, Required

from pydantic import Field
from typing_extensions import TypedDict

from resolvers.operations.answers import JSON
from resolvers.operations.declaration import Operation
from rest_compat.openapi.answers import answers
from rest_compat.openapi.entries import content
from rest_compat.openapi.headers import LIMITED
from rest_compat.openapi.schemas.plain import REF, Schema
from schema.errors import MOST_PROBLEMS, Failure, Invalid, TooComplex

_NAMES = {
    HTTPStatus.UNAUTHORIZED: "Unauthorized",
    HTTPStatus.FORBIDDEN: "Forbidden",
    HTTPStatus.NOT_FOUND: "NotFound",
    HTTPStatus.CONFLICT: "Conflict",
    HTTPStatus.GONE: "Gone",
    HTTPStatus.PRECONDITION_FAILED: "PreconditionFailed",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "TooLarge",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "UnsupportedMediaType",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Invalid",
    HTTPStatus.TOO_MANY_REQUESTS: "RateLimited",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Internal",
    HTTPStatus.SERVICE_UNAVAILABLE: "Unavailable",
}
_HEADERS = "HeadersTooLarge"
_WAIT = {
    "Retry-After": {
        "description": "The seconds after which the request can be sent again.",
        "schema": {"type": "integer"},
    }
}
_WAITING = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


class Problem(TypedDict, total=False):
    """One problem of the input."""

    loc: Required[
        Annotated[
            list[str | int],
            Field(description="The place: `path`, `query` or `body`, then the names and positions below it."),
        ]
    ]
    msg: Required[Annotated[str, Field(description="The problem in words.")]]
    type: Required[Annotated[str, Field(description="The kind of problem, such as `missing`.")]]
    input: Annotated[
        Any, Field(description="The value as sent; left out if it is long, a container or a secret.")
    ]


class InvalidError(TypedDict, total=False):
    """The body of an answer with status 422."""

    error: Required[Literal["invalid"]]
    detail: Required[Annotated[list[Problem], Field(max_length=MOST_PROBLEMS)]]
    more: Annotated[int, Field(description="The number of further problems, which are not listed.")]


def _failures() -> list[type[Failure]]:
    """Those that REST can have, besides 422."""
    ours = [failure for failure in Failure.__subclasses__() if failure.__module__ == Failure.__module__]
    return [failure for failure in ours if failure not in (Invalid, TooComplex)]


def error_schema() -> Schema:
    """The body of a failure with another status than 422, whose body is an `InvalidError`."""
    return {
        "type": "object",
        "description": "The body of every error response, except with status 422.",
        "required": ["error", "detail"],
        "properties": {
            "error": {"type": "string", "enum": sorted(failure.code for failure in _failures())},
            "detail": {"type": "string", "description": "The reason in words."},
        },
    }


def failure_responses() -> dict[str, Any]:
    """A response for each status, to which operations refer."""
    responses = {name: _response(status, answers().get(name)) for status, name in _NAMES.items()}
    # From the connection itself, before a request exists that could have a body in the API's form.
    responses[_HEADERS] = {"description": "The address or the headers are longer than 64 KiB. No body."}
    return responses


def _response(status: HTTPStatus, example: Any) -> dict[str, Any]:
    is_invalid = status is HTTPStatus.UNPROCESSABLE_ENTITY
    failures = [Invalid] if is_invalid else [each for each in _failures() if each.status is status]
    texts = [f"`{failure.code}`: {_about(failure)}" for failure in failures]
    name = InvalidError.__name__ if is_invalid else "Error"
    response: dict[str, Any] = {
        "description": "\n\n".join(texts),
        "content": content({"$ref": REF + name}, JSON, example),
    }
    return response | {"headers": headers_of(status)}


def headers_of(status: int) -> dict[str, Any]:
    """What each answer with this status may have: what is left of the limit, and when to come back."""
    return (_WAIT if status in _WAITING else {}) | LIMITED


def _about(failure: type[Failure]) -> str:
    """The first paragraph of its docstring."""
    return " ".join((inspect.getdoc(failure) or "").partition("\n\n")[0].split())


def failures_of(operation: Operation, *, has_body: bool) -> dict[str, Any]:
    """The failing responses of an operation by status."""
    is_possible = {
        HTTPStatus.FORBIDDEN: bool(operation.kinds),
        HTTPStatus.NOT_FOUND: has_body or operation.changes or _names_resources(operation),
        HTTPStatus.CONFLICT: operation.changes,
        HTTPStatus.GONE: operation.filters is not None and operation.filters.may_be_gone,
        HTTPStatus.PRECONDITION_FAILED: operation.is_conditional,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE: has_body,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE: has_body,
    }
    names = {status: name for status, name in _NAMES.items() if is_possible.get(status, True)}
    if operation.filters is not None:
        names[HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE] = _HEADERS
    return {
        str(int(status)): {"$ref": f"#/components/responses/{name}"} for status, name in sorted(names.items())
    }


def _names_resources(operation: Operation) -> bool:
    """Whether its path or its query can name a resource that does not exist for the caller."""
    values = any(parameter.place == "value" for parameter in operation.parameters)
    return values or (operation.filters is not None and "workspace_id" in operation.filters.model_fields)
