"""One pass over a GraphQL document before it is validated, for its demands, cost and depth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLField,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SchemaMetaFieldDef,
    SelectionSetNode,
    TypeMetaFieldDef,
    ValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_list_type,
)

from oauth.scopes import Scope
from resolvers.graph.execution.fields import FIRST, OPERATION
from resolvers.graph.survey.refused_arguments import weight_of_field
from resolvers.graph.survey.surveys import Survey
from resolvers.graph.survey.totals import Totals
from resolvers.operations.limits.admission import Demand, calls_for
from schema.errors import Invalid, TooComplex, problem
from schema.kit.links import MOST, SCOPE
from schema.kit.nodes import LOOKUP
from schema.kit.pages import MOST_PER_PAGE

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
# The key of a type's extensions for the names of its free fields.
FREE = "free"


@dataclass
class _Surveyor:
    """Visits each written selection once, however often its fragment is spread."""

    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: dict[str, Any]
    survey: Survey = field(default_factory=Survey)
    totals_of_fragments: dict[str, Totals | None] = field(default_factory=dict)

    def totals_of(self, selections: SelectionSetNode, owner: GraphQLNamedType | None, level: int) -> Totals:
        """The counts of the selections for one `owner`. Raises `TooComplex` or `Invalid`."""
        if level > MOST_NESTED:
            raise TooComplex(f"This document is nested more than {MOST_NESTED} levels deep, the limit.")
        totals, free = Totals(selections=len(selections.selections)), _free_fields(owner)
        for node in selections.selections:
            if isinstance(node, FieldNode):
                if node.alias is None and node.selection_set is None and node.name.value in free:
                    totals.depth = totals.depth or 1
                    continue
                self._add_field(totals, node, owner, level)
            else:
                below = self._totals_behind(node, owner, level + 1)
                totals.add(below)
                totals.add_lists(below.lists)
                totals.depth = max(totals.depth, below.depth)
            _check_selections(totals)
        return totals

    def _totals_behind(self, node: Any, owner: GraphQLNamedType | None, level: int) -> Totals:
        """The counts of an inline fragment or a fragment spread."""
        if isinstance(node, InlineFragmentNode):
            named = self.schema.get_type(node.type_condition.name.value) if node.type_condition else owner
            return self.totals_of(node.selection_set, named, level)
        name: str = node.name.value
        fragment = self.fragments.get(name)
        if fragment is None:
            raise _refusal(f"Unknown fragment '{name}'.")
        if name not in self.totals_of_fragments:
            self.totals_of_fragments[name] = None
            named = self.schema.get_type(fragment.type_condition.name.value)
            self.totals_of_fragments[name] = self.totals_of(fragment.selection_set, named, level)
        totals = self.totals_of_fragments[name]
        if totals is None:
            raise _refusal(f"Cannot spread fragment '{name}' within itself.")
        return totals

    def _add_field(self, totals: Totals, node: FieldNode, owner: GraphQLNamedType | None, level: int) -> None:
        name = node.name.value
        is_meta = name.startswith("__") or (owner is not None and owner.name.startswith("__"))
        definition = self._definition(name, owner)
        if node.alias is not None:
            _check_alias(node.alias.value, owner)
            totals.aliases += 1
        depth, items, weight = 1, 1 if definition is None else self._limit(node, definition), 1
        if definition is not None:
            weight = self._add_cost(totals, node, definition, items)
        if node.selection_set:
            named = get_named_type(definition.type) if definition is not None else None
            below = self.totals_of(node.selection_set, named, level + 1)
            # A list costs as often as it is in the answer; the first time, it comes with its field.
            if repeated := below.repeated_lists:
                below.add_links(1, weight * repeated)
            totals.add(below, items)
            if definition is not None and is_list_type(get_nullable_type(definition.type)):
                totals.add_lists({name: {node.alias.value if node.alias else name}})
            depth += below.depth
            if is_meta:
                _add_introspection(totals, name, below)
        if not is_meta:
            totals.depth = max(totals.depth, depth)

    def _definition(self, name: str, owner: GraphQLNamedType | None) -> GraphQLField | None:
        if not isinstance(owner, GraphQLObjectType):
            return None
        definition: GraphQLField | None = owner.fields.get(name) or _META_FIELDS.get(name)
        return definition

    def _add_cost(self, totals: Totals, node: FieldNode, definition: GraphQLField, items: int) -> int:
        """Add the cost of the field itself, which may give so many items, and record its demands.

        Returns the operation's own weight in calls; 1 for other fields.
        """
        metadata = _metadata(definition)
        if operation := metadata.get(OPERATION):
            self.survey.roots.append((operation, node))
            self.survey.demands.append(Demand.of(operation))
            weight = weight_of_field(operation, node, self.variables)
            self.survey.is_for_variables |= operation.weigh is not None
            totals.calls += max(calls_for(items), weight)
            return weight
        if scope := metadata.get(SCOPE):
            self.survey.demands.append(Demand(Scope(scope)))
            totals.add_links(items)
        elif LOOKUP in metadata:
            # Its resource decides the scope, but it always needs a credential.
            self.survey.demands.append(Demand(None))
            totals.calls += 1
        return 1

    def _limit(self, node: FieldNode, definition: GraphQLField) -> int:
        """The largest number of items in the field's list; 1 for a list whose items have no links."""
        declared = definition.args.get("limit")
        if declared is None:
            most: int = _metadata(definition).get(MOST, 1)
            return most
        value: Any = declared.default_value
        sent = {argument.name.value: argument.value for argument in node.arguments or ()}
        for name in ("limit", FIRST):
            if name in sent:
                value = self._integer(sent[name], value)
        return min(max(value, 1), MOST_PER_PAGE) if isinstance(value, int) else MOST_PER_PAGE

    def _integer(self, node: ValueNode, otherwise: Any) -> Any:
        """The integer of a literal or variable; None if it has thousands of digits."""
        if isinstance(node, IntValueNode):
            # Python refuses to parse them.
            return int(node.value) if len(node.value) <= _LONGEST_LIMIT else None
        if not isinstance(node, VariableNode):
            return otherwise
        self.survey.is_for_variables = True
        sent = self.variables.get(node.name.value)
        return otherwise if sent is None else sent


def survey(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: dict[str, Any],
) -> Survey:
    """What `operation` of the document requests, in time linear in the document's length.

    Raises `TooComplex` with the limit and the value, and `Invalid` for fragments that are unknown or contain
    themselves.
    """
    fragments = {
        node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
    }
    surveyor = _Surveyor(schema, fragments, variables)
    totals = surveyor.totals_of(operation.selection_set, schema.get_root_type(operation.operation), 1)
    for value, limit, unit in (
        (totals.nested, MOST_NESTED, "levels of selections"),
        (totals.depth, DEEPEST, "levels of fields"),
        (totals.aliases, MOST_ALIASES, "aliases"),
        (totals.schemas, 1, "fields `__schema`"),
        (totals.types, MOST_TYPES, "fields `__type`"),
    ):
        if value > limit:
            raise TooComplex(f"This document has {value} {unit}; the limit is {limit}.")
    surveyor.survey.cost = totals.cost
    surveyor.survey.is_introspection = totals.schemas + totals.types > 0 and not surveyor.survey.demands
    return surveyor.survey


def _free_fields(owner: GraphQLNamedType | None) -> frozenset[str]:
    """The names of the type's fields without a cost or demand of their own."""
    if not isinstance(owner, GraphQLObjectType) or owner.name.startswith("__"):
        return frozenset()
    if FREE not in owner.extensions:
        declared = {name: _metadata(definition) for name, definition in owner.fields.items()}
        owner.extensions[FREE] = frozenset(
            name for name, metadata in declared.items() if not {OPERATION, SCOPE} & metadata.keys()
        )
    free: frozenset[str] = owner.extensions[FREE]
    return free


def _check_selections(totals: Totals) -> None:
    if totals.selections > MOST_SELECTIONS:
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


def _add_introspection(totals: Totals, name: str, below: Totals) -> None:
    """Count a meta field. Raises `TooComplex` if the answer would repeat the schema many times."""
    if name == "__schema":
        if below.members > 1:
            raise TooComplex(
                "Below `__schema`, members of types cannot select the members of their own types: "
                "select each type by `__type`."
            )
        totals.schemas += 1
        totals.calls += INTROSPECTION_COST
    elif name == "__type":
        totals.types += 1
        totals.calls += INTROSPECTION_COST
    elif name in _MEMBERS:
        totals.members = max(totals.members, below.members + 1)


def _refusal(message: str) -> Invalid:
    return Invalid([problem((), message, "graphql")])


def _metadata(definition: GraphQLField) -> Mapping[Any, Any]:
    declared = definition.extensions.get("strawberry-definition")
    return declared.metadata if declared is not None else {}
