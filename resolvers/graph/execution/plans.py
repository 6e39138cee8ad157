"""Plans of documents: queries whose root fields are operations, answered from lines without an executor.

A document is planned once. What a plan does not cover, errors included, goes to the stock executor, with the
results of the fields that have been run.
"""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import strawberry
from graphql import (
    DocumentNode,
    FragmentDefinitionNode,
    GraphQLField,
    GraphQLObjectType,
    OperationDefinitionNode,
    OperationType,
    get_argument_values,
)
from graphql.execution.values import VariableValues, get_variable_values
from strawberry.types.arguments import convert_arguments

from resolvers.graph.execution.core_schema import core_schema
from resolvers.graph.execution.executor import DEFINITION, NeedsStockExecutor
from resolvers.graph.execution.fields import OPERATION, validated
from resolvers.graph.execution.selections import TYPE_NAME, Selected, SelectedField, select_from
from resolvers.graph.execution.writers import attribute_of, selection_writer
from resolvers.operations.answer_size import counted
from resolvers.operations.context import Caller, Context
from resolvers.operations.declaration import Operation
from resolvers.operations.runner import run
from resolvers.operations.shapes.shaped import ShapedRow, ShapedRows
from resolvers.operations.shapes.shapes import Shape
from resolvers.operations.shapes.writers import Writer
from schema.errors import LARGEST_ANSWER
from schema.kit.pages import Page

Variables = Mapping[str, Any]
# The validated arguments of each root field, by its name in the answer.
Arguments: TypeAlias = dict[str, Mapping[str, Any]]
# What the operation of each root field returned, by the field's name in the answer.
Results: TypeAlias = dict[str, Any]


@dataclass(eq=False)
class PlannedField:
    """A root field: its operation, what is selected from the answer, and the writers made so far."""

    operation: Operation
    declared: GraphQLField
    selected: SelectedField
    below: Selected
    selection: frozenset[str]
    writers: dict[tuple[Selected, Shape[Any]], Writer] = field(default_factory=dict)

    def run(self, ctx: Context, arguments: Mapping[str, Any]) -> Awaitable[Any]:
        """What the field's operation returns."""
        return run(self.operation, Context(ctx.services, ctx.caller, selection=self.selection), arguments)

    def written(self, result: Any, caller: Caller) -> Any:
        """The field's value. Raises `NeedsStockExecutor` for a result that is not made of lines, and
        `AnswerTooLarge`.
        """
        # Of most answers it is known beforehand that they are small enough.
        counting = caller if caller.bytes_read * self.below.times > LARGEST_ANSWER else None
        if isinstance(result, ShapedRow):
            written = self._writer(self.below, result.shape)(result.line, result.services)
            return written if counting is None else counted(counting, written)
        if isinstance(result, Page) and isinstance(result.data, ShapedRows):
            return self._of_page(result.__dict__, result.data, counting)
        raise NeedsStockExecutor

    def _of_page(
        self, page: Mapping[str, Any], rows: ShapedRows[Any], counting: Caller | None
    ) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        for name, each in self.below.fields.items():
            value, below = page.get(each.name), each.below
            if each.name == TYPE_NAME:
                value = self.below.type.name
            elif value is rows and below is not None:
                write, services = self._writer(below, rows.shape), rows.services
                if counting is None:
                    value = [write(line, services) for line in rows.lines]
                else:
                    value = [counted(counting, write(line, services)) for line in rows.lines]
            elif value is not None and below is not None:
                value = _of_counts(below, value.__dict__)
            answer[name] = value
        return answer

    def _writer(self, selected: Selected, shape: Shape[Any]) -> Writer:
        writer = self.writers.get((selected, shape))
        if writer is None:
            writer = self.writers[selected, shape] = selection_writer(shape, selected)
        return writer


def _of_counts(selected: Selected, values: Mapping[str, Any]) -> dict[str, Any]:
    """The selected fields of a page's `meta` or `pagination`."""
    type_name = selected.type.name
    return {
        name: type_name if each.name == TYPE_NAME else values[each.attribute]
        for name, each in selected.fields.items()
    }


@dataclass(eq=False)
class DocumentPlan:
    """The planned root fields of one operation of a document, by their names in the answer."""

    schema: strawberry.Schema
    definition: OperationDefinitionNode
    fields: Mapping[str, PlannedField]

    async def answer(
        self, ctx: Context, variables: Variables, known: Arguments, results: Results
    ) -> dict[str, Any]:
        """The data. `known` has the arguments of an equal request, or gets those of this one.

        `results` gets what each field returned, also if a later one fails.

        Raises `NeedsStockExecutor`, `AnswerTooLarge`, or another exception if the answer has errors.
        """
        if not known:
            values = self._variable_values(variables)
            known.update({name: self._arguments(each, values) for name, each in self.fields.items()})
        data = {}
        for name, planned in self.fields.items():
            results[name] = await planned.run(ctx, known[name])
            data[name] = planned.written(results[name], ctx.caller)
        return data

    def _variable_values(self, variables: Variables) -> VariableValues | None:
        if not self.definition.variable_definitions:
            return None
        definitions = self.definition.variable_definitions
        values = get_variable_values(core_schema(self.schema), definitions, dict(variables))
        if not isinstance(values, VariableValues):
            raise ValueError("The variables do not fit the document.")
        return values

    def _arguments(self, planned: PlannedField, values: VariableValues | None) -> Mapping[str, Any]:
        """The operation's arguments, validated."""
        sent = convert_arguments(
            get_argument_values(planned.declared, planned.selected.node, values),
            planned.declared.extensions[DEFINITION].arguments,
            self.schema.schema_converter.scalar_registry,
            self.schema.config,
        )
        return validated(planned.operation, sent)


def plan_of(
    schema: strawberry.Schema, document: DocumentNode, definition: OperationDefinitionNode
) -> DocumentPlan | None:
    """The plan of a valid document's operation; None if the stock executor has to run it."""
    query = core_schema(schema).query_type
    if definition.operation is not OperationType.QUERY or query is None:
        return None
    fragments = {
        node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
    }
    try:
        roots = select_from(query, [definition.selection_set], fragments)
        if sum(1 for _ in roots.paths()) > document.token_count:
            # Fragments that are used many times would make the plan far larger than the document.
            return None
        return DocumentPlan(
            schema, definition, {name: _planned(query, each) for name, each in roots.fields.items()}
        )
    except NeedsStockExecutor:
        return None


def _planned(query: GraphQLObjectType, selected: SelectedField) -> PlannedField:
    declared = query.fields.get(selected.name)
    operation = None if declared is None else declared.extensions[DEFINITION].metadata.get(OPERATION)
    if declared is None or operation is None or selected.below is None:
        raise NeedsStockExecutor
    _check(selected.below)
    return PlannedField(operation, declared, selected, selected.below, frozenset(selected.below.paths()))


def _check(selected: Selected) -> None:
    """Raises `NeedsStockExecutor` for links, before anything is read; they also nest without an end."""
    for field_ in selected.fields.values():
        if field_.name != TYPE_NAME:
            attribute_of(selected.type, field_.name)
        if field_.below is not None:
            _check(field_.below)
