"""`/graphql`: GraphQL over HTTP, and the explorer for browsers."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import orjson
from graphql import GraphQLError
from starlette.requests import Request
from starlette.responses import Response
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.types.graphql import OperationType

from oauth.principals import AllowList
from resolvers.graph.execution.planned.streams import Stream
from resolvers.graph.http.allow_lists import check_again, check_document, name_roots
from resolvers.graph.http.errors import MOST_ERRORS, as_error, body_of, failure_of, is_of_size
from resolvers.graph.http.event_streams import (
    COMPLETE,
    EVENT_HEADERS,
    SubscriptionParts,
    next_event,
)
from resolvers.graph.http.media_types import (
    EVENT_STREAM,
    RESPONSE_JSON,
    accepted_type,
    accepts_events,
    status_of,
)
from resolvers.graph.http.planned_requests import planned
from resolvers.graph.http.requests import BODY, GraphQLRequest, keep, read_json, read_query
from resolvers.graph.root import Schema, exposed
from resolvers.graph.survey.extension import ADMITTED_SURVEY, SIZE, admit_survey
from resolvers.graph.survey.problem_places import bounded, separated
from resolvers.graph.survey.surveys import Survey
from resolvers.operations.answers import Answer
from resolvers.operations.context import Context
from resolvers.operations.declaration import LARGEST_BODY
from resolvers.operations.http.sent_headers import sent_list
from resolvers.operations.limits.admission import admit, charge_remainder, largest_body
from resolvers.operations.limits.answer_size import dumped
from resolvers.operations.security_events import note_refusals
from schema.errors import (
    LARGEST_ANSWER,
    AnswerTooLarge,
    Failure,
    Invalid,
    MethodNotAllowed,
    problem,
)

GRAPHQL_PATH = "/graphql"
# In bytes, of an answer that says its cost.
LARGEST_EXTENSIONS = 200
# A GET with one of these parameters runs a document, also for browsers.
_NAMES_OF_DOCUMENTS = frozenset({"query", "extensions"})
QUERIES = {OperationType.QUERY}
READS = {OperationType.QUERY, OperationType.SUBSCRIPTION}
DOCUMENTS = {OperationType.QUERY, OperationType.MUTATION}
EVERYTHING = {*OperationType}


class GraphQLEndpoint:
    """Accepts POST with a JSON body and GET with query parameters; GET runs no mutations.

    Subscriptions, and whatever else is asked for as an event stream, are answered as one. Only a query
    with a plan runs before its credential is confirmed.
    """

    assumes = True

    def __init__(
        self,
        schema: Schema,
        explorer: Callable[[Request], Awaitable[Response]],
    ) -> None:
        self._schema = schema
        self._documents = schema.documents
        self._explorer = explorer
        operations = [place.operation for place in exposed(schema._schema).values()]
        # Checked at each request, so only those that raise the limit.
        self._batches = [item for item in operations if item.largest_body > LARGEST_BODY]

    async def answer(self, ctx: Context, request: Request) -> Answer:
        accept = sent_list(request, b"accept")
        accepts_stream, media_type = accepts_events(accept), accepted_type(accept)
        if is_streamed := media_type == EVENT_STREAM:
            # With events, a refusal has a status of its own.
            media_type = RESPONSE_JSON
        sent: GraphQLRequest | None = None
        try:
            await admit(ctx.caller, [])
            if request.scope["method"] == "POST":
                sent = await self.read(request, ctx)
                data, errors = await self.run(ctx, sent, EVERYTHING if accepts_stream else DOCUMENTS)
            elif not _NAMES_OF_DOCUMENTS & request.query_params.keys() and _shows_pages(request):
                return Answer.of(await self._explorer(request))
            else:
                sent = await read_query(request, ctx)
                data, errors = await self.run(ctx, sent, READS if accepts_stream else QUERIES)
        except Failure as failure:
            data, errors = None, [as_error(failure)]
        await ctx.caller.confirm()
        # A stream would hold it for hours.
        request.scope.pop(BODY, None)
        if isinstance(data, Stream):
            return Answer(200, b"", EVENT_HEADERS, EVENT_STREAM, parts=SubscriptionParts(ctx, data))
        wants_cost = sent is not None and sent.wants_cost
        try:
            answer = await _respond(ctx, data, errors, media_type, wants_cost=wants_cost)
        except AnswerTooLarge as failure:
            data, errors = None, [as_error(failure)]
            answer = await _respond(ctx, data, errors, media_type, wants_cost=wants_cost)
        # A mutation may show a secret once. The name of one in a query only makes its answer longer.
        answer.is_compressible = sent is not None and "mutation" not in sent.text
        if errors:
            _note(ctx, [failure_of(ctx, error) for error in errors])
        if data is None and errors:
            first = failure_of(ctx, errors[0])
            answer.status = status_of(first, media_type, is_read=sent is not None)
            answer.headers = first.headers
        elif is_streamed:
            answer.body, answer.media_type = next_event(answer.body) + COMPLETE, EVENT_STREAM
        return answer

    def read(self, request: Request, ctx: Context) -> Awaitable[GraphQLRequest]:
        """The request in a JSON body. Raises what `read_json` raises."""
        return read_json(request, lambda: largest_body(ctx.caller, self._batches), ctx)

    async def run(
        self, ctx: Context, sent: GraphQLRequest, allowed: set[OperationType]
    ) -> tuple[Any, list[GraphQLError]]:
        """The data and errors of a document of an allowed kind; of a subscription, its `Stream` as data."""
        try:
            data, errors = await self._run(ctx, sent, allowed)
        except CannotGetOperationTypeError as error:
            place, message = "query", "The document of `query` has no operation: send a query or a mutation"
            if error.operation_name is not None:
                place = "operationName"
                message = "The document has no operation with this name: correct `operationName`"
            return None, [as_error(Invalid([problem((place,), message, "graphql")]))]
        except InvalidOperationTypeError as error:
            return None, [as_error(_wrong_type(error))]
        except Failure as failure:
            return None, [as_error(failure)]
        if isinstance(data, Stream):
            data.allow = partial(check_again, ctx.services, sent.digest)
        return data, errors

    def _run(
        self, ctx: Context, sent: GraphQLRequest, allowed: set[OperationType]
    ) -> Awaitable[tuple[Any, list[GraphQLError]]]:
        principal = ctx.caller.principal
        if principal is None or principal.allow_list is None:
            return self._execute(ctx, sent, allowed)
        return self._run_allowed(ctx, sent, allowed, principal.allow_list)

    async def _run_allowed(
        self, ctx: Context, sent: GraphQLRequest, allowed: set[OperationType], allow_list: AllowList
    ) -> tuple[Any, list[GraphQLError]]:
        """The same for an OAuth client with an allow-list. Raises `DocumentNotRegistered`."""
        unregistered = await check_document(ctx.services, allow_list, sent.digest)
        result = await self._execute(ctx, sent, allowed)
        if unregistered is not None:
            name_roots(unregistered, self._documents, sent.text)
        return result

    def query(
        self, ctx: Context, text: str, variables: dict[str, Any]
    ) -> Awaitable[tuple[Any, list[GraphQLError]]]:
        """The data and errors of a query that no request brought. Raises `Failure`."""
        sent = GraphQLRequest(text, None, variables, 0, ("", text.encode()))
        return self._execute(ctx, sent, QUERIES)

    async def _execute(
        self, ctx: Context, sent: GraphQLRequest, allowed: set[OperationType]
    ) -> tuple[Any, list[GraphQLError]]:
        """The data and errors of a document."""
        if sent.text_cost:
            await charge_remainder(ctx.caller, 1 + sent.text_cost)
        request, admitted = planned(self._schema, self._documents, sent), None
        if request is None or request.plan.kind is not OperationType.QUERY:
            await ctx.caller.confirm()
        if request is not None and request.plan.kind in allowed:
            admitted = request.survey(self._schema)
            await admit_survey(ctx.caller, admitted, sent.size)
            prepared = None if admitted.is_introspection else request.prepare()
            if prepared is not None:
                if not (request.is_kept or request.plan.changes):
                    keep(sent, admitted, prepared)
                ctx.count(request.kept.used(self._schema, sent.name, request.plan.definition))
                data, errors = await request.plan.answer(ctx, prepared, admitted.demands)
                return _bounded(data, request.placed(separated(errors))) if errors else (data, errors)
        return await self._execute_at_first(ctx, sent, allowed, admitted)

    async def _execute_at_first(
        self, ctx: Context, sent: GraphQLRequest, allowed: set[OperationType], admitted: Survey | None
    ) -> tuple[Any, list[GraphQLError]]:
        """The same for a document that is not kept, is about the schema alone or has wrong variables.

        Raises `AnswerTooLarge`.
        """
        result = await self._schema.execute(
            sent.text,
            variable_values=sent.variables,
            operation_name=sent.name,
            context_value={
                "ctx": ctx,
                SIZE: sent.size,
                # Only of this request: a kept one's says nothing about this caller.
                ADMITTED_SURVEY: admitted,
            },
            allowed_operation_types=allowed,
        )
        # Answers about the schema alone are not counted: `dumped` does.
        ctx.caller.bytes_written = LARGEST_ANSWER
        return _bounded(result.data, separated(result.errors or []))


def _bounded(data: Any, errors: list[GraphQLError]) -> tuple[Any, list[GraphQLError]]:
    """The same. Raises `AnswerTooLarge` if a field has found out that the answer is."""
    if any(map(is_of_size, errors)):
        raise AnswerTooLarge
    return data, errors


def _shows_pages(request: Request) -> bool:
    return "text/html" in (sent_list(request, b"accept") or "").lower()


def _wrong_type(error: InvalidOperationTypeError) -> Failure:
    if error.operation_type is OperationType.MUTATION:
        return MethodNotAllowed("GET accepts queries only: send mutations by POST.", {"Allow": "POST"})
    message = (
        "A subscription as `query` needs `Accept: text/event-stream`, or a WebSocket with the subprotocol "
        "`graphql-transport-ws`"
    )
    return Invalid([problem(("query",), message, "graphql")])


def _note(ctx: Context, failures: Sequence[Failure]) -> None:
    note_refusals(ctx.caller, failures)
    if ctx.caller.watch is not None:
        ctx.caller.watch.refused([int(failure.status) for failure in failures])


async def _respond(
    ctx: Context, data: Any, errors: list[GraphQLError], media_type: str, *, wants_cost: bool
) -> Answer:
    """The answer, whose bytes are charged if it says its cost. Raises `AnswerTooLarge`."""
    errors = bounded(errors)
    body = body_of(ctx, data, errors)
    extensions: dict[str, Any] = {}
    if len(errors) > MOST_ERRORS:
        extensions["more"] = len(errors) - MOST_ERRORS
    written = dumped(ctx.caller, body)
    if any(map(is_of_size, errors)):
        # Finding out took as long as the largest answer does.
        await ctx.caller.budget.charge_answer(LARGEST_ANSWER)
    if wants_cost:
        await ctx.caller.budget.charge_database()
        await ctx.caller.budget.charge_answer(len(written) + LARGEST_EXTENSIONS)
        extensions["cost"] = ctx.caller.budget.report()
    if extensions:
        written = written[:-1] + b',"extensions":' + orjson.dumps(extensions) + b"}"
    headers = {"Idempotency-Replayed": "true"} if ctx.outcome.replayed else {}
    return Answer(200, written, headers, media_type)
