"""What a document uses of the schema: its root fields, fields and arguments, by their coordinates.

https://spec.graphql.org/draft/#sec-Schema-Coordinates
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    get_named_type,
)

from resolvers.graph.execution.fields import OPERATION
from resolvers.operations.used_inputs import keep, kept_used, never_failing
from storage.enums import UsageKind, UsageSurface
from storage.usage.usage import Part, Used

# As many as the schema has coordinates.
_part = cache(Part)


@dataclass
class _Visitor:
    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    parts: dict[str, Part] = field(default_factory=dict)
    visited: set[str] = field(default_factory=set)

    def visit(self, selections: SelectionSetNode | None, owner: GraphQLNamedType | None) -> None:
        for node in () if selections is None else selections.selections:
            if isinstance(node, FieldNode):
                self._visit_field(node, owner)
            elif isinstance(node, InlineFragmentNode):
                condition = node.type_condition
                self.visit(node.selection_set, self._type(condition) if condition else owner)
            elif isinstance(node, FragmentSpreadNode) and node.name.value not in self.visited:
                self.visited.add(node.name.value)
                fragment = self.fragments[node.name.value]
                self.visit(fragment.selection_set, self._type(fragment.type_condition))

    def _visit_field(self, node: FieldNode, owner: GraphQLNamedType | None) -> None:
        name = node.name.value
        if name.startswith("__") or not isinstance(owner, GraphQLObjectType | GraphQLInterfaceType):
            return
        declared = owner.fields[name]
        coordinate = f"{owner.name}.{name}"
        kind = UsageKind.OPERATION if is_operation(declared) else UsageKind.FIELD
        self._add(kind, coordinate, declared)
        for argument in node.arguments or ():
            sent = argument.name.value
            self._add(UsageKind.ARGUMENT, f"{coordinate}({sent}:)", declared.args[sent])
        self.visit(node.selection_set, get_named_type(declared.type))

    def _add(self, kind: UsageKind, name: str, declared: Any) -> None:
        self.parts[name] = _part(kind, name, declared.deprecation_reason is not None)

    def _type(self, node: Any) -> GraphQLNamedType | None:
        return self.schema.get_type(node.name.value)


@never_failing
def used_by(schema: GraphQLSchema, document: DocumentNode, definition: OperationDefinitionNode) -> Used:
    """What an operation of a valid document uses, also in fields that `@skip` may leave out."""
    fragments = {
        node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
    }
    visitor = _Visitor(schema, fragments)
    visitor.visit(definition.selection_set, schema.get_root_type(definition.operation))
    # Long documents are not kept, but what they use is: it is gathered under one key.
    parts = frozenset(visitor.parts.values())
    key = (UsageSurface.GRAPHQL, "", parts)
    return kept_used(*key) or keep(key, tuple(parts))


def is_operation(declared: Any) -> bool:
    """Whether a field runs an operation."""
    definition = declared.extensions.get("strawberry-definition")
    return definition is not None and OPERATION in definition.metadata
