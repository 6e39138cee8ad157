"""What a document selects: fields by their names in the answer, with fragments expanded."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLField,
    GraphQLIncludeDirective,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLSkipDirective,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    VariableNode,
    get_argument_values,
    get_named_type,
    is_abstract_type,
)
from graphql.execution.values import VariableValues
from strawberry.utils.str_converters import to_snake_case

from resolvers.graph.execution.plain_fields import DEFINITION, PLAIN
from resolvers.links import LINKS
from resolvers.operations.rows.links import Link
from schema.kit.base import SHAPED
from schema.kit.links import SCOPE

TYPE_NAME = "__typename"
# In bytes of JSON: each has an id or several values.
SHORTEST_LINE = 32


class WrongValues(Exception):
    """The values of a document's variables are none of their types, or none that its directives take."""

    def __init__(self, errors: Sequence[GraphQLError]) -> None:
        super().__init__()
        self.errors = errors


@dataclass(frozen=True, eq=False)
class SelectedField:
    """A selected field, with all nodes that select it; `below` is what is selected from its objects.

    `attribute` is its name in snake case. A field of an interface has `types`: what is selected from objects
    of each.
    """

    nodes: Sequence[FieldNode]
    declared: GraphQLField | None
    owner: GraphQLObjectType
    below: "Selected | None" = None
    types: "Sequence[Selected]" = ()

    @property
    def name(self) -> str:
        return self.nodes[0].name.value

    @cached_property
    def attribute(self) -> str:
        return to_snake_case(self.name)

    @property
    def type(self) -> Any:
        return None if self.declared is None else self.declared.type

    @cached_property
    def link(self) -> Link | None:
        """The link behind the field; None for a field of the object itself."""
        if SCOPE not in self.metadata:
            return None
        return LINKS[self.owner.extensions[DEFINITION].origin][self.attribute]

    @property
    def metadata(self) -> Mapping[Any, Any]:
        declared = None if self.declared is None else self.declared.extensions.get(DEFINITION)
        metadata: Mapping[Any, Any] = {} if declared is None else declared.metadata
        return metadata

    @property
    def is_plain(self) -> bool:
        """Whether it is a field of the model."""
        return self.name in self.owner.extensions.get(PLAIN, {})

    @cached_property
    def source(self) -> str | None:
        """The model's field behind this one; None for `__typename`, links and what else a resolver makes."""
        plain: str | None = self.owner.extensions.get(PLAIN, {}).get(self.name)
        return self.metadata.get(SHAPED) if plain is None else plain


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
        for selected in self.fields.values():
            path = prefix + selected.attribute
            yield path
            if selected.below is not None:
                yield from selected.below.paths(f"{path}.")
            for each in selected.types:
                if not each.is_of_interface:
                    yield from each.paths(f"{path}.")

    def links(self) -> Iterator[SelectedField]:
        """The links at any depth."""
        for selected in self.fields.values():
            if selected.link is not None:
                yield selected
            for each in (selected.below, *selected.types):
                if each is not None:
                    yield from each.links()

    @property
    def is_of_interface(self) -> bool:
        """Whether only what every resource has is selected."""
        return all(each.name in ("id", TYPE_NAME) for each in self.fields.values())


@dataclass(frozen=True)
class Reader:
    """Reads what the selection sets of a valid document select, by the values of its variables."""

    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    values: VariableValues | None = None

    def select(self, type_: GraphQLObjectType, sets: Iterable[SelectionSetNode]) -> Selected:
        """The fields of objects of this type. Raises GraphQLError for a directive's value."""
        nodes: dict[str, list[FieldNode]] = {}
        spread: set[str] = set()
        for selection_set in sets:
            self._collect(type_, selection_set, nodes, spread)
        return Selected(type_, {name: self._field(type_, same) for name, same in nodes.items()})

    def _collect(
        self,
        type_: GraphQLObjectType,
        selection_set: SelectionSetNode,
        nodes: dict[str, list[FieldNode]],
        spread: set[str],
    ) -> None:
        for node in selection_set.selections:
            if node.directives and not self._is_included(node):
                continue
            if isinstance(node, FieldNode):
                nodes.setdefault(node.alias.value if node.alias else node.name.value, []).append(node)
                continue
            part: Any = node
            if isinstance(node, FragmentSpreadNode):
                part = self.fragments[node.name.value]
                if node.name.value in spread:
                    continue
                spread.add(node.name.value)
            if part.type_condition is None or _applies(part.type_condition.name.value, type_):
                self._collect(type_, part.selection_set, nodes, spread)

    def _is_included(self, node: SelectionNode) -> bool:
        values = {
            directive.name.value: get_argument_values(
                _DIRECTIVES[directive.name.value], directive, self.values
            )
            for directive in node.directives or ()
            if directive.name.value in _DIRECTIVES
        }
        is_skipped: bool = values.get("skip", {}).get("if", False)
        is_included: bool = values.get("include", {}).get("if", True)
        return is_included and not is_skipped

    def _field(self, owner: GraphQLObjectType, nodes: Sequence[FieldNode]) -> SelectedField:
        declared = owner.fields.get(nodes[0].name.value)
        if declared is None:  # Its type, or the schema itself.
            return SelectedField(nodes, None, owner)
        sets = [node.selection_set for node in nodes if node.selection_set is not None]
        named = get_named_type(declared.type)
        if is_abstract_type(named):
            types = [self.select(each, sets) for each in self.schema.get_possible_types(named)]
            return SelectedField(nodes, declared, owner, types=types)
        below = self.select(named, sets) if isinstance(named, GraphQLObjectType) else None
        return SelectedField(nodes, declared, owner, below)


_DIRECTIVES = {each.name: each for each in (GraphQLSkipDirective, GraphQLIncludeDirective)}


def _applies(condition: str, type_: GraphQLObjectType) -> bool:
    """Whether a fragment on the type of this name is about objects of `type_`."""
    return condition == type_.name or any(each.name == condition for each in type_.interfaces)


def fragments_of(document: DocumentNode) -> dict[str, FragmentDefinitionNode]:
    return {
        node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
    }


def switches_of(
    definition: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode]
) -> tuple[str, ...]:
    """The names of the variables in the document's `@skip` and `@include`."""
    names: dict[str, None] = {}
    sets = [definition.selection_set, *(fragment.selection_set for fragment in fragments.values())]
    while sets:
        for node in sets.pop().selections:
            for directive in node.directives or ():
                for argument in directive.arguments or ():
                    if isinstance(argument.value, VariableNode):
                        names[argument.value.name.value] = None
            if isinstance(node, FieldNode | InlineFragmentNode) and node.selection_set is not None:
                sets.append(node.selection_set)
    return tuple(names)
