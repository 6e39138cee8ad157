"""Errors of documents as callers see them."""

from typing import Any

import structlog
from graphql import FieldNode, GraphQLError

from resolvers.graph.survey.problem_places import bounded, cause_of
from resolvers.operations.context import Context
from resolvers.operations.outages import unforeseen
from schema.errors import AnswerTooLarge, Failure, Internal, Invalid, problem
from storage.dialects.json_rows import LinesTooLong

log = structlog.get_logger()

MOST_ERRORS = 100
MOST_LOCATIONS = 10


def body_of(ctx: Context, data: Any, errors: list[GraphQLError]) -> dict[str, Any]:
    """The answer to a document without its extensions; `more` errors than it has are to be counted there."""
    # An answer to a document that was not executed has no data, not even null.
    body: dict[str, Any] = {} if data is None and errors else {"data": data}
    if errors:
        body["errors"] = [formatted(ctx, error) for error in bounded(errors)[:MOST_ERRORS]]
    return body


def formatted(ctx: Context, error: GraphQLError) -> dict[str, Any]:
    """The error as callers see it; an unexpected one is logged and reveals only the request id."""
    failure = failure_of(ctx, error)
    if isinstance(failure, Internal):
        log.error("unforeseen", exc_info=cause_of(error), field=_field_of(error))
    formatted = written(failure)
    if error.locations:
        formatted["locations"] = [place.formatted for place in error.locations[:MOST_LOCATIONS]]
    if error.path:
        formatted["path"] = error.path
    return formatted


def written(failure: Failure) -> dict[str, Any]:
    """The failure of a whole document, or of what came of it."""
    return {"message": failure.message, "extensions": failure.extensions}


def failure_of(ctx: Context, error: GraphQLError) -> Failure:
    cause = cause_of(error)
    if isinstance(cause, Failure):
        return cause
    if cause is None or isinstance(cause, GraphQLError):
        return Invalid([problem((), error.message, "graphql")])
    return unforeseen(cause, ctx.caller.request_id)


def is_of_size(error: GraphQLError) -> bool:
    return isinstance(cause_of(error), AnswerTooLarge | LinesTooLong)


def _field_of(error: GraphQLError) -> str | None:
    """The schema's name of the failed field; the error's path has aliases, which the caller chose."""
    node = error.nodes[0] if error.nodes else None
    return node.name.value if isinstance(node, FieldNode) else None


def as_error(failure: Failure) -> GraphQLError:
    return GraphQLError(failure.message, original_error=failure)
