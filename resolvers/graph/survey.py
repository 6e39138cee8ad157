"""One pass over a GraphQL document before it is validated: what it needs, what it costs, how deep it is."""

from collections.abc import Mapping
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
    SchemaMetaFieldDef,
    SelectionNode,
    SelectionSetNode,
    TypeMetaFieldDef,
    VariableNode,
    get_named_type,
)

from oauth.scopes import Scope
from resolvers.graph.fields import OPERATION
from resolvers.graph.refused_arguments import weight_of_field
from resolvers.operations.admission import Demand
from resolvers.operations.declaration import Operation
from schema.errors import Invalid, TooComplex, problem
from schema.links import SCOPE
from schema.pages import MOST_PER_PAGE

DEEPEST = 15
MOST_NESTED = 100
MOST_ALIASES = 60
MOST_SELECTIONS = 5_000
MOST_TYPES = 5
LONGEST_ALIAS = 100
INTROSPECTION_COST = 10
_MEMBERS = frozenset({"fields", "inputFields", "interfaces", "possibleTypes"})
_META_FIELDS = {"__schema": SchemaMetaFieldDef, "__type": TypeMetaFieldDef}
_LONGEST_LIMIT = 10
# Where a type's extensions keep the names of its free fields.
FREE = "free"


@dataclass(slots=True)
class Part:
    """What a selection set asks of one object, fragments spread out.

    `depth` counts levels of fields, `nested` those of selection sets; `members` are levels of the lists of
    a type's members, as introspection has them.
    """

    cost: int = 0
    depth: int = 0
    nested: int = 1
    aliases: int = 0
    selections: int = 0
    schemas: int = 0
    types: int = 0
    members: int = 0

    def add(self, below: "Part", times: int = 1) -> None:
        """Count what lies in a selection of this set; its cost, for each of so many objects."""
        self.cost += times * below.cost
        self.nested = max(self.nested, below.nested + 1)
        self.aliases += below.aliases
        self.selections += below.selections
        self.schemas += below.schemas
        self.types += below.types
        self.members = max(self.members, below.members)


@dataclass
class Survey:
    """What a document asks for. `cost` is in calls: what REST would need for the same.

    `roots` are the fields that are operations, each as often as it is written. `is_introspection` says that
    there are none, and that the document asks for the schema instead.
    """

    roots: list[tuple[Operation, FieldNode]] = field(default_factory=list)
    demands: list[Demand] = field(default_factory=list)
    cost: int = 0
    is_introspection: bool = False


@dataclass
class _Surveyor:
    """Walks each selection that is written once, however often its fragment is spread."""

    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: dict[str, Any]
    survey: Survey = field(default_factory=Survey)
    parts: dict[str, Part | None] = field(default_factory=dict)

    def part_of(self, selections: SelectionSetNode, owner: GraphQLNamedType | None, level: int) -> Part:
        """What the selections ask of one `owner`. Raises `TooComplex` or `Invalid`."""
        if level > MOST_NESTED:
            raise TooComplex(f"This document is nested more than {MOST_NESTED} levels deep, the limit.")
        part, free = Part(selections=len(selections.selections)), _free_fields(owner)
        for node in selections.selections:
            if isinstance(node, FieldNode):
                if node.alias is None and node.selection_set is None and node.name.value in free:
                    part.depth = part.depth or 1
                    continue
                self._add_field(part, node, owner, level)
            else:
                below = self._part_behind(node, owner, level + 1)
                part.add(below)
                part.depth = max(part.depth, below.depth)
            _check_selections(part)
        return part

    def _part_behind(self, node: SelectionNode, owner: GraphQLNamedType | None, level: int) -> Part:
        """What an inline fragment or a spread stands for."""
        if isinstance(node, InlineFragmentNode):
            named = self.schema.get_type(node.type_condition.name.value) if node.type_condition else owner
            return self.part_of(node.selection_set, named, level)
        if not isinstance(node, FragmentSpreadNode):
            raise TypeError(f"{node.kind} is no selection.")
        name = node.name.value
        fragment = self.fragments.get(name)
        if fragment is None:
            raise _refusal(f"Unknown fragment '{name}'.")
        if name not in self.parts:
            self.parts[name] = None
            named = self.schema.get_type(fragment.type_condition.name.value)
            self.parts[name] = self.part_of(fragment.selection_set, named, level)
        part = self.parts[name]
        if part is None:
            raise _refusal(f"Cannot spread fragment '{name}' within itself.")
        return part

    def _add_field(self, part: Part, node: FieldNode, owner: GraphQLNamedType | None, level: int) -> None:
        name = node.name.value
        is_meta = name.startswith("__") or (owner is not None and owner.name.startswith("__"))
        definition = self._definition(name, owner)
        if node.alias is not None:
            _check_alias(node.alias.value, owner)
            part.aliases += 1
        depth = 1
        if definition is not None:
            part.cost += self._cost(node, definition)
        if node.selection_set:
            named = get_named_type(definition.type) if definition is not None else None
            below = self.part_of(node.selection_set, named, level + 1)
            part.add(below, 1 if definition is None else self._limit(node, definition))
            depth += below.depth
            if is_meta:
                _add_introspection(part, name, below)
        if not is_meta:
            part.depth = max(part.depth, depth)

    def _definition(self, name: str, owner: GraphQLNamedType | None) -> GraphQLField | None:
        if not isinstance(owner, GraphQLObjectType):
            return None
        found: GraphQLField | None = owner.fields.get(name) or _META_FIELDS.get(name)
        return found

    def _cost(self, node: FieldNode, definition: GraphQLField) -> int:
        """What the field costs by itself; notes what it needs."""
        metadata = _metadata(definition)
        if operation := metadata.get(OPERATION):
            self.survey.roots.append((operation, node))
            self.survey.demands.append(Demand.of(operation))
            return weight_of_field(operation, node, self.variables)
        if scope := metadata.get(SCOPE):
            self.survey.demands.append(Demand(Scope(scope)))
            return 1
        return 0

    def _limit(self, node: FieldNode, definition: GraphQLField) -> int:
        """How many items the field's list can hold; 1 where it is no list."""
        declared = definition.args.get("limit")
        if declared is None:
            return 1
        value: Any = declared.default_value
        for argument in node.arguments or ():
            if argument.name.value == "limit":
                if isinstance(argument.value, IntValueNode):
                    # Python refuses to read thousands of digits.
                    text = argument.value.value
                    value = int(text) if len(text) <= _LONGEST_LIMIT else None
                elif isinstance(argument.value, VariableNode):
                    value = self.variables.get(argument.value.name.value, value)
        return min(max(value, 1), MOST_PER_PAGE) if isinstance(value, int) else MOST_PER_PAGE


def survey(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: dict[str, Any],
) -> Survey:
    """What `operation` of the document asks for, in time that grows as its text does.

    Raises `TooComplex` with the limit and the value, and `Invalid` for fragments that are unknown or spread
    themselves.
    """
    fragments = {
        node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
    }
    surveyor = _Surveyor(schema, fragments, variables)
    part = surveyor.part_of(operation.selection_set, schema.get_root_type(operation.operation), 1)
    for value, limit, unit in (
        (part.nested, MOST_NESTED, "levels of selections"),
        (part.depth, DEEPEST, "levels of fields"),
        (part.aliases, MOST_ALIASES, "aliases"),
        (part.schemas, 1, "fields `__schema`"),
        (part.types, MOST_TYPES, "fields `__type`"),
    ):
        if value > limit:
            raise TooComplex(f"This document has {value} {unit}; the limit is {limit}.")
    surveyor.survey.cost = part.cost
    surveyor.survey.is_introspection = part.schemas + part.types > 0 and not surveyor.survey.demands
    return surveyor.survey


def _free_fields(owner: GraphQLNamedType | None) -> frozenset[str]:
    """The names of the type's fields that cost nothing and need nothing by themselves."""
    if not isinstance(owner, GraphQLObjectType) or owner.name.startswith("__"):
        return frozenset()
    if FREE not in owner.extensions:
        declared = {name: _metadata(definition) for name, definition in owner.fields.items()}
        owner.extensions[FREE] = frozenset(
            name for name, metadata in declared.items() if not {OPERATION, SCOPE} & metadata.keys()
        )
    free: frozenset[str] = owner.extensions[FREE]
    return free


def _check_selections(part: Part) -> None:
    if part.selections > MOST_SELECTIONS:
        raise TooComplex(
            f"This document has more than {MOST_SELECTIONS} selections with its fragments expanded: "
            "select less at once."
        )


def _check_alias(alias: str, owner: GraphQLNamedType | None) -> None:
    # The answer repeats an alias for every object.
    if len(alias) > LONGEST_ALIAS:
        raise TooComplex(
            f"An alias of this document has {len(alias)} characters; the limit is {LONGEST_ALIAS}."
        )
    if owner is not None and owner.name.startswith("__"):
        raise TooComplex("Fields below `__schema` and `__type` cannot have an alias: remove it.")


def _add_introspection(part: Part, name: str, below: Part) -> None:
    """Count a meta field. Raises `TooComplex` where the answer would repeat the schema many times."""
    if name == "__schema":
        if below.members > 1:
            raise TooComplex(
                "Below `__schema`, members of types cannot select the members of their own types: "
                "select each type by `__type`."
            )
        part.schemas += 1
        part.cost += INTROSPECTION_COST
    elif name == "__type":
        part.types += 1
        part.cost += INTROSPECTION_COST
    elif name in _MEMBERS:
        part.members = max(part.members, below.members + 1)


def _refusal(message: str) -> Invalid:
    return Invalid([problem((), message, "graphql")])


def _metadata(definition: GraphQLField) -> Mapping[Any, Any]:
    declared = definition.extensions.get("strawberry-definition")
    return declared.metadata if declared is not None else {}
