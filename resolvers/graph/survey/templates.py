"""Makes templates of valid documents: their literals become variables of the types that the schema has."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graphql import (
    ArgumentNode,
    DefinitionNode,
    DocumentNode,
    FieldNode,
    FragmentSpreadNode,
    GraphQLInputType,
    GraphQLNamedType,
    GraphQLSchema,
    InlineFragmentNode,
    ListValueNode,
    NameNode,
    ObjectValueNode,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    ValueNode,
    VariableDefinitionNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_input_object_type,
    is_list_type,
    parse_type,
    validate,
    value_from_ast_untyped,
)
from graphql.validation import OverlappingFieldsCanBeMergedRule

from resolvers.graph.survey.literals import Maker, Outline, Template
from resolvers.graph.survey.problem_places import LITERAL


def template_of(schema: GraphQLSchema, document: DocumentNode, outline: Outline) -> Template | None:
    """The template of a valid document without variables.

    None if a literal is no value of an argument, or if fields of one name in the answer have literals: with
    other ones they would differ, and only one of them could be answered.
    """
    if any(getattr(each, "variable_definitions", None) for each in document.definitions):
        return None
    if any(getattr(each, "operation", None) is OperationType.SUBSCRIPTION for each in document.definitions):
        return None  # Its errors come later, when the places of the literals are no longer known.
    made = _Rewriter(schema, outline)
    definitions = [made.definition(each) for each in document.definitions]
    if made.replaced != len(outline.values):
        return None
    complete = tuple(
        replace(each, variable_definitions=tuple(made.definitions))
        if isinstance(each, OperationDefinitionNode)
        else each
        for each in definitions
    )
    rewritten = replace(document, definitions=complete)
    # As the parser notes it: the node has no field for it.
    object.__setattr__(rewritten, "token_count", document.token_count)
    if validate(schema, rewritten, [OverlappingFieldsCanBeMergedRule], max_errors=1):
        return None
    return Template(rewritten, made.makers, outline.places)


class _Rewriter:
    """Writes a document with variables, whose definitions and makers it gathers."""

    def __init__(self, schema: GraphQLSchema, outline: Outline) -> None:
        self._schema = schema
        self._literals = {start: index for index, (start, _) in enumerate(outline.places)}
        self._starts = [start for start, _ in outline.places]
        self.definitions: list[VariableDefinitionNode] = []
        self.makers: dict[str, Maker] = {}
        self.replaced = 0

    def definition(self, definition: Any) -> DefinitionNode:
        if isinstance(definition, OperationDefinitionNode):
            owner: Any = self._schema.get_root_type(definition.operation)
        else:
            owner = self._schema.get_type(definition.type_condition.name.value)
        made: DefinitionNode = replace(
            definition, selection_set=self._selections(definition.selection_set, owner)
        )
        return made

    def _selections(self, selections: SelectionSetNode, owner: GraphQLNamedType | None) -> SelectionSetNode:
        if not self._has_literals(selections):
            return selections
        return replace(
            selections, selections=tuple(self._selection(each, owner) for each in selections.selections)
        )

    def _selection(self, node: SelectionNode, owner: GraphQLNamedType | None) -> SelectionNode:
        if isinstance(node, FragmentSpreadNode) or not self._has_literals(node):
            return node
        if isinstance(node, InlineFragmentNode):
            condition = node.type_condition
            named = self._schema.get_type(condition.name.value) if condition else owner
            return replace(node, selection_set=self._selections(node.selection_set, named))
        fields: Mapping[str, Any] = getattr(owner, "fields", {})
        if not isinstance(node, FieldNode) or (declared := fields.get(node.name.value)) is None:
            return node
        arguments = tuple(self._argument(each, declared.args) for each in node.arguments or ())
        below = node.selection_set
        if below is not None:
            below = self._selections(below, get_named_type(declared.type))
        return replace(node, arguments=arguments, selection_set=below)

    def _argument(self, node: ArgumentNode, declared: Mapping[str, Any]) -> ArgumentNode:
        return replace(node, value=self._value(node.value, declared[node.name.value].type))

    def _value(self, node: ValueNode, type_: GraphQLInputType) -> ValueNode:
        if not self._has_literals(node):
            return node
        bare: Any = get_nullable_type(type_)
        if is_list_type(bare) and isinstance(node, ListValueNode):
            return replace(node, values=tuple(self._value(each, bare.of_type) for each in node.values))
        named: Any = get_named_type(bare)
        if is_input_object_type(named) and isinstance(node, ObjectValueNode):
            fields = [
                replace(each, value=self._value(each.value, named.fields[each.name.value].type))
                for each in node.fields
            ]
            return replace(node, fields=tuple(fields))
        return self._variable(node, bare)

    def _variable(self, node: ValueNode, type_: GraphQLInputType) -> VariableNode:
        name = f"literal_{len(self.definitions)}"
        variable = VariableNode(name=NameNode(value=name), loc=node.loc)
        # A problem may be about a part of it; the node has no field for that.
        object.__setattr__(variable, LITERAL, node)
        self.definitions.append(VariableDefinitionNode(variable=variable, type=parse_type(f"{type_}!")))
        self.makers[name] = self._maker(node)
        return variable

    def _maker(self, node: ValueNode) -> Maker:
        if isinstance(node, ObjectValueNode):
            fields = {each.name.value: self._maker(each.value) for each in node.fields}
            return lambda values: {name: make(values) for name, make in fields.items()}
        if isinstance(node, ListValueNode):
            items = [self._maker(each) for each in node.values]
            return lambda values: [make(values) for make in items]
        index = self._literals.get(node.loc.start) if node.loc else None
        if index is None:
            constant = value_from_ast_untyped(node)
            return lambda _: constant
        self.replaced += 1
        return lambda values: values[index]

    def _has_literals(self, node: Any) -> bool:
        return node.loc is not None and any(node.loc.start <= each < node.loc.end for each in self._starts)
