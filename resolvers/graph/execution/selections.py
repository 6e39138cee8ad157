"""What a document selects: fields by their names in the answer, with fragments expanded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLObjectType,
    InlineFragmentNode,
    SelectionSetNode,
    get_named_type,
)
from strawberry.utils.str_converters import to_snake_case

from resolvers.graph.execution.executor import NeedsStockExecutor

Fragments = Mapping[str, FragmentDefinitionNode]
TYPE_NAME = "__typename"
# In bytes of JSON: each has an id or several values.
SHORTEST_LINE = 32


@dataclass(frozen=True, eq=False)
class SelectedField:
    """A selected field as it is first written; `below` is what is selected from its objects.

    `attribute` is its name in the schema in snake case, as models have it.
    """

    node: FieldNode
    name: str
    attribute: str
    type: Any
    below: "Selected | None"


@dataclass(frozen=True, eq=False)
class Selected:
    """The fields selected from objects of one type, by their names in the answer."""

    type: GraphQLObjectType
    fields: Mapping[str, SelectedField]

    @cached_property
    def times(self) -> float:
        """At most how many times as long as its line an object of these fields is."""
        return sum(
            1 + len(name) / SHORTEST_LINE + (0 if field.below is None else field.below.times)
            for name, field in self.fields.items()
        )

    def paths(self, prefix: str = "") -> Iterator[str]:
        """The dotted snake-case paths of the fields."""
        for field in self.fields.values():
            path = prefix + field.attribute
            yield path
            if field.below is not None:
                yield from field.below.paths(f"{path}.")


def select_from(
    type_: GraphQLObjectType, selection_sets: Sequence[SelectionSetNode], fragments: Fragments
) -> Selected:
    """The fields that a valid document selects. Raises `NeedsStockExecutor` if it has directives."""
    nodes: dict[str, list[FieldNode]] = {}
    for selection_set in selection_sets:
        _collect(selection_set, fragments, nodes)
    return Selected(type_, {name: _field(type_, same, fragments) for name, same in nodes.items()})


def _collect(
    selection_set: SelectionSetNode, fragments: Fragments, nodes: dict[str, list[FieldNode]]
) -> None:
    for node in selection_set.selections:
        if node.directives:
            raise NeedsStockExecutor
        if isinstance(node, FieldNode):
            nodes.setdefault(node.alias.value if node.alias else node.name.value, []).append(node)
        elif isinstance(node, InlineFragmentNode):
            _collect(node.selection_set, fragments, nodes)
        elif isinstance(node, FragmentSpreadNode):
            _collect(fragments[node.name.value].selection_set, fragments, nodes)


def _field(owner: GraphQLObjectType, nodes: Sequence[FieldNode], fragments: Fragments) -> SelectedField:
    first = nodes[0]
    name = first.name.value
    declared = owner.fields.get(name)
    if declared is None:
        if name != TYPE_NAME:
            raise NeedsStockExecutor  # The schema itself.
        return SelectedField(first, name, to_snake_case(name), None, None)
    named = get_named_type(declared.type)
    below = None
    if isinstance(named, GraphQLObjectType):
        selection_sets = [node.selection_set for node in nodes if node.selection_set is not None]
        below = select_from(named, selection_sets, fragments)
    return SelectedField(first, name, to_snake_case(name), declared.type, below)
