"""One declaration of a deprecation, as each surface and each contract shows it."""

from datetime import date
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
import strawberry
from graphql import print_schema
from pydantic import Field

from resolvers.graph.execution.fields import expose
from resolvers.operations.context import Context, Outcome
from resolvers.operations.declaration import public
from rest_compat.openapi.document import described
from rest_compat.openapi.schemas.plain import cleaned
from rest_compat.routing.router import Router
from schema.kit.base import Filters, Input, Output, graphql_input, graphql_type
from schema.kit.deprecation import Deprecation

ENDING = Deprecation("Use `newBirds`.", since=date(2026, 11, 1), ends=date(2027, 11, 1))
REASON = "Use `newBirds`. Ends on 2027-11-01."


@graphql_type
class Bird(Output):
    """A bird."""

    name: str
    latin: Annotated[str | None, ENDING, Field(description="The Latin name.")] = None


@graphql_input
class BirdSeen(Input):
    """A bird that was seen."""

    name: str
    place: Annotated[str | None, ENDING, Field(description="Where it was seen.")] = None


class BirdQuery(Filters):
    """Which birds to count."""

    coast: Annotated[str | None, ENDING, Field(description="Only birds of this coast.")] = None


@public("birds are public")
async def see_bird(ctx: Context, data: BirdSeen) -> Bird:
    """Notes a bird."""
    return Bird(name=data.name)


@public("birds are public", deprecation=ENDING)
async def get_birds(ctx: Context, query: BirdQuery) -> Bird:
    """Returns a bird."""
    return Bird(name="Dunlin")


router = Router()
router.about("Birds", "Birds of the coast.")
router.get("/birds/", get_birds)
router.post("/birds/", see_bird)


def entries() -> tuple[dict[str, Any], dict[str, Any]]:
    """The paths and the schemas of the document of these operations."""
    paths, schemas = described([route for route in router.routes if route.is_documented])
    return cleaned(paths)["/api/birds/"], cleaned(schemas, are_names=True)


def test_openapi_marks_operations_parameters_and_fields() -> None:
    path, schemas = entries()
    assert path["get"]["deprecated"] is True
    assert path["get"]["description"].endswith(REASON)
    assert {"Deprecation", "Sunset"} <= set(path["get"]["responses"]["200"]["headers"])
    (coast,) = (parameter for parameter in path["get"]["parameters"] if parameter["name"] == "coast")
    assert coast["deprecated"] is True
    assert coast["description"] == f"Only birds of this coast. {REASON}"
    assert "deprecated" not in path["post"]
    for name, field in (("Bird", "latin"), ("BirdSeen", "place")):
        shown = schemas[name]["properties"][field]
        assert shown["deprecated"] is True
        assert shown["description"].endswith(REASON)


def test_graphql_marks_fields_arguments_and_inputs() -> None:
    query = strawberry.type(type("Query", (), {"birds": expose(get_birds)}))
    mutation = strawberry.type(type("Mutation", (), {"see_bird": expose(see_bird)}))
    text = print_schema(strawberry.Schema(query, mutation)._schema)
    marked = [line for line in text.splitlines() if f'@deprecated(reason: "{REASON}")' in line]
    assert [line.strip().partition(":")[0].partition("(")[0] for line in marked] == [
        *("coast", ")", "latin", "place")
    ]


def test_answers_of_rest_say_when_the_operation_ends() -> None:
    request: Any = SimpleNamespace(method="GET")
    ctx: Any = SimpleNamespace(outcome=Outcome())
    ending, staying = (
        route.served._answer(request, ctx, Bird(name="Dunlin"), {}).headers
        for route in (router.routes[0], router.routes[-1])
    )
    assert ending == {"Deprecation": "@1793491200", "Sunset": "Mon, 01 Nov 2027 00:00:00 GMT"}
    assert staying == {}


def test_a_notice_of_less_than_a_year_cannot_be_declared() -> None:
    with pytest.raises(ValueError, match="365 days ahead"):
        Deprecation("Use `newBirds`.", since=date(2026, 11, 1), ends=date(2027, 10, 31))
