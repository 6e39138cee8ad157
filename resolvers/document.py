"""One pass over a GraphQL document before it is validated: what it needs, what it costs, how deep it is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
)

from oauth.scopes import Scope
from resolvers.admission import Demand
from resolvers.expose import OPERATION
from resolvers.operations import Operation
from schema.errors import TooComplex
from schema.links import SCOPE
from schema.pages import MOST_PER_PAGE

DEEPEST = 15
MOST_ALIASES = 60
STEPS_AT_MOST = 20_000


@dataclass
class Survey:
    """What a document asks for. `cost` is in calls: what REST would need for the same."""

    roots: list[tuple[Operation, FieldNode]] = field(default_factory=list)
    demands: list[Demand] = field(default_factory=list)
    cost: int = 0
    depth: int = 0
    aliases: int = 0


@dataclass
class _Surveyor:
    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, Any]
    survey: Survey
    steps: int = 0

    def visit(
        self, selections: SelectionSetNode, parent: GraphQLNamedType | None, parents: int, depth: int
    ) -> None:
        for node, owner in self._fields(selections, parent, frozenset()):
            self.steps += 1
            if self.steps > STEPS_AT_MOST:
                raise TooComplex(f"This document has more than {STEPS_AT_MOST} fields, fragments spread out.")
            if node.name.value.startswith("__"):
                continue
            self.survey.depth = max(self.survey.depth, depth)
            if depth > DEEPEST:
                raise TooComplex(f"This document is {depth} levels deep or more; the limit is {DEEPEST}.")
            self._visit_field(node, owner, parents, depth)

    def _visit_field(self, node: FieldNode, owner: GraphQLNamedType | None, parents: int, depth: int) -> None:
        self.survey.aliases += node.alias is not None
        definition = owner.fields.get(node.name.value) if isinstance(owner, GraphQLObjectType) else None
        children = parents
        if definition is not None:
            metadata = _metadata(definition)
            if operation := metadata.get(OPERATION):
                self.survey.roots.append((operation, node))
                self.survey.demands.append(Demand.of(operation))
                self.survey.cost += 1
            elif scope := metadata.get(SCOPE):
                self.survey.demands.append(Demand(Scope(scope)))
                self.survey.cost += parents
            children = parents * self._limit(node, definition)
        if node.selection_set:
            below = get_named_type(definition.type) if definition is not None else None
            self.visit(node.selection_set, below, children, depth + 1)

    def _fields(
        self, selections: SelectionSetNode, owner: GraphQLNamedType | None, spread: frozenset[str]
    ) -> Iterator[tuple[FieldNode, GraphQLNamedType | None]]:
        for node in selections.selections:
            if isinstance(node, FieldNode):
                yield node, owner
            elif isinstance(node, InlineFragmentNode):
                named = self.schema.get_type(node.type_condition.name.value) if node.type_condition else owner
                yield from self._fields(node.selection_set, named, spread)
            elif isinstance(node, FragmentSpreadNode) and node.name.value not in spread:
                fragment = self.fragments.get(node.name.value)
                if fragment is not None:
                    named = self.schema.get_type(fragment.type_condition.name.value)
                    yield from self._fields(fragment.selection_set, named, spread | {node.name.value})

    def _limit(self, node: FieldNode, definition: GraphQLField) -> int:
        """How many items the field's list can hold; 1 where it is no list."""
        declared = definition.args.get("limit")
        if declared is None:
            return 1
        value: Any = declared.default_value
        for argument in node.arguments or ():
            if argument.name.value == "limit":
                if isinstance(argument.value, IntValueNode):
                    value = int(argument.value.value)
                elif isinstance(argument.value, VariableNode):
                    value = self.variables.get(argument.value.name.value, value)
        return min(max(value, 1), MOST_PER_PAGE) if isinstance(value, int) else MOST_PER_PAGE


def survey(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Mapping[str, Any],
) -> Survey:
    """What `operation` of the document asks for. Raises `TooComplex` with the limit and the value."""
    found = Survey()
    fragments = {
        node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
    }
    root = schema.get_root_type(operation.operation)
    _Surveyor(schema, fragments, variables, found).visit(operation.selection_set, root, 1, 1)
    if found.aliases > MOST_ALIASES:
        raise TooComplex(f"This document has {found.aliases} aliases; the limit is {MOST_ALIASES}.")
    return found


def _metadata(definition: GraphQLField) -> Mapping[Any, Any]:
    declared = definition.extensions.get("strawberry-definition")
    return declared.metadata if declared is not None else {}
