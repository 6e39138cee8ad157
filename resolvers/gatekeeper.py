"""What happens around a GraphQL document: admission before it is validated, and one form for all refusals."""

from collections.abc import AsyncIterator, Sequence
from functools import lru_cache

from graphql import DocumentNode, ExecutionResult, GraphQLError, OperationDefinitionNode, get_operation_ast
from strawberry.extensions import SchemaExtension
from strawberry.schema.schema import validate_document

from resolvers.admission import admit
from resolvers.context import Context
from resolvers.document import Survey, survey
from resolvers.expose import ADMITTED
from resolvers.operations import LARGEST_BODY
from resolvers.raw import problems_of_field, with_defaults
from schema.errors import Failure, Invalid, TooLarge, problem

MOST_TOKENS = 5_000
SIZE = "size"
# Keyed by the parsed document, of which the parser's cache keeps one for each text.
_validate = lru_cache(maxsize=500)(validate_document)


class Gatekeeper(SchemaExtension):
    """Admits a document, and words what graphql-core refuses as REST words it."""

    surveyed: Survey | None = None

    async def on_operation(self) -> AsyncIterator[None]:
        self.execution_context.parse_options["max_tokens"] = MOST_TOKENS
        yield

    async def on_validate(self) -> AsyncIterator[None]:
        document, definition = self.execution_context.graphql_document, self._definition()
        if document is not None and definition is not None:
            self.surveyed = await self._admit(document, definition)
            self.execution_context.context[ADMITTED] = definition
        context = self.execution_context
        if document is not None:
            # Validating here, after admission, also keeps Strawberry from validating again.
            errors = _validate(context.schema._schema, document, context.validation_rules)
            context.pre_execution_errors = [self._refusal(errors)] if errors else []
        yield

    async def on_execute(self) -> AsyncIterator[None]:
        yield
        result = self.execution_context.result
        # Before a field has run, an error has no path: graphql-core refused the variables.
        if (
            isinstance(result, ExecutionResult)
            and result.errors
            and all(error.path is None and not _is_ours(error) for error in result.errors)
        ):
            result.errors = [self._refusal(result.errors)]

    async def _admit(self, document: DocumentNode, definition: OperationDefinitionNode) -> Survey:
        context = self.execution_context
        ctx: Context = context.context["ctx"]
        variables = with_defaults(definition, context.variables or {})
        found = survey(context.schema._schema, document, definition, variables)
        restricted = any(operation.restricted for operation, _ in found.roots)
        await admit(ctx.caller, found.demands, max(found.cost, 1), restricted=restricted)
        largest = max((operation.largest_body for operation, _ in found.roots), default=LARGEST_BODY)
        if context.context[SIZE] > largest:
            raise TooLarge(f"The body is larger than {largest} bytes, which is the limit here.")
        mutations = sum(operation.changes for operation, _ in found.roots)
        if ctx.caller.idempotency_key is not None and mutations > 1:
            message = f"An Idempotency-Key goes with one mutation field; this document has {mutations}"
            raise Invalid([problem(("header", "Idempotency-Key"), message)])
        return found

    def _refusal(self, errors: Sequence[GraphQLError]) -> GraphQLError:
        problems = []
        definition = self._definition()
        if definition is not None and self.surveyed is not None:
            variables = with_defaults(definition, self.execution_context.variables or {})
            for operation, node in self.surveyed.roots:
                problems += problems_of_field(operation, node, variables)
        if not problems:
            problems = [problem((), error.message, "graphql") for error in errors]
        return GraphQLError("The input is not valid.", errors[0].nodes, original_error=Invalid(problems))

    def _definition(self) -> OperationDefinitionNode | None:
        document = self.execution_context.graphql_document
        if document is None:
            return None
        return get_operation_ast(document, self.execution_context.operation_name)


def _is_ours(error: GraphQLError) -> bool:
    return isinstance(error.original_error, Failure)
