"""Documents that are kept with a webhook endpoint, and choose what it is told."""

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson
from graphql import (
    DocumentNode,
    GraphQLError,
    NonNullTypeNode,
    OperationDefinitionNode,
    OperationType,
    VariableDefinitionNode,
    parse,
)

from oauth.scopes import Scope
from resolvers.graph.execution.core_schema import core_schema
from resolvers.graph.http.endpoint import GraphQLEndpoint
from resolvers.graph.http.errors import formatted
from resolvers.graph.root import Schema
from resolvers.graph.survey.extension import Submission, survey_of
from resolvers.graph.survey.validation import validate
from resolvers.operations.context import Context
from resolvers.webhooks.payloads import MOST_COST
from schema.credentials.oauth_client_documents import MOST_TOKENS
from schema.errors import Failure, Invalid, problem

LARGEST_CONTENT = 256 * 1024
# Each may read many rows: those of all endpoints together must not keep callers waiting.
AT_A_TIME = 4
_ANY = UUID(int=0)


class StoredDocuments:
    """Checks documents when they are saved, and runs them when a change is told."""

    def __init__(self, schema: Schema, endpoint: GraphQLEndpoint) -> None:
        self._schema = core_schema(schema)
        self._endpoint = endpoint
        self._turns = asyncio.Semaphore(AT_A_TIME)

    def check(self, text: str, scopes: frozenset[Scope]) -> None:
        """Raises `Invalid` unless an endpoint with these scopes may run the document."""
        document = _parsed(text)
        definition = _query_of(document)
        errors = validate(self._schema, document)
        if errors:
            raise Invalid([_problem(error.message) for error in errors])
        try:
            requested = survey_of(self._schema, Submission(document, definition, _variables(text, _ANY), 0))
        except Invalid:
            raise
        except Failure as failure:
            raise _refused(failure.message) from None
        if requested.cost > MOST_COST:
            raise _refused(f"The document costs {requested.cost} calls; the limit is {MOST_COST}")
        lacking = [demand for demand in requested.demands if not demand.is_met_by(scopes)]
        if lacking:
            names = " or ".join(f"`{scope}`" for scope in lacking[0].sufficient_scopes)
            raise _refused(f"The document needs {names}, which the endpoint does not have", "wider")

    async def run(self, ctx: Context, text: str, resource_id: UUID) -> Mapping[str, Any]:
        """The `data` of the document for a resource, with its `errors` if there are any."""
        async with self._turns:
            try:
                data, errors = await self._endpoint.query(ctx, text, _variables(text, resource_id))
            except Failure as failure:
                data, errors = None, [GraphQLError(failure.message, original_error=failure)]
        content: dict[str, Any] = {"data": data}
        if errors:
            content["errors"] = [formatted(ctx, error) for error in errors]
        written = orjson.dumps(content)
        if len(written) <= LARGEST_CONTENT:
            return {name: orjson.Fragment(orjson.dumps(value)) for name, value in content.items()}
        message = f"The answer has {len(written)} bytes; the limit is {LARGEST_CONTENT}"
        return {"data": None, "errors": [{"message": message, "extensions": {"code": "too_large"}}]}


def _parsed(text: str) -> DocumentNode:
    try:
        return parse(text, max_tokens=MOST_TOKENS)
    except GraphQLError as error:
        raise _refused(error.message) from None


def _query_of(document: DocumentNode) -> OperationDefinitionNode:
    """The only operation of the document. Raises `Invalid` for others, and for other variables."""
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    if len(operations) != 1 or operations[0].operation is not OperationType.QUERY:
        raise _refused("The document should have one operation, a query")
    variables = operations[0].variable_definitions or ()
    if len(variables) > 1 or not all(map(_is_id, variables)):
        raise _refused("The document should have the variable `$id: ID!`, or none")
    return operations[0]


def _is_id(node: VariableDefinitionNode) -> bool:
    kind = node.type
    named = kind.type if isinstance(kind, NonNullTypeNode) else None
    return node.variable.name.value == "id" and getattr(getattr(named, "name", None), "value", "") == "ID"


def _variables(text: str, id: UUID) -> dict[str, Any]:
    """The variables; a document without one is not sent any."""
    return {"id": str(id)} if "$id" in text else {}


def _refused(message: str, kind: str = "graphql") -> Invalid:
    return Invalid([_problem(message, kind)])


def _problem(message: str, kind: str = "graphql") -> dict[str, Any]:
    return problem(("data", "document"), message, kind)
