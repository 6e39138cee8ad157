"""Requests to run a document: read from HTTP, and kept with what was worked out for them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request

from resolvers.graph.documents import LONGEST_CACHED
from resolvers.graph.surveys import Survey
from resolvers.operations.answers import JSON
from resolvers.operations.bodies import announced_length, parse_json, read_body
from resolvers.operations.declaration import LARGEST_BODY
from resolvers.operations.sent_headers import sent_header
from schema.errors import Invalid, problem
from storage.caches import Cache

_OBJECTS = ("variables", "extensions")
# A kept request takes less than this, measured with tracemalloc: three letters of its variables
# may be an object, and each root field has validated arguments, with what readers work out from them.
BYTES_OF_A_REQUEST, BYTES_OF_A_LETTER, BYTES_OF_A_ROOT = 3_000, 80, 4_000
BYTES_KEPT = 8 * 1024 * 1024


@dataclass(eq=False, slots=True)
class GraphQLRequest:
    """A request to run the operation `name` of the document `text`. `size` is that of its body in bytes.

    What is worked out for it is the same for every request with the same bytes: the survey, and the
    validated arguments of each root field by its name in the answer.
    """

    text: str
    name: str | None
    variables: dict[str, Any]
    size: int
    key: tuple[str, bytes]
    survey: Survey | None = None
    arguments: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    is_kept: bool = False


_kept: Cache[tuple[str, bytes], GraphQLRequest] = Cache(BYTES_KEPT)


def keep(request: GraphQLRequest, survey: Survey, roots: int) -> None:
    """Keep a request that was surveyed and has so many root fields, if it is short."""
    length = len(request.key[1])
    if length <= LONGEST_CACHED:
        request.is_kept = True
        request.survey = survey.without_nodes()
        size = BYTES_OF_A_REQUEST + BYTES_OF_A_LETTER * length + BYTES_OF_A_ROOT * roots
        _kept.keep(request.key, request, size)


def read_query(request: Request) -> GraphQLRequest:
    """The request in a query string. Raises `Invalid`."""
    key = ("GET", request.scope["query_string"])
    kept = _kept.get(key)
    if kept is not None:
        return kept
    payload: dict[str, Any] = dict(request.query_params)
    for name in _OBJECTS:
        if name in payload:
            payload[name] = _parse_parameter(name, payload[name])
    return _read(payload, 0, key)


async def read_json(request: Request, own_largest: Callable[[], int]) -> GraphQLRequest:
    """The request in a JSON body. `own_largest` says how large the caller's may be.

    Raises `Invalid` or `TooLarge`.
    """
    if sent_header(request, b"content-type") != JSON:
        _check_media_type(request)
    announced = announced_length(request)
    # The caller's own limit does not matter to a body that is announced as short.
    is_short = 0 < announced <= LARGEST_BODY
    body = await read_body(request, LARGEST_BODY if is_short else own_largest(), announced)
    key = ("POST", body)
    kept = _kept.get(key)
    return _read(parse_json(body), len(body), key) if kept is None else kept


def _check_media_type(request: Request) -> None:
    kind = (sent_header(request, b"content-type") or "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise Invalid([problem(("header", "Content-Type"), "Send application/json", "content_type")])


def _read(payload: Any, size: int, key: tuple[str, bytes]) -> GraphQLRequest:
    """Raises `Invalid` if the payload is not a request of GraphQL over HTTP."""
    text = payload.get("query") if isinstance(payload, dict) else None
    if not isinstance(payload, dict) or not isinstance(text, str) or not text.strip():
        message = "Send the document as the string `query`: in a JSON object, or by GET as a parameter"
        raise Invalid([problem(("query",), message, "missing")])
    for name in _OBJECTS:
        if not isinstance(payload.get(name), dict | None):
            raise Invalid([problem((name,), f"`{name}` should be an object or null", "type")])
    operation_name = payload.get("operationName")
    if not isinstance(operation_name, str | None):
        raise Invalid([problem(("operationName",), "`operationName` should be a string or null", "type")])
    return GraphQLRequest(text, operation_name, payload.get("variables") or {}, size, key)


def _parse_parameter(name: str, text: str) -> Any:
    try:
        return parse_json(text.encode())
    except Invalid as invalid:
        raise Invalid([entry | {"loc": [name]} for entry in invalid.problems]) from None
