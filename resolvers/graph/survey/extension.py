"""Admission of a GraphQL document before it is validated, and one form for all refusals."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
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

from resolvers.graph.execution.core_schema import core_schema
from resolvers.graph.execution.selections import WrongValues
from resolvers.graph.survey.cost import survey
from resolvers.graph.survey.documents import Documents, KeptDocument
from resolvers.graph.survey.problem_places import bounded, not_said, refusals_of
from resolvers.graph.survey.refused_arguments import (
    filled_size,
    refusal_of_field,
    uses_of_variables,
    with_defaults,
)
from resolvers.graph.survey.surveys import Survey
from resolvers.graph.survey.used_fields import used_by
from resolvers.graph.survey.validation import validate
from resolvers.operations.bodies import body_too_large
from resolvers.operations.context import Caller
from resolvers.operations.declaration import LARGEST_BODY
from resolvers.operations.limits.admission import Demand, charge_remainder, check_demands, first_refusal
from schema.credentials.oauth_client_documents import LONGEST_DOCUMENT, MOST_TOKENS
from schema.errors import MOST_PROBLEMS, Invalid, TooComplex, TooLarge, problem
from storage.engine.payers import Payer, making

SIZE = "size"
# The survey of a document that was admitted for this caller before it came to the executor.
ADMITTED_SURVEY = "admitted survey"


class AdmissionExtension(SchemaExtension):
    """Admits a document, and reports what graphql-core refuses in the words that REST uses."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        # Set once a document is admitted: what follows is of admitted ones alone.
        self._survey: Survey
        self._is_cached = False

    @property
    def _document(self) -> DocumentNode:
        """The document, once it is parsed: what is none goes no further."""
        document: Any = self.execution_context.graphql_document
        return document  # type: ignore[no-any-return]

    @property
    def _text(self) -> str:
        return self.execution_context.query or ""

    @property
    def _payer(self) -> Payer | None:
        """Who pays for what is made of a new document."""
        caller: Caller = self.execution_context.context["ctx"].caller
        return caller.payer

    def on_parse(self) -> Iterator[None]:
        kept = self._documents.parsed.get(self._text)
        self._is_cached = kept is not None
        with making(self._payer):
            self.execution_context.graphql_document = _parse(self._text) if kept is None else kept.document
        yield

    async def on_validate(self) -> AsyncIterator[None]:
        context, document = self.execution_context, self._document
        definition = self._definition(document)
        self._survey = context.context.get(ADMITTED_SURVEY) or await self._admit(document, definition)
        # Validating here, after admission, also keeps Strawberry from validating again.
        context.pre_execution_errors = []
        if not self._is_cached:
            self._validate(document)
        if not context.pre_execution_errors:
            self._count(document, definition)
        yield

    async def on_execute(self) -> AsyncIterator[None]:
        context = self.execution_context
        key = self._answer_key()
        cached = self._documents.answers.get(key) if key is not None else None
        if cached is not None:
            context.result = Answer(cached, None)  # type: ignore[arg-type]  # written as JSON already
        else:
            await self._run_plan()
        yield
        result = context.result
        if key is not None and isinstance(result, ExecutionResult) and not result.errors:
            self._documents.keep_answer(key, result.data)

    async def _run_plan(self) -> None:
        """Answer a document by its plan, which is kept for the next request.

        What is about the schema alone is left to graphql-core's executor.
        """
        context, survey = self.execution_context, self._survey
        if survey.is_introspection:
            return
        kept = self._documents.parsed.get(self._text) or KeptDocument(self._document)
        plan = kept.plan(context.schema, self._operation_name)
        if plan is None:
            return
        try:
            with making(self._payer):
                prepared = plan.prepare(context.variables or {})
        except WrongValues as wrong:
            context.result = Answer(None, self._refusals(wrong.errors))
            return
        context.result = Answer(*await plan.answer(context.context["ctx"], prepared, survey.demands))

    def _validate(self, document: DocumentNode) -> None:
        context = self.execution_context
        with making(self._payer):
            errors = validate(core_schema(context.schema), document)
        if errors:
            context.pre_execution_errors = self._refusals(errors)
        else:
            self._documents.keep(self._text, document)

    def _count(self, document: DocumentNode, definition: OperationDefinitionNode) -> None:
        context = self.execution_context
        principal = context.context["ctx"].caller.principal
        if principal is None or principal.client is None:
            return
        kept = self._documents.parsed.get(self._text)
        if kept is None:
            used = used_by(core_schema(context.schema), document, definition)
        else:
            used = kept.used(context.schema, self._operation_name, definition)
        context.context["ctx"].count(used)

    async def _admit(self, document: DocumentNode, definition: OperationDefinitionNode) -> Survey:
        context = self.execution_context
        submitted = Submission(document, definition, context.variables or {}, context.context[SIZE])
        with making(self._payer):
            requested = survey_of(core_schema(context.schema), submitted)
        await admit_survey(context.context["ctx"].caller, requested, submitted.size)
        return requested

    def _refusals(self, errors: Sequence[GraphQLError]) -> list[GraphQLError]:
        """An error for each problem of the document and its variables, in the words that REST uses."""
        context = self.execution_context
        found, refused = list[GraphQLError](), list[FieldNode]()
        variables = with_defaults(self._definition(self._document), context.variables or {})
        for operation, node in self._survey.roots:
            invalid = refusal_of_field(operation, node, variables)
            if invalid is None:
                continue
            # As in REST, callers without the scope learn nothing about their input.
            cause = first_refusal(context.context["ctx"].caller, [Demand.of(operation)])
            if cause is not None:
                return [GraphQLError(cause.message, node, original_error=cause)]
            # The first problem of each field is said, whatever the others have.
            found += refusals_of(node, invalid, max(MOST_PROBLEMS - len(found), 1))
            refused.append(node)
        found += [
            GraphQLError(
                error.message,
                error.nodes,
                error.source,
                error.positions,
                original_error=Invalid([problem((), error.message, "graphql")]),
            )
            for error in not_said(errors, refused)
        ]
        return bounded(found)

    def _answer_key(self) -> str | None:
        """The answer's cache key; None unless the document asks for the schema, which is the same for all."""
        if not self._survey.is_introspection:
            return None
        definition = self._definition(self._document)
        if definition.variable_definitions:
            return None
        return f"{definition.name.value if definition.name else ''}\n{self._text}"

    @property
    def _operation_name(self) -> str | None:
        # The public name is that of the first operation if the request has none.
        return self.execution_context._provided_operation_name

    def _definition(self, document: DocumentNode) -> OperationDefinitionNode:
        """The operation to run. Raises `Invalid` if the document has several and none is named."""
        definition = get_operation_ast(document, self._operation_name)
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


async def admit_survey(caller: Caller, survey: Survey, size: int) -> None:
    """Charge what a document of `size` bytes requests.

    A field that the caller's credential does not permit is refused when it is executed, and its siblings are
    answered. Without a credential the whole document is refused.

    Raises `Unauthorized`, `RateLimited`, `TooLarge`, `TooComplex` or `Invalid`.
    """
    if caller.principal is None:
        check_demands(caller, survey.demands)
    if survey.cost > 1 or survey.is_restricted:
        await charge_remainder(caller, survey.cost, restricted=survey.is_restricted)
    if size > survey.largest_body:
        raise body_too_large(survey.largest_body)
    if caller.idempotency_key is not None and survey.mutations > 1:
        message = f"An `Idempotency-Key` covers one mutation field; this document has {survey.mutations}"
        raise Invalid([problem(("header", "Idempotency-Key"), message)])


def survey_of(schema: GraphQLSchema, submitted: Submission) -> Survey:
    """What the document requests. Raises `TooLarge` and `TooComplex`."""
    document, definition = submitted.document, submitted.definition
    variables = with_defaults(definition, submitted.variables)
    uses = uses_of_variables(document) if definition.variable_definitions else {}
    # Each use of a variable adds work that the body's size does not show.
    expanded_size, limit = filled_size(uses, variables), max(submitted.size, LARGEST_BODY)
    if expanded_size > limit:
        expanded = f"{expanded_size} bytes with its variables filled in"
        raise TooLarge(f"This document has {expanded}; the limit is {limit}.")
    found = survey(schema, document, definition, variables)
    found.is_for_variables |= any(many > 1 for many in uses.values())
    return found


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
