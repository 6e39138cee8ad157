"""What both surfaces promise, compared without sending a request."""

from pathlib import Path

import orjson
import pytest
from graphql import GraphQLEnumType, parse, validate

from gateway.web.explorer import EXAMPLE_FOLDER
from resolvers.graph.root import exposed, make_schema
from resolvers.operations.declaration import operation_of
from rest_compat.api import operation_routes
from rest_compat.openapi.document import openapi_document
from rest_compat.routing.paths import OPENAPI_FILE, OPENAPI_PATH

ROOT = Path(__file__).parents[2]

# Operations that only one surface has, each with its reason.
REST_ONLY: dict[str, str] = {}
GRAPHQL_ONLY = {
    "stream_changes": "The path of REST's stream runs `get_changes`, with arguments of its own.",
    "stream_metrics_changes": "REST's clients ask for metrics again when the stream of changes tells any.",
}


def test_whatever_one_surface_can_do_the_other_can():
    graphql, rest = set(exposed(make_schema()._schema)), set(operation_routes())
    assert graphql - rest == set(GRAPHQL_ONLY)
    assert rest - graphql == set(REST_ONLY)


def test_both_surfaces_run_the_same_resolver():
    for name, place in exposed(make_schema()._schema).items():
        if name in operation_routes():
            assert place.operation is operation_routes()[name].operation


def test_enums_of_graphql_have_the_values_of_rest_in_capitals():
    def in_graphql(value):
        return value.removeprefix("-").replace(".", "_").upper() + ("_DESC" if value.startswith("-") else "")

    enums = {
        name: list(type.values)
        for name, type in make_schema()._schema.type_map.items()
        if isinstance(type, GraphQLEnumType) and not name.startswith("__")
    }
    schemas = openapi_document()["components"]["schemas"]
    assert "MetricSlug" in enums
    assert enums == {name: [in_graphql(value) for value in schemas[name]["enum"]] for name in enums}


def test_the_committed_graphql_schema_is_the_one_served():
    assert (ROOT / "schema/schema.graphql").read_text() == make_schema().as_str() + "\n"


async def test_the_committed_openapi_document_is_the_one_served(gateway):
    committed = orjson.loads(OPENAPI_FILE.read_bytes())
    served = (await gateway.client.get(OPENAPI_PATH)).json()
    # The gateway that serves it writes its own address into it.
    assert served | {"servers": committed["servers"]} == committed
    assert committed == orjson.loads(orjson.dumps(openapi_document()))


@pytest.mark.parametrize("example", sorted(EXAMPLE_FOLDER.iterdir()), ids=lambda example: example.stem)
def test_the_explorers_examples_fit_the_schema(example):
    assert validate(make_schema()._schema, parse(example.read_text())) == []


def test_a_resolver_without_a_declaration_cannot_be_published():
    async def undeclared(ctx):
        """Does nothing."""

    with pytest.raises(TypeError, match="declares neither a scope"):
        operation_of(undeclared)
