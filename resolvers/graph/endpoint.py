"""`/graphql`: GraphQL over HTTP, and the explorer for browsers."""

from collections.abc import Callable
from typing import Any

import orjson
import structlog
from graphql import FieldNode, GraphQLError
from starlette.requests import Request
from starlette.responses import Response
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.types.graphql import OperationType

from resolvers.graph.executor import NeedsStockExecutor
from resolvers.graph.extension import SIZE, SURVEY, Submission, admit_document
from resolvers.graph.loaders import make_load
from resolvers.graph.requests import GraphQLRequest, keep, read_json, read_query
from resolvers.graph.root import Schema, exposed
from resolvers.operations.admission import admit, largest_body
from resolvers.operations.answers import Answer
from resolvers.operations.context import Context
from resolvers.operations.declaration import LARGEST_BODY
from schema.errors import (
    MOST_PROBLEMS,
    Failure,
    Internal,
    Invalid,
    MethodNotAllowed,
    RateLimited,
    TooLarge,
    Unauthorized,
    problem,
)

log = structlog.get_logger()

GRAPHQL_PATH = "/graphql"
MOST_ERRORS = 100
MOST_LOCATIONS = 10
_QUERIES = {OperationType.QUERY}
_ALL = {OperationType.QUERY, OperationType.MUTATION}
# Failures of the whole document that have an HTTP status; every other response is 200.
_HTTP_FAILURES = (Unauthorized, RateLimited, MethodNotAllowed, TooLarge)


class GraphQLEndpoint:
    """Accepts POST with a JSON body and GET with query parameters; GET only runs queries."""

    def __init__(
        self,
        schema: Schema,
        explorer: Callable[[], Response],
    ) -> None:
        self._schema = schema
        self._documents = schema.documents
        self._explorer = explorer
        operations = [place.operation for place in exposed(schema._schema).values()]
        # Checked at each request, so only those that raise the limit.
        self._batches = [item for item in operations if item.largest_body > LARGEST_BODY]

    async def answer(self, ctx: Context, request: Request) -> Answer:
        try:
            await admit(ctx.caller, [])
            if request.method == "GET" and "query" not in request.query_params and _shows_pages(request):
                return Answer.of(self._explorer())
            if request.method == "GET":
                data, errors = await self._execute(ctx, read_query(request), _QUERIES)
            else:
                sent = await read_json(request, lambda: largest_body(ctx.caller, self._batches))
                data, errors = await self._execute(ctx, sent, _ALL)
        except CannotGetOperationTypeError as error:
            message = "The document has no operation: send a query or a mutation"
            if error.operation_name is not None:
                message = "The document has no operation with this name: correct `operationName`"
            data, errors = None, [_as_error(Invalid([problem(("operationName",), message, "graphql")]))]
        except InvalidOperationTypeError as error:
            data, errors = None, [_as_error(_wrong_type(error))]
        except Failure as failure:
            data, errors = None, [_as_error(failure)]
        return _respond(ctx, data, errors)

    async def _execute(
        self, ctx: Context, sent: GraphQLRequest, allowed: set[OperationType]
    ) -> tuple[Any, list[GraphQLError]]:
        """The data and errors of a document: by its plan, or else by the stock executor."""
        kept, survey = self._documents.parsed.get(sent.text), None
        plan = None if kept is None else kept.plan(self._schema, sent.name)
        if kept is not None and plan is not None:
            submitted = Submission(kept.document, plan.definition, sent.variables, sent.size)
            survey = await admit_document(ctx, self._schema._schema, submitted, sent.survey)
            try:
                data = await plan.answer(ctx, sent.variables, sent.arguments)
            except NeedsStockExecutor:
                kept.plans[sent.name] = None
            except Exception as error:  # noqa: BLE001 - the stock executor reports it at its field
                log.debug("unplanned", reason=type(error).__name__)
            else:
                if not sent.is_kept:
                    keep(sent, survey, len(plan.fields))
                return data, []
        ctx.caller.limit_units()
        result = await self._schema.execute(
            sent.text,
            variable_values=sent.variables,
            operation_name=sent.name,
            context_value={
                "ctx": ctx,
                "outcome": ctx.outcome,
                "load": make_load(ctx),
                SIZE: sent.size,
                # Only of this request: a kept one's says nothing about this caller.
                SURVEY: survey,
            },
            allowed_operation_types=allowed,
        )
        return result.data, result.errors or []


def _shows_pages(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "").lower()


def _wrong_type(error: InvalidOperationTypeError) -> Failure:
    if error.operation_type is OperationType.MUTATION:
        return MethodNotAllowed("GET accepts queries only: send mutations by POST.", {"Allow": "POST"})
    return Invalid(
        [problem(("query",), "Subscriptions are not supported: send a query or a mutation", "graphql")]
    )


def _respond(ctx: Context, data: Any, errors: list[GraphQLError]) -> Answer:
    body: dict[str, Any] = {"data": data}
    status, headers = 200, dict[str, str]()
    if errors:
        body["errors"] = [_formatted(ctx, error) for error in errors[:MOST_ERRORS]]
        _shorten(body["errors"])
        if len(errors) > MOST_ERRORS:
            body["extensions"] = {"more": len(errors) - MOST_ERRORS}
        first = errors[0].original_error
        if data is None and isinstance(first, _HTTP_FAILURES):
            status, headers = int(first.status), first.headers
    if ctx.outcome.replayed:
        headers = {**headers, "Idempotency-Replayed": "true"}
    return Answer(status, orjson.dumps(body), headers)


def _shorten(errors: list[dict[str, Any]]) -> None:
    """Limit the answer to 100 problems, but keep the first of each error."""
    left = MOST_PROBLEMS
    for extensions in (error["extensions"] for error in errors):
        if not isinstance(detail := extensions["detail"], list):
            continue
        kept = detail[: max(left, 1)]
        left -= len(kept)
        if more := extensions.get("more", 0) + len(detail) - len(kept):
            extensions |= {"detail": kept, "more": more}


def _formatted(ctx: Context, error: GraphQLError) -> dict[str, Any]:
    """The error as callers see it; an unexpected one is logged and reveals only the request id."""
    cause = error.original_error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    failure = cause if isinstance(cause, Failure) else None
    if failure is None and (cause is None or isinstance(cause, GraphQLError)):
        failure = Invalid([problem((), error.message, "graphql")])
    if failure is None:
        log.error("unforeseen", exc_info=cause, field=_field_of(error))
        failure = Internal(ctx.caller.request_id)
    formatted: dict[str, Any] = {"message": str(failure), "extensions": failure.extensions}
    if error.locations:
        formatted["locations"] = [place.formatted for place in error.locations[:MOST_LOCATIONS]]
    if error.path:
        formatted["path"] = error.path
    return formatted


def _field_of(error: GraphQLError) -> str | None:
    """The schema's name of the failed field; the error's path has aliases, which the caller chose."""
    node = error.nodes[0] if error.nodes else None
    return node.name.value if isinstance(node, FieldNode) else None


def _as_error(failure: Failure) -> GraphQLError:
    return GraphQLError(str(failure), original_error=failure)
