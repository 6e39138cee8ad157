"""`/graphql`: GraphQL over HTTP, and the explorer for browsers."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import orjson
import structlog
from graphql import FieldNode, GraphQLError
from starlette.requests import Request
from starlette.responses import Response
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.types.graphql import OperationType

from oauth.principals import AllowList
from resolvers.graph.execution.loaders import make_check, make_load
from resolvers.graph.http.allow_lists import check_document, name_roots
from resolvers.graph.http.media_types import accepted_type, status_of
from resolvers.graph.http.planned_requests import planned
from resolvers.graph.http.requests import GraphQLRequest, keep, read_json, read_query
from resolvers.graph.root import Schema, exposed
from resolvers.graph.survey.extension import ADMITTED_SURVEY, SIZE, admit_survey
from resolvers.graph.survey.problem_places import bounded, cause_of, separated
from resolvers.graph.survey.surveys import Survey
from resolvers.operations.admission import admit, charge_remainder, largest_body
from resolvers.operations.answer_size import dumped
from resolvers.operations.answers import Answer
from resolvers.operations.context import Context
from resolvers.operations.declaration import LARGEST_BODY
from resolvers.operations.http.sent_headers import sent_list
from resolvers.operations.outages import unforeseen
from resolvers.operations.security_events import note_refusals
from schema.errors import (
    LARGEST_ANSWER,
    AnswerTooLarge,
    Failure,
    Internal,
    Invalid,
    MethodNotAllowed,
    problem,
)
from storage.dialects.json_rows import LinesTooLong
from storage.usage.usage import Used

log = structlog.get_logger()

GRAPHQL_PATH = "/graphql"
MOST_ERRORS = 100
MOST_LOCATIONS = 10
# In bytes, of an answer that says its cost.
LARGEST_EXTENSIONS = 200
# A GET with one of these parameters runs a document, also for browsers.
_NAMES_OF_DOCUMENTS = frozenset({"query", "extensions"})
_QUERIES = {OperationType.QUERY}
_ALL = {OperationType.QUERY, OperationType.MUTATION}


class GraphQLEndpoint:
    """Accepts POST with a JSON body and GET with query parameters; GET only runs queries."""

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
        media_type = accepted_type(sent_list(request, b"accept"))
        sent: GraphQLRequest | None = None
        try:
            await admit(ctx.caller, [])
            if request.scope["method"] == "POST":
                sent = await read_json(request, lambda: largest_body(ctx.caller, self._batches), ctx)
                data, errors = await self._run(ctx, sent, _ALL)
            elif not _NAMES_OF_DOCUMENTS & request.query_params.keys() and _shows_pages(request):
                return Answer.of(await self._explorer(request))
            else:
                sent = await read_query(request, ctx)
                data, errors = await self._run(ctx, sent, _QUERIES)
        except CannotGetOperationTypeError as error:
            message = "The document has no operation: send a query or a mutation"
            if error.operation_name is not None:
                message = "The document has no operation with this name: correct `operationName`"
            data, errors = None, [_as_error(Invalid([problem(("operationName",), message, "graphql")]))]
        except InvalidOperationTypeError as error:
            data, errors = None, [_as_error(_wrong_type(error))]
        except Failure as failure:
            data, errors = None, [_as_error(failure)]
        wants_cost = sent is not None and sent.wants_cost
        try:
            answer = await _respond(ctx, data, errors, media_type, wants_cost=wants_cost)
        except AnswerTooLarge as failure:
            data, errors = None, [_as_error(failure)]
            answer = await _respond(ctx, data, errors, media_type, wants_cost=wants_cost)
        # A mutation may show a secret once. The name of one in a query only makes its answer longer.
        answer.is_compressible = sent is not None and "mutation" not in sent.text
        if errors:
            _note(ctx, [_failure_of(ctx, error) for error in errors])
        if data is None and errors:
            first = _failure_of(ctx, errors[0])
            answer.status = status_of(first, media_type, is_read=sent is not None)
            answer.headers = first.headers
        return answer

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
        return self._execute(ctx, sent, _QUERIES)

    async def _execute(
        self, ctx: Context, sent: GraphQLRequest, allowed: set[OperationType]
    ) -> tuple[Any, list[GraphQLError]]:
        """The data and errors of a document: by its plan, or else by the stock executor."""
        if sent.text_cost:
            await charge_remainder(ctx.caller, 1 + sent.text_cost)
        request, admitted = planned(self._schema, self._documents, ctx, sent), None
        if request is not None and not (request.plan.changes and allowed is _QUERIES):
            admitted = request.survey(self._schema)
            await admit_survey(ctx.caller, admitted, sent.size)
            prepared = request.prepare()
            if prepared is not None and not (request.is_kept or request.plan.changes):
                keep(sent, admitted, prepared)
            if prepared is not None and prepared.fits(ctx):
                _count(ctx, request.kept.used(self._schema, sent.name))
                data, errors = await request.plan.answer(ctx, prepared, admitted.demands)
                return _bounded(data, request.placed(separated(errors)))
        return await self._execute_at_first(ctx, sent, allowed, admitted)

    async def _execute_at_first(
        self, ctx: Context, sent: GraphQLRequest, allowed: set[OperationType], admitted: Survey | None
    ) -> tuple[Any, list[GraphQLError]]:
        """The same for a document that is not kept, or that no plan covers. Raises `AnswerTooLarge`."""
        ctx.caller.limit_units()
        result = await self._schema.execute(
            sent.text,
            variable_values=sent.variables,
            operation_name=sent.name,
            context_value={
                "ctx": ctx,
                "outcome": ctx.outcome,
                "load": make_load(ctx),
                "check": make_check(ctx.caller),
                SIZE: sent.size,
                # Only of this request: a kept one's says nothing about this caller.
                ADMITTED_SURVEY: admitted,
            },
            allowed_operation_types=allowed,
        )
        # The stock executor counts no bytes: `dumped` does.
        ctx.caller.bytes_written = LARGEST_ANSWER
        return _bounded(result.data, separated(result.errors or []))


def _bounded(data: Any, errors: list[GraphQLError]) -> tuple[Any, list[GraphQLError]]:
    """The same. Raises `AnswerTooLarge` if a field has found out that the answer is."""
    if any(map(_is_of_size, errors)):
        raise AnswerTooLarge
    return data, errors


def _count(ctx: Context, used: Used | None) -> None:
    principal = ctx.caller.principal
    if principal is not None and used is not None:
        ctx.services.usage.add(principal.client, used)


def _shows_pages(request: Request) -> bool:
    return "text/html" in (sent_list(request, b"accept") or "").lower()


def _wrong_type(error: InvalidOperationTypeError) -> Failure:
    if error.operation_type is OperationType.MUTATION:
        return MethodNotAllowed("GET accepts queries only: send mutations by POST.", {"Allow": "POST"})
    message = "Subscriptions are not supported: send a query or a mutation as `query`"
    return Invalid([problem(("query",), message, "graphql")])


def _note(ctx: Context, failures: Sequence[Failure]) -> None:
    note_refusals(ctx.caller, failures)
    if ctx.caller.watch is not None:
        ctx.caller.watch.refused([int(failure.status) for failure in failures])


async def _respond(
    ctx: Context, data: Any, errors: list[GraphQLError], media_type: str, *, wants_cost: bool
) -> Answer:
    """The answer, whose bytes are charged if it says its cost. Raises `AnswerTooLarge`."""
    # An answer to a document that was not executed has no data, not even null.
    body: dict[str, Any] = {} if data is None and errors else {"data": data}
    errors = bounded(errors)
    if errors:
        body["errors"] = [formatted(ctx, error) for error in errors[:MOST_ERRORS]]
    extensions: dict[str, Any] = {}
    if len(errors) > MOST_ERRORS:
        extensions["more"] = len(errors) - MOST_ERRORS
    written = dumped(ctx.caller, body)
    if any(map(_is_of_size, errors)):
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


def formatted(ctx: Context, error: GraphQLError) -> dict[str, Any]:
    """The error as callers see it; an unexpected one is logged and reveals only the request id."""
    failure = _failure_of(ctx, error)
    if isinstance(failure, Internal):
        log.error("unforeseen", exc_info=cause_of(error), field=_field_of(error))
    formatted: dict[str, Any] = {"message": failure.message, "extensions": failure.extensions}
    if error.locations:
        formatted["locations"] = [place.formatted for place in error.locations[:MOST_LOCATIONS]]
    if error.path:
        formatted["path"] = error.path
    return formatted


def _failure_of(ctx: Context, error: GraphQLError) -> Failure:
    cause = cause_of(error)
    if isinstance(cause, Failure):
        return cause
    if cause is None or isinstance(cause, GraphQLError):
        return Invalid([problem((), error.message, "graphql")])
    return unforeseen(cause, ctx.caller.request_id)


def _is_of_size(error: GraphQLError) -> bool:
    return isinstance(cause_of(error), AnswerTooLarge | LinesTooLong)


def _field_of(error: GraphQLError) -> str | None:
    """The schema's name of the failed field; the error's path has aliases, which the caller chose."""
    node = error.nodes[0] if error.nodes else None
    return node.name.value if isinstance(node, FieldNode) else None


def _as_error(failure: Failure) -> GraphQLError:
    return GraphQLError(failure.message, original_error=failure)
