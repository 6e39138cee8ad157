"""Plans of documents: a query is read by one statement for each root field, without an executor.

A document is planned once for each choice of its `@skip` and `@include`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import ref

import strawberry
from graphql import (
    DocumentNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLObjectType,
    GraphQLSchema,
    OperationDefinitionNode,
)
from graphql.execution.values import VariableValues, get_variable_values
from strawberry.types.graphql import OperationType

from oauth.scopes import Scope
from resolvers.graph.execution.choices import Pages, is_page, page_of_link
from resolvers.graph.execution.core_schema import core_schema
from resolvers.graph.execution.fields import OPERATION
from resolvers.graph.execution.model_writers import is_made_by_a_method
from resolvers.graph.execution.nodes import operations_of_nodes
from resolvers.graph.execution.planned.changes import PlannedChange
from resolvers.graph.execution.planned.fields import (
    Answering,
    Arguments,
    PlannedField,
    PlannedGroup,
    PlannedName,
    PlannedOperation,
    Reading,
)
from resolvers.graph.execution.planned.introspection import PlannedSchema, is_of_schema
from resolvers.graph.execution.planned.nodes import PlannedNode
from resolvers.graph.execution.planned.streams import PlannedStream
from resolvers.graph.execution.selections import (
    TYPE_NAME,
    Reader,
    Selected,
    SelectedField,
    WrongValues,
    fragments_of,
    switches_of,
)
from resolvers.operations.context import Caller, Context
from resolvers.operations.limits.admission import Demand, first_refusal
from resolvers.operations.rows.routing import is_cluster
from resolvers.operations.rows.together import Begin, run_together
from schema.errors import TooComplex
from schema.kit.links import SCOPE
from schema.kit.nodes import LOOKUP

Variables = Mapping[str, Any]
# Of a document, by the values of its directives.
MOST_VARIANTS = 4
MOST_WRONG_VALUES = 50
# In a document; each is a subquery of its statement.
MOST_LINKS = 60


@dataclass(eq=False)
class Variant:
    """The planned fields of a document with some values of its directives, by name, and all links below."""

    fields: Mapping[str, PlannedField]
    links: Sequence[SelectedField]
    with_arguments: Sequence[SelectedField] = ()


@dataclass(eq=False)
class Prepared:
    """What a plan makes of a request's variables: the arguments of its fields, and the pages of its links."""

    variant: Variant
    arguments: Arguments
    pages: Pages
    has_refused_pages: bool

    def kept(self) -> "KeptPreparation | None":
        """What may be kept of it; None for refusals of graphql-core, which hold nodes of the document."""
        values = (*self.arguments.values(), *self.pages.values())
        if any(isinstance(value, GraphQLError) for value in values):
            return None
        fields = (tuple(self.arguments.values()), tuple(self.pages.values()))
        return KeptPreparation(ref(self.variant), *fields, self.has_refused_pages)


@dataclass(frozen=True)
class KeptPreparation:
    """The same in the order of the fields, as long as the document is kept too: it holds nothing of it."""

    variant: "ref[Variant]"
    arguments: tuple[Any, ...]
    pages: tuple[Any, ...]
    has_refused_pages: bool

    def prepared(self) -> Prepared | None:
        variant = self.variant()
        if variant is None:
            return None
        arguments = dict(zip(variant.with_arguments, self.arguments, strict=True))
        pages = dict(zip(variant.links, self.pages, strict=True))
        return Prepared(variant, arguments, pages, self.has_refused_pages)


@dataclass(eq=False)
class DocumentPlan:
    """The plan of one operation of a document."""

    schema: strawberry.Schema
    definition: OperationDefinitionNode
    fragments: Mapping[str, FragmentDefinitionNode]
    switches: Sequence[str]
    most_fields: int
    variants: dict[tuple[Any, ...], Variant] = field(default_factory=dict)
    kind: OperationType = field(init=False)

    def __post_init__(self) -> None:
        self.kind = OperationType(self.definition.operation.value)

    @property
    def changes(self) -> bool:
        """Whether it is a mutation."""
        return self.kind is OperationType.MUTATION

    def prepare(self, variables: Variables) -> Prepared:
        """What is worked out for equal requests. Raises `WrongValues` and `TooComplex`."""
        values = None
        if self.definition.variable_definitions:
            definitions = self.definition.variable_definitions
            found = get_variable_values(
                core_schema(self.schema), definitions, dict(variables), max_errors=MOST_WRONG_VALUES
            )
            if not isinstance(found, VariableValues):
                raise WrongValues(found)
            values = found
        try:
            variant = self.variant(values)
        except GraphQLError as error:
            raise WrongValues([error]) from None
        arguments: dict[SelectedField, Any] = {}
        for each in variant.fields.values():
            arguments.update(each.take_arguments(values))
        variant.with_arguments = tuple(arguments)
        pages = {link: page_of_link(link, values) for link in variant.links}
        refused = any(isinstance(page, Exception) or page.after is not None for page in pages.values())
        return Prepared(variant, arguments, pages, refused)

    def variant(self, values: VariableValues | None) -> Variant:
        """The variant for these values. Raises `TooComplex`; GraphQLError for a directive without a value."""
        key = () if values is None else tuple(values.coerced.get(name) for name in self.switches)
        variant = self.variants.get(key)
        if variant is None:
            variant, fields = self._made(Reader(core_schema(self.schema), self.fragments, values))
            if len(self.variants) >= MOST_VARIANTS:
                self.variants.clear()
            if fields <= self.most_fields:
                self.variants[key] = variant
        return variant

    def _made(self, reader: Reader) -> tuple[Variant, int]:
        """A variant, and how many fields it has: those of a fragment as often as it is used."""
        schema = reader.schema
        root: Any = schema.get_root_type(self.definition.operation)
        selected = reader.select(root, [self.definition.selection_set])
        links = tuple(selected.links())
        if len(links) > MOST_LINKS:
            raise TooComplex(f"This document has {len(links)} links; the limit is {MOST_LINKS}.")
        fields = {
            name: PlannedSchema(each, schema, self.fragments, self.definition.variable_definitions or ())
            if is_of_schema(each)
            else _planned_field(schema, root, each)
            for name, each in selected.fields.items()
        }
        return Variant(fields, links), sum(1 for _ in selected.paths())

    async def answer(
        self, ctx: Context, prepared: Prepared, demands: Sequence[Demand]
    ) -> tuple[Any, list[GraphQLError]]:
        """The data and the errors; in place of a subscription's data its `Stream`, or None if none begins.

        Raises `Failure` for an outage.
        """
        is_permitted, pages = first_refusal(ctx.caller, demands) is None, prepared.pages
        if not is_permitted:
            pages = {**pages, **dict(_refused(ctx.caller, prepared))}
        errors: list[GraphQLError] = []
        has_refusals = not is_permitted or prepared.has_refused_pages
        answering = Answering(ctx, prepared.arguments, pages, is_permitted, has_refusals, errors)
        fields = prepared.variant.fields
        if self.kind is OperationType.SUBSCRIPTION:
            ((name, field),) = fields.items()
            return await field.answer(answering, [name]), errors
        if len(fields) > 1 and await self._joins(ctx):
            return await _answer_together(answering, fields)
        data = {}
        for name, each in fields.items():
            data[name] = await each.answer(answering, [name])
        return data, errors

    async def _joins(self, ctx: Context) -> bool:
        """Whether the statements of several fields are read as one: on SQLite nothing waits for an answer,
        and a cluster would have to send it to several nodes.
        """
        if self.changes or ctx.services.database.is_sqlite:
            return False
        return not await is_cluster(ctx)


async def _answer_together(
    answering: Answering, fields: Mapping[str, PlannedField]
) -> tuple[dict[str, Any], list[GraphQLError]]:
    """The data and the errors of fields that are read at a time."""
    errors: list[list[GraphQLError]] = [[] for _ in fields]

    def begun(each: PlannedField, name: str, own: list[GraphQLError]) -> Begin[Any]:
        return lambda ctx: each.answer(answering.part(ctx, own), [name])

    parts = zip(fields.items(), errors, strict=True)
    values = await run_together(answering.ctx, [begun(each, name, own) for (name, each), own in parts])
    return dict(zip(fields, values, strict=True)), [error for own in errors for error in own]


def plan_of(
    schema: strawberry.Schema, document: DocumentNode, definition: OperationDefinitionNode
) -> DocumentPlan:
    """The plan of a valid document's operation."""
    fragments = fragments_of(document)
    return DocumentPlan(
        schema, definition, fragments, switches_of(definition, fragments), document.token_count
    )


def _planned_field(schema: GraphQLSchema, owner: GraphQLObjectType, selected: SelectedField) -> PlannedField:
    operation, below = selected.metadata.get(OPERATION), selected.below
    if selected.name == TYPE_NAME:
        return PlannedName(owner.name)
    if LOOKUP in selected.metadata:
        _check(Selected(owner, {selected.name: selected}))
        return PlannedNode.of(selected, selected.metadata[LOOKUP])
    if below is not None and operation is not None:
        _check(below)
    if operation is not None and owner is schema.mutation_type:
        return PlannedChange.of(operation, selected, operations_of_nodes(schema))
    if below is None:
        raise TypeError(f"No plan covers the field {selected.name}.")
    if operation is not None:
        planned = PlannedStream if operation.is_live else PlannedOperation
        return planned(operation, selected, Reading.of(below))
    return PlannedGroup(
        {name: _planned_field(schema, below.type, each) for name, each in below.fields.items()}
    )


def _check(selected: Selected) -> None:
    """Raises `TypeError` for fields that no writer writes."""
    made = {"edges", "pageInfo"} if is_page(selected) else ()
    for each in selected.fields.values():
        if LOOKUP in each.metadata:
            for below in each.types:
                _check(below)
            continue
        is_known = each.source is not None or each.link is not None or each.name in (TYPE_NAME, *made)
        if each.types or not (is_known or is_made_by_a_method(each)):
            raise TypeError(f"No writer writes the field {each.name} of {selected.type}.")
        if each.below is not None:
            _check(each.below)


def _refused(caller: Caller, prepared: Prepared) -> Iterator[tuple[SelectedField, Exception]]:
    """The links that the caller's credential does not permit; graphql-core refuses arguments before that."""
    for link in prepared.variant.links:
        refusal = first_refusal(caller, [Demand(Scope(link.metadata[SCOPE]))])
        if refusal is not None and not isinstance(prepared.pages[link], GraphQLError):
            yield link, refusal
