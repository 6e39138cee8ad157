"""Validation of documents by graphql-core's rules, in bounded time."""

from graphql import (
    SKIP,
    DocumentNode,
    GraphQLError,
    GraphQLInputType,
    GraphQLSchema,
    ValueNode,
    VisitorAction,
    specified_rules,
)
from graphql import validate as validate_by
from graphql.utilities import validate_input_literal
from graphql.validation import ValuesOfCorrectTypeRule, validation_context
from graphql.validation.rules import overlapping_fields_can_be_merged
from graphql.validation.validate import ValidationAbortedError
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule

from schema.errors import TooComplex

MOST_ERRORS = 20
ERRORS_PER_LITERAL = 3
# Both count comparisons. With graphql-core's own 500,000 and 50,000, a document of 14 kB takes 1.8 seconds.
overlapping_fields_can_be_merged.MAX_COMPLEXITY_BUDGET = 10_000
validation_context.MAX_FRAGMENT_WORK = 10_000


class _Enough(Exception):
    """Enough problems of one literal have been reported."""


class ValuesOfCorrectType(ValuesOfCorrectTypeRule):
    """graphql-core's rule, limited to a few errors per literal: every error repeats the whole literal."""

    def is_valid_value_node(self, node: ValueNode, input_type: GraphQLInputType | None) -> VisitorAction:
        left = ERRORS_PER_LITERAL

        def on_error(error: GraphQLError, _: object) -> None:
            nonlocal left
            self.report_error(error)
            left -= 1
            if not left:
                raise _Enough

        if input_type is not None:
            try:
                validate_input_literal(node, input_type, on_error)
            except _Enough:
                return SKIP
        return SKIP


RULES = (
    *(rule for rule in specified_rules if rule is not ValuesOfCorrectTypeRule),
    ValuesOfCorrectType,
    MaybeNullValidationRule,
    OneOfInputValidationRule,
)


def validate(schema: GraphQLSchema, document: DocumentNode) -> list[GraphQLError]:
    """The document's errors, about 20 at most.

    Raises `TooComplex` if its selections overlap too often to be checked for conflicts.
    """
    errors = validate_by(schema, document, RULES, max_errors=MOST_ERRORS)
    last = errors[-1] if errors else None
    if isinstance(last, ValidationAbortedError):
        if len(errors) <= MOST_ERRORS:
            raise TooComplex("This document repeats too many fields and fragments: write each of them once.")
        errors.pop()
    return errors
