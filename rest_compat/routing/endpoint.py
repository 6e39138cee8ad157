"""Answers the requests of one route: admits the caller, reads the arguments, runs the operation."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from inspect import isclass
from typing import Any, ClassVar, get_args

import orjson
from pydantic import BaseModel, TypeAdapter
from starlette.requests import Request

from resolvers.expansion import read_expansion
from resolvers.links import LINKS
from resolvers.operations.answers import JSON, Answer
from resolvers.operations.context import Context
from resolvers.operations.declaration import Operation
from resolvers.operations.http.etags import matches_weakly
from resolvers.operations.http.sent_headers import sent_header
from resolvers.operations.limits.admission import Demand, admit, charge_remainder, check_demands
from resolvers.operations.runner import run
from resolvers.operations.shapes.shaped import ShapedRow, written_page
from rest_compat.routing.reading import EXPAND, Arguments, located
from rest_compat.routing.used import RouteUsage
from schema.errors import Invalid
from schema.kit.base import Resource
from schema.kit.pages import ListQuery, Page

EMPTY = frozenset({202, 204})  # Responses without a body.
# Answers with an entity tag. Asking pydantic's classes takes long, so they are asked last.
_TAGGED = (ShapedRow, Resource)

_EXPAND = EXPAND.encode()

# Runs an operation with its arguments, for its result.
Run = Callable[[Operation, Context, Mapping[str, Any]], Awaitable[Any]]


class OperationEndpoint:
    """Runs `operation` with the arguments of a request. `model` is the type that it answers with.

    `path_names` are the parameters of the operation that its query does not accept: those in the path, and
    those that this path leaves out. `place` is the path's name in usage. A subclass writes answers in another
    way.
    """

    media_type: ClassVar[str] = JSON
    headers: Mapping[str, str] = {}
    arguments_class: ClassVar[type[Arguments]] = Arguments
    # Whether nothing follows the reading but the answer.
    may_assume: ClassVar[bool] = True
    # The path that reads what a POST creates, without its id.
    place_of_new: str | None = None

    def __init__(
        self, operation: Operation, model: Any, status: int, path_names: frozenset[str], place: str
    ) -> None:
        self.operation = operation
        self.model, self.status = model, status
        self._writer = TypeAdapter(model)
        self._path_names = path_names
        self._demands = [Demand.of(operation)]
        self._run: Run = run
        is_read = place.startswith("GET ") and not (operation.changes or operation.is_audited)
        self.assumes = is_read and self.may_assume
        # The model of the objects whose links a request can expand.
        self.expands = expandable(operation, model)
        self._arguments = self.arguments_class(
            operation, path_names, RouteUsage(operation, place), self.expands is not None
        )
        if operation.deprecation is not None:
            self.headers = {**self.headers, **operation.deprecation.headers}

    async def answer(self, ctx: Context, request: Request) -> Answer:
        operation = self.operation
        await admit(ctx.caller, self._demands, restricted=operation.restricted)
        arguments, used = await self._arguments.read(request)
        ctx.count(used)
        if operation.is_conditional:
            ctx = replace(ctx, if_match=sent_header(request, b"if-match"))
        try:
            cost = 1 if operation.weigh is None else operation.weigh(**arguments)
            expansion = None
            if self.expands is not None and _EXPAND in request.scope["query_string"]:
                expansion = read_expansion(self.expands, request.query_params.getlist(EXPAND))
                check_demands(ctx.caller, expansion.demands)
                cost += expansion.cost(_most_objects(arguments))
                ctx = replace(ctx, chosen=expansion.chosen)
            if cost > 1:
                await charge_remainder(ctx.caller, cost)
            result = await self._run(operation, ctx, arguments)
        except Invalid as invalid:
            raise located(operation, invalid, self._path_names) from None
        if expansion is not None:
            # What an entity tag is for, a change, knows the resource without its links.
            written = orjson.dumps(expansion.written(ctx, result))
            return Answer(self.status, written, self.headers, is_compressible=True)
        return self._answer(request, ctx, result, arguments)

    def _answer(self, request: Request, ctx: Context, result: Any, arguments: Mapping[str, Any]) -> Answer:
        status = ctx.outcome.status or self.status
        headers = {**self.headers, "Idempotency-Replayed": "true"} if ctx.outcome.replayed else self.headers
        if status in EMPTY:
            return Answer(status, headers=headers, media_type=None)
        is_read = request.method == "GET"
        if (is_read or self.operation.gives is not None) and isinstance(result, _TAGGED):
            headers = {**headers, "ETag": result.etag_text()}
            if status == 201 and self.place_of_new is not None:
                headers["Location"] = self.place_of_new + _id_of(result)
            known = sent_header(request, b"if-none-match") if is_read else None
            if known is not None and matches_weakly(known, headers["ETag"]):
                return Answer(304, headers=headers)
        return Answer(status, self.body_of(result, arguments), headers, self.media_type, is_read)

    def body_of(self, result: Any, arguments: Mapping[str, Any]) -> bytes:
        """The result for these arguments, as it is sent."""
        if isinstance(result, ShapedRow):
            return result.body
        written = written_page(result)
        return self._writer.dump_json(result) if written is None else orjson.dumps(written)


def expandable(operation: Operation, model: Any) -> type[BaseModel] | None:
    """The model of an answer's objects if they have links and are read by one statement."""
    if operation.changes or operation.finish is not None or not isclass(model):
        return None
    if issubclass(model, Page):
        model = get_args(model.model_fields["data"].annotation)[0]
    return model if LINKS.get(model) else None


def _id_of(result: ShapedRow[Any] | Resource) -> str:
    # Without a model of what has been written already.
    return str(result.written()["id"] if isinstance(result, ShapedRow) else result.id)


def _most_objects(arguments: Mapping[str, Any]) -> int:
    """How many objects an answer has at most."""
    sent = arguments.get("filters")
    return sent.limit if isinstance(sent, ListQuery) else 1
