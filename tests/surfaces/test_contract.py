"""What both surfaces promise, compared without sending a request."""

from pathlib import Path

import orjson
import pytest
from graphql import parse, validate

from gateway.web.pages import explorer_examples
from resolvers.graph.root import exposed, make_schema
from resolvers.operations.declaration import operation_of
from rest_compat.api import operation_routes
from rest_compat.openapi import openapi_document
from rest_compat.paths import OPENAPI_FILE, OPENAPI_PATH

ROOT = Path(__file__).parents[2]

# Operations that only one surface has, each with its reason.
REST_ONLY: dict[str, str] = {}
GRAPHQL_ONLY: dict[str, str] = {}


def test_whatever_one_surface_can_do_the_other_can():
    graphql, rest = set(exposed(make_schema()._schema)), set(operation_routes())
    assert graphql - rest == set(GRAPHQL_ONLY)
    assert rest - graphql == set(REST_ONLY)


def test_both_surfaces_run_the_same_resolver():
    for name, place in exposed(make_schema()._schema).items():
        if name in operation_routes():
            assert place.operation is operation_routes()[name].operation


def test_the_committed_graphql_schema_is_the_one_served():
    assert (ROOT / "schema/schema.graphql").read_text() == make_schema().as_str() + "\n"


async def test_the_committed_openapi_document_is_the_one_served(gateway):
    committed = orjson.loads(OPENAPI_FILE.read_bytes())
    assert committed == (await gateway.client.get(OPENAPI_PATH)).json()
    assert committed == orjson.loads(orjson.dumps(openapi_document()))


@pytest.mark.parametrize("example", explorer_examples(), ids=lambda example: example.query.split("(")[0])
def test_the_explorers_examples_fit_the_schema(example):
    assert validate(make_schema()._schema, parse(example.query)) == []


def test_a_resolver_without_a_declaration_cannot_be_published():
    async def undeclared(ctx):
        """Does nothing."""

    with pytest.raises(TypeError, match="declares neither a scope"):
        operation_of(undeclared)
