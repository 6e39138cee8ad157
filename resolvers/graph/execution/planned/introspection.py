"""Planned introspection: root fields about the schema beside others, answered by graphql-core's executor."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from graphql import (
    DocumentNode,
    FragmentDefinitionNode,
    GraphQLSchema,
    NonNullTypeNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    TypeNode,
    VariableDefinitionNode,
    execute_sync,
)

from resolvers.graph.execution.planned.fields import Answering, Path, PlannedField, Values
from resolvers.graph.execution.selections import TYPE_NAME, SelectedField
from resolvers.operations.limits.answer_size import counted

# The types of all arguments of introspection and of directives.
_OF_ARGUMENTS = frozenset({"Boolean", "String"})


def is_of_schema(selected: SelectedField) -> bool:
    """Whether a root field is `__schema` or `__type`."""
    return selected.declared is None and selected.name != TYPE_NAME


@dataclass(eq=False)
class PlannedSchema(PlannedField):
    """The field `__schema` or `__type`. `definitions` are those of the variables of its document."""

    selected: SelectedField
    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    definitions: Sequence[VariableDefinitionNode]

    async def answer(self, answering: Answering, path: Path) -> Any:
        values: Any = answering.arguments[self.selected]
        own = [each for each in self.definitions if each.variable.name.value in values]
        operation = OperationDefinitionNode(
            operation=OperationType.QUERY,
            selection_set=SelectionSetNode(selections=tuple(self.selected.nodes)),
            variable_definitions=tuple(own),
        )
        document = DocumentNode(definitions=(operation, *self.fragments.values()))
        result: Any = execute_sync(self.schema, document, variable_values=dict(values))
        answering.errors += result.errors or ()
        data = None if result.data is None else result.data[str(path[-1])]
        return orjson.Fragment(counted(answering.ctx.caller, data))

    def take_arguments(self, values: Values) -> Iterator[tuple[SelectedField, Any]]:
        coerced = {} if values is None else values.coerced
        names = [each.variable.name.value for each in self.definitions if _named(each.type) in _OF_ARGUMENTS]
        yield self.selected, {name: coerced[name] for name in names if name in coerced}


def _named(type_: TypeNode) -> str | None:
    """The name of a type; None for a list."""
    bare: Any = type_.type if isinstance(type_, NonNullTypeNode) else type_
    return getattr(getattr(bare, "name", None), "value", None)
