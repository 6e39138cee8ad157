"""Admission of a GraphQL document before it is validated, and one form for all refusals."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    Lexer,
    OperationDefinitionNode,
    Source,
    TokenKind,
    get_operation_ast,
    parse,
)
from strawberry.extensions import SchemaExtension
from strawberry.types import ExecutionResult as Answer

from resolvers.graph.cost import survey
from resolvers.graph.documents import Documents
from resolvers.graph.fields import ADMITTED
from resolvers.graph.refused_arguments import filled_size, refusal_of_field, with_defaults
from resolvers.graph.surveys import Survey
from resolvers.graph.validation import validate
from resolvers.operations.admission import charge_rest, check_demands
from resolvers.operations.bodies import body_too_large
from resolvers.operations.context import Context
from resolvers.operations.declaration import LARGEST_BODY
from schema.errors import Failure, Invalid, TooComplex, TooLarge, problem

MOST_TOKENS = 5_000
LONGEST_DOCUMENT = 64 * 1024
SIZE = "size"
# The survey of a document that was admitted before it came to the executor.
SURVEY = "survey"


class AdmissionExtension(SchemaExtension):
    """Admits a document, and reports what graphql-core refuses in the words that REST uses."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._survey: Survey | None = None
        self._is_cached = False

    @property
    def _text(self) -> str:
        return self.execution_context.query or ""

    def on_parse(self) -> Iterator[None]:
        kept = self._documents.parsed.get(self._text)
        self._is_cached = kept is not None
        self.execution_context.graphql_document = _parse(self._text) if kept is None else kept.document
        yield

    async def on_validate(self) -> AsyncIterator[None]:
        context = self.execution_context
        document = context.graphql_document
        if document is not None:
            definition = self._definition(document)
            self._survey = context.context.get(SURVEY) or await self._admit(document, definition)
            context.context[ADMITTED] = definition
            # Validating here, after admission, also keeps Strawberry from validating again.
            context.pre_execution_errors = []
            if not self._is_cached:
                self._validate(document)
        yield

    async def on_execute(self) -> AsyncIterator[None]:
        context = self.execution_context
        key = self._answer_key()
        cached = self._documents.answers.get(key) if key is not None else None
        if cached is not None:
            context.result = Answer(cached, None)  # type: ignore[arg-type]  # written as JSON already
        yield
        result = context.result
        if not isinstance(result, ExecutionResult):
            return
        # An error without a path comes from before any field has run: graphql-core refused the variables.
        if result.errors and all(error.path is None and not _is_ours(error) for error in result.errors):
            result.errors = [self._refusal(result.errors)]
        elif key is not None and not result.errors:
            self._documents.keep_answer(key, result.data)

    def _validate(self, document: DocumentNode) -> None:
        context = self.execution_context
        if errors := validate(context.schema._schema, document):
            context.pre_execution_errors = [self._refusal(errors)]
        else:
            self._documents.keep(self._text, document)

    async def _admit(self, document: DocumentNode, definition: OperationDefinitionNode) -> Survey:
        context = self.execution_context
        submitted = Submission(document, definition, context.variables or {}, context.context[SIZE])
        return await admit_document(context.context["ctx"], context.schema._schema, submitted)

    def _refusal(self, errors: Sequence[GraphQLError]) -> GraphQLError:
        refusals = []
        document = self.execution_context.graphql_document
        if document is not None and self._survey is not None:
            variables = with_defaults(self._definition(document), self.execution_context.variables or {})
            refusals = [refusal_of_field(*root, variables) for root in self._survey.roots]
        invalid = [refusal for refusal in refusals if refusal is not None]
        problems = [entry for refusal in invalid for entry in refusal.problems]
        if not problems:
            problems = [problem((), error.message, "graphql") for error in errors]
        more = sum(refusal.more for refusal in invalid)
        cause = Invalid(problems, more)
        return GraphQLError(str(cause), errors[0].nodes, original_error=cause)

    def _answer_key(self) -> str | None:
        """The answer's cache key; None unless the document asks for the schema, which is the same for all."""
        document = self.execution_context.graphql_document
        if document is None or self._survey is None or not self._survey.is_introspection:
            return None
        definition = self._definition(document)
        if definition.variable_definitions:
            return None
        return f"{definition.name.value if definition.name else ''}\n{self._text}"

    def _definition(self, document: DocumentNode) -> OperationDefinitionNode:
        """The operation to run. Raises `Invalid` if the document has several and none is named."""
        name = self.execution_context._provided_operation_name
        definition = get_operation_ast(document, name)
        if definition is None:
            message = "This document has several operations: name the one to run in `operationName`"
            raise Invalid([problem(("operationName",), message, "missing")])
        return definition


@dataclass(frozen=True)
class Submission:
    """The operation of a document to run, with its variables; `size` is the request's, in bytes."""

    document: DocumentNode
    definition: OperationDefinitionNode
    variables: dict[str, Any]
    size: int


async def admit_document(
    ctx: Context, schema: GraphQLSchema, submitted: Submission, known: Survey | None = None
) -> Survey:
    """Charge a document and check its demands; `known` is its survey, if it was made before.

    Raises `TooLarge`, `TooComplex`, `Invalid` and what `check_demands` raises.
    """
    demand = known or _survey(schema, submitted)
    check_demands(ctx.caller, demand.demands)
    if demand.cost > 1 or demand.is_restricted:
        await charge_rest(ctx.caller, demand.cost, restricted=demand.is_restricted)
    if submitted.size > demand.largest_body:
        raise body_too_large(demand.largest_body)
    if ctx.caller.idempotency_key is not None and demand.mutations > 1:
        message = f"An Idempotency-Key covers one mutation field; this document has {demand.mutations}"
        raise Invalid([problem(("header", "Idempotency-Key"), message)])
    return demand


def _survey(schema: GraphQLSchema, submitted: Submission) -> Survey:
    document, definition = submitted.document, submitted.definition
    variables = with_defaults(definition, submitted.variables)
    # Each use of a variable adds work that the body's size does not show.
    expanded_size, limit = filled_size(document, variables), max(submitted.size, LARGEST_BODY)
    if expanded_size > limit:
        expanded = f"{expanded_size} bytes with its variables filled in"
        raise TooLarge(f"This document has {expanded}; the limit is {limit}.")
    return survey(schema, document, definition, variables)


def _parse(text: str) -> DocumentNode:
    """The document. Raises `TooComplex` or GraphQLSyntaxError."""
    # A character takes at most four bytes.
    if len(text) > LONGEST_DOCUMENT // 4 and (size := len(text.encode())) > LONGEST_DOCUMENT:
        raise TooComplex(f"This document has {size} bytes; the limit is {LONGEST_DOCUMENT}.")
    try:
        return parse(text, max_tokens=MOST_TOKENS)
    except GraphQLSyntaxError as error:
        if _tokens_until(text, max(error.positions or (0,))) > MOST_TOKENS:
            raise TooComplex(f"This document has more than {MOST_TOKENS} tokens, the limit.") from None
        raise


def _tokens_until(text: str, position: int) -> int:
    """How many tokens, comments included, begin up to this position."""
    lexer = Lexer(Source(text))
    token = lexer.token
    # The parser stopped here: what follows may be no token.
    with suppress(GraphQLSyntaxError):
        while lexer.token.kind is not TokenKind.EOF and lexer.token.start < position:
            lexer.advance()
    count = 0
    while (following := token.next) is not None and following.start <= position:
        token, count = following, count + (following.kind is not TokenKind.EOF)
    return count


def _is_ours(error: GraphQLError) -> bool:
    return isinstance(error.original_error, Failure)
