"""What a developer declares but no plan answers is refused in a sentence when it is planned."""

from types import SimpleNamespace

import pytest
import strawberry
from graphql import GraphQLNonNull, GraphQLScalarType, GraphQLString, parse

from resolvers.graph.execution.argument_readers import read_arguments
from resolvers.graph.execution.core_schema import core_schema
from resolvers.graph.execution.fields import OPERATION
from resolvers.graph.execution.model_writers import ModelWriter
from resolvers.graph.execution.plain_fields import mark_plain_fields
from resolvers.graph.execution.planned.plans import plan_of
from resolvers.graph.root import exposed


@strawberry.input
class Condition:
    """An input that has others of its own type inside."""

    only_name: str | None = None
    any_of: "list[Condition] | None" = None


def schema_of(name, resolver, **options):
    """A schema whose one field has this resolver."""
    query = strawberry.type(type("Query", (), {name: strawberry.field(resolver, **options)}))
    return strawberry.Schema(query)


def arguments(schema, **values):
    return read_arguments(core_schema(schema).query_type.fields["found"], values)


def test_an_input_may_have_others_of_its_own_type_inside():
    def found(where: Condition) -> str:
        raise NotImplementedError

    schema = schema_of("found", found)
    sent = {"anyOf": [{"onlyName": "a"}, {"anyOf": [{"onlyName": None}]}]}
    assert arguments(schema, where=sent) == {
        "where": {"any_of": [{"only_name": "a"}, {"any_of": [{"only_name": None}]}]}
    }


def test_a_maybe_that_is_never_null_is_refused():
    def found(most: strawberry.Maybe[int]) -> str:
        raise NotImplementedError

    with pytest.raises(TypeError, match=r"^The `Maybe` of most has to accept null\.$"):
        arguments(schema_of("found", found), most=1)


@strawberry.type
class Made:
    """An object with a field that only a resolver with arguments makes."""

    name: str

    @strawberry.field
    def greeting(self, language: str) -> str:
        raise NotImplementedError


def text() -> str:
    raise NotImplementedError


def made() -> Made:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("resolver", "below", "said"),
    [
        (text, "", "No plan covers the field found."),
        (made, '{ name greeting(language: "en") }', "No writer writes the field greeting of Made."),
    ],
)
def test_a_field_that_nothing_answers_is_refused(gateway, resolver, below, said):
    operation = exposed(core_schema(gateway.app.state.schema))["get_viewer"].operation
    schema = schema_of("found", resolver, metadata={OPERATION: operation})
    mark_plain_fields(core_schema(schema))
    document = parse(f"{{ found {below} }}")
    with pytest.raises(TypeError) as refused:
        plan_of(schema, document, document.definitions[0]).prepare({})
    assert str(refused.value) == said


ODD = GraphQLScalarType("Odd", coerce_output_value=lambda value: value or None)


@pytest.mark.parametrize(
    ("type_", "value", "said"),
    [
        (GraphQLNonNull(GraphQLString), None, "A value of the type String! is missing."),
        (ODD, 0, "Odd does not write this value."),
    ],
)
def test_a_value_that_its_type_does_not_have_is_refused_and_not_null(type_, value, said):
    writer = ModelWriter(SimpleNamespace(bytes_written=0))
    with pytest.raises(TypeError) as refused:
        writer.write(type_, None, value)
    assert str(refused.value) == said
    assert writer.write(ODD, None, 7) == 7
