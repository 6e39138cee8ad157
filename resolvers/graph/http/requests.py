"""Requests to run a document: read from HTTP, and kept with what was worked out for them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson
from starlette.requests import Request

from resolvers.graph.execution.planned.plans import KeptPreparation, Prepared
from resolvers.graph.http.persisted import hash_in, keep_text, owner_of, text_of
from resolvers.graph.survey.documents import LONGEST_CACHED
from resolvers.graph.survey.literals import Outline, outline_of
from resolvers.graph.survey.surveys import Survey
from resolvers.graph.survey.tokens import calls_for_tokens
from resolvers.operations.answers import JSON
from resolvers.operations.bodies import announced_length, parse_json, read_body
from resolvers.operations.context import Context
from resolvers.operations.declaration import LARGEST_BODY
from resolvers.operations.http.sent_headers import sent_header, sent_headers
from schema.errors import Invalid, UnsupportedMediaType, problem
from storage.caches import Cache

_OBJECTS = ("variables", "extensions")
_JSON = JSON.encode()
BODY = "duograph.body"
# A kept request takes less than this, measured with tracemalloc: three letters of its variables
# may be an object, and each root field has validated arguments, with what readers work out from them.
BYTES_OF_A_REQUEST, BYTES_OF_A_LETTER, BYTES_OF_A_ROOT, BYTES_OF_A_PAGE = 3_000, 80, 4_000, 200
BYTES_KEPT = 8 * 1024 * 1024


@dataclass(eq=False, slots=True)
class GraphQLRequest:
    """A request to run the operation `name` of the document `text`. `size` is that of its body in bytes.

    `text_cost` is what its length costs in calls. With `wants_cost`, which clients send as `extensions.cost`,
    the answer says what the document costs.

    What is worked out for it is the same for every request with the same bytes: the survey, and what the plan
    of the document makes of the variables. `brings_hash` marks a request with a
    document and its hash: it is read each time, so that the document is kept for each owner who sends it.
    """

    text: str
    name: str | None
    variables: dict[str, Any]
    size: int
    key: tuple[str, bytes]
    wants_cost: bool = False
    brings_hash: bool = False
    text_cost: int = 0
    survey: Survey | None = None
    prepared: KeptPreparation | None = None
    _digest: str | None = None
    _outline: Outline | None = None
    _is_outlined: bool = False

    @property
    def digest(self) -> str:
        """The SHA-256 of the document."""
        if self._digest is None:
            self._digest = sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()
        return self._digest

    @property
    def outline(self) -> Outline | None:
        """The outline of the document; None if it has no literals, or is too long to be kept."""
        if not self._is_outlined:
            self._is_outlined = True
            self._outline = outline_of(self.text) if len(self.text) <= LONGEST_CACHED else None
        return self._outline


_kept: Cache[tuple[str, bytes], GraphQLRequest] = Cache(BYTES_KEPT)


def kept_bytes() -> int:
    """The memory that kept requests take, as estimated."""
    return _kept.size


def keep(request: GraphQLRequest, survey: Survey, prepared: Prepared) -> None:
    """Keep a request that was surveyed and prepared, if it is short."""
    length, kept = len(request.key[1]), prepared.kept()
    if kept is not None and length <= LONGEST_CACHED and not request.brings_hash:
        request.survey, request.prepared = survey.without_nodes(), kept
        roots = BYTES_OF_A_ROOT * len(kept.arguments) + BYTES_OF_A_PAGE * len(kept.pages)
        size = BYTES_OF_A_REQUEST + BYTES_OF_A_LETTER * length + roots
        if len(request.text) > length:  # It was sent by its hash.
            size += 4 * len(request.text)
        _kept.keep(request.key, request, size)


async def read_query(request: Request, ctx: Context) -> GraphQLRequest:
    """The request in a query string. Raises `Invalid` and what `text_of` raises."""
    key = ("GET", request.scope["query_string"])
    kept = _kept.get(key)
    if kept is not None:
        return kept
    payload: dict[str, Any] = dict(request.query_params)
    for name in _OBJECTS:
        if name in payload:
            payload[name] = _parse_parameter(name, payload[name])
    return await _read(payload, 0, key, ctx)


async def read_json(request: Request, own_largest: Callable[[], int], ctx: Context) -> GraphQLRequest:
    """The request in a JSON body. `own_largest` says how large the caller's may be.

    Raises `UnsupportedMediaType`, `Invalid`, `TooLarge` and what `text_of` raises.
    """
    if sent_headers(request.scope).get(b"content-type") != _JSON:
        _check_media_type(request)
    announced = announced_length(request)
    # The caller's own limit does not matter to a body that is announced as short.
    is_short = 0 < announced <= LARGEST_BODY
    if not is_short:
        # One that turns out to be too large cannot be read again, nor is it read for whoever may not send it.
        await ctx.caller.confirm()
    body = request.scope.get(BODY)
    if body is None:
        # Kept for a request that is answered again, since its credential has changed meanwhile.
        body = await read_body(request, LARGEST_BODY if is_short else own_largest(), announced)
        request.scope[BODY] = body
    key = ("POST", body)
    kept = _kept.get(key)
    return await _read(parse_json(body), len(body), key, ctx) if kept is None else kept


async def read_message(payload: Mapping[str, Any], size: int, ctx: Context) -> GraphQLRequest:
    """The request in a message of a WebSocket. Raises `Invalid`, and what `text_of` raises."""
    key = ("WS", orjson.dumps(payload))
    kept = _kept.get(key)
    return await _read(payload, size, key, ctx) if kept is None else kept


def _check_media_type(request: Request) -> None:
    kind = (sent_header(request, b"content-type") or "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise UnsupportedMediaType("Send the document with `Content-Type: application/json`.")


async def _read(payload: Any, size: int, key: tuple[str, bytes], ctx: Context) -> GraphQLRequest:
    """Raises `Invalid` if the payload is not a request of GraphQL over HTTP, and what `text_of` raises."""
    if not isinstance(payload, dict):
        raise _without_document()
    for name in _OBJECTS:
        if not isinstance(payload.get(name), dict | None):
            raise Invalid([problem((name,), f"`{name}` should be an object or null", "type")])
    text, digest = payload.get("query"), hash_in(payload.get("extensions") or {})
    brings_hash = text is not None and digest is not None
    owner = owner_of(ctx.caller.principal)
    if text is None and digest is not None:
        text = await text_of(ctx, owner, digest)
        # The same bytes of another owner may be for no document that is known.
        key = (f"{key[0]} {owner}", key[1])
        if (kept := _kept.get(key)) is not None:
            return kept
    elif not isinstance(text, str) or not text.strip():
        raise _without_document()
    elif digest is not None:
        await keep_text(ctx, owner, digest, text)
    operation_name = payload.get("operationName")
    if not isinstance(operation_name, str | None):
        raise Invalid([problem(("operationName",), "`operationName` should be a string or null", "type")])
    wants_cost = (payload.get("extensions") or {}).get("cost", False)
    if not isinstance(wants_cost, bool):
        raise Invalid([problem(("extensions", "cost"), "`cost` should be true or false", "type")])
    variables = payload.get("variables") or {}
    text_cost = calls_for_tokens(text)
    return GraphQLRequest(text, operation_name, variables, size, key, wants_cost, brings_hash, text_cost)


def _without_document() -> Invalid:
    message = "Send the document as the string `query`: in a JSON object, or by GET as a parameter"
    return Invalid([problem(("query",), message, "missing")])


def _parse_parameter(name: str, text: str) -> Any:
    try:
        return parse_json(text.encode())
    except Invalid as invalid:
        raise Invalid(
            [
                entry | {"loc": [name], "msg": entry["msg"].replace("The body", f"`{name}`", 1)}
                for entry in invalid.problems
            ]
        ) from None
