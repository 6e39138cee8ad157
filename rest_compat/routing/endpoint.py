"""Answers the requests of one route: admits the caller, reads the arguments, runs the operation."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import orjson
from pydantic import TypeAdapter
from starlette.requests import Request

from resolvers.operations.admission import Demand, admit, charge_remainder
from resolvers.operations.answers import JSON, Answer
from resolvers.operations.context import Context
from resolvers.operations.declaration import Operation
from resolvers.operations.etags import matches_weakly
from resolvers.operations.runner import run
from resolvers.operations.sent_headers import sent_header
from resolvers.operations.shapes.shaped import ShapedRow, written_page
from rest_compat.routing.reading import Arguments, located
from rest_compat.routing.used import RouteUsage
from schema.errors import Invalid
from schema.kit.base import Resource

EMPTY = frozenset({202, 204})  # Responses without a body.
# Answers with an entity tag. Asking pydantic's classes takes long, so they are asked last.
_TAGGED = (ShapedRow, Resource)


class OperationEndpoint:
    """Runs `operation` with the arguments of a request. `model` is the type that it answers with.

    `path_names` are the parameters of the operation that its query does not accept: those in the path, and
    those that this path leaves out. `place` is the path's name in usage. A subclass writes answers in another
    way.
    """

    media_type: ClassVar[str] = JSON
    headers: Mapping[str, str] = {}

    def __init__(
        self, operation: Operation, model: Any, status: int, path_names: frozenset[str], place: str
    ) -> None:
        self.operation = operation
        self.model, self.status = model, status
        self._writer = TypeAdapter(model)
        self._path_names = path_names
        self._demands = [Demand.of(operation)]
        self._arguments = Arguments(operation, path_names, RouteUsage(operation, place))
        if operation.deprecation is not None:
            self.headers = {**self.headers, **operation.deprecation.headers}

    async def answer(self, ctx: Context, request: Request) -> Answer:
        operation = self.operation
        await admit(ctx.caller, self._demands, restricted=operation.restricted)
        arguments, used = await self._arguments.read(request)
        if ctx.caller.principal is not None:
            ctx.services.usage.add(ctx.caller.principal.client, used)
        if operation.is_conditional:
            ctx = replace(ctx, if_match=sent_header(request, b"if-match"))
        try:
            if operation.weigh is not None:
                await charge_remainder(ctx.caller, operation.weigh(**arguments))
            result = await run(operation, ctx, arguments)
        except Invalid as invalid:
            raise located(operation, invalid, self._path_names) from None
        return self._answer(request, ctx, result, arguments)

    def _answer(self, request: Request, ctx: Context, result: Any, arguments: Mapping[str, Any]) -> Answer:
        status = ctx.outcome.status or self.status
        headers = {**self.headers, "Idempotency-Replayed": "true"} if ctx.outcome.replayed else self.headers
        if status in EMPTY:
            return Answer(status, headers=headers, media_type=None)
        is_read = request.method == "GET"
        if (is_read or self.operation.gives is not None) and isinstance(result, _TAGGED):
            headers = {**headers, "ETag": result.etag_text()}
            known = sent_header(request, b"if-none-match") if is_read else None
            if known is not None and matches_weakly(known, headers["ETag"]):
                return Answer(304, headers=headers)
        return Answer(status, self.body_of(result, arguments), headers, self.media_type)

    def body_of(self, result: Any, arguments: Mapping[str, Any]) -> bytes:
        """The result for these arguments, as it is sent."""
        if isinstance(result, ShapedRow):
            return result.body
        written = written_page(result)
        return self._writer.dump_json(result) if written is None else orjson.dumps(written)
