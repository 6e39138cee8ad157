"""The OpenAPI document, as generators of clients need it."""

import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from rest_compat.api import documented_routes
from rest_compat.openapi.document import openapi_document
from rest_compat.openapi.examples import BODIES, PARAMETERS
from rest_compat.openapi.reports import REPORTS_TAG
from schema.kit.base import Count
from schema.values.dates import ZONE_PATTERN
from storage.changes.kinds import ChangeKind
from storage.metrics.zones import zone_names

DOCUMENT = openapi_document()
SCHEMAS = DOCUMENT["components"]["schemas"]
METHODS = {"get", "post", "put", "patch", "delete"}
NULL = {"type": "null"}


def entries() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, entry)
        for path, methods in DOCUMENT["paths"].items()
        for method, entry in methods.items()
    ]


def parameters(place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, method, entry in entries():
        for parameter in entry.get("parameters", []):
            if parameter["in"] == place:
                yield f"{method} {path} {parameter['name']}", parameter


def below(node: Any) -> Iterator[dict[str, Any]]:
    """Every object of the document."""
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from below(child)


def test_the_document_names_its_server_and_describes_every_tag() -> None:
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert [server["url"] for server in DOCUMENT["servers"]] == ["/"]
    tags = {tag["name"]: tag["description"] for tag in DOCUMENT["tags"]}
    assert len(tags) == len(DOCUMENT["tags"])
    assert all(tags.values())
    assert {tag for _, _, entry in entries() for tag in entry["tags"]} == set(tags)


def test_every_method_is_an_operation_with_a_name_of_its_own() -> None:
    assert {method for _, method, _ in entries()} <= METHODS
    names = [entry["operationId"] for _, _, entry in entries()]
    assert len(names) == len(set(names))
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in names)


def test_every_credential_is_declared_and_public_operations_say_so() -> None:
    schemes = DOCUMENT["components"]["securitySchemes"]
    used = {name for _, _, entry in entries() for each in entry["security"] for name in each}
    assert used == set(schemes)
    for route in documented_routes():
        entry = DOCUMENT["paths"][route.path_format][route.method.lower()]
        assert bool(entry["security"]) == bool(route.operation.kinds)


def test_githubs_callback_stands_apart() -> None:
    apart = [path for path, _, entry in entries() if REPORTS_TAG["name"] in entry["tags"]]
    assert apart == ["/api/integrations/github/secret-scanning"]
    assert DOCUMENT["tags"][-1] == REPORTS_TAG


def test_each_failure_is_spelled_out_with_its_body() -> None:
    for path, _, entry in entries():
        statuses = set(entry["responses"])
        assert all(status.isdecimal() for status in statuses), path
        assert {"401", "429", "500", "503"} <= statuses, path
    for name, response in DOCUMENT["components"]["responses"].items():
        body = "InvalidError" if name == "Invalid" else "Error"
        if "content" in response:
            assert response["content"]["application/json"]["schema"] == {
                "$ref": f"#/components/schemas/{body}"
            }
    assert SCHEMAS["Error"]["properties"]["detail"]["type"] == "string"
    assert SCHEMAS["InvalidError"]["properties"]["detail"]["type"] == "array"
    assert "invalid" not in SCHEMAS["Error"]["properties"]["error"]["enum"]


def test_schemas_have_plain_names_and_each_is_used() -> None:
    assert all(re.fullmatch("[A-Z][A-Za-z0-9]*", name) for name in SCHEMAS)
    assert "SharePage" in SCHEMAS
    used = {node["$ref"].rpartition("/")[2] for node in below(DOCUMENT) if isinstance(node.get("$ref"), str)}
    assert set(SCHEMAS) <= used
    named = {name for kind in ("responses", "headers") for name in DOCUMENT["components"][kind]}
    assert used <= set(SCHEMAS) | named


@pytest.mark.parametrize("place", ["path", "query", "header"])
def test_a_parameter_can_be_left_out_but_is_never_null(place: str) -> None:
    found = dict(parameters(place))
    assert found
    for name, parameter in found.items():
        assert NULL not in parameter["schema"].get("anyOf", []), name
        assert parameter["required"] or place != "path", name


def test_an_answer_leaves_out_what_it_does_not_have() -> None:
    totals = SCHEMAS["MetricTotals"]
    assert "required" not in totals
    assert all(NULL not in field.get("anyOf", []) for field in totals["properties"].values())


def test_inputs_have_no_defaults_that_generators_would_demand() -> None:
    for name, schema in SCHEMAS.items():
        if schema.get("additionalProperties") is False:
            assert not any("default" in field for field in schema["properties"].values()), name
    assert "The default is `public`." in SCHEMAS["ShareCreate"]["properties"]["visibility"]["description"]


def test_a_time_zone_is_a_text_of_a_form_that_every_name_has() -> None:
    zone = next(found for name, found in parameters("query") if name.endswith("/metrics/ timezone"))
    assert zone["schema"]["type"] == "string"
    assert zone["schema"]["pattern"] == ZONE_PATTERN
    assert "enum" not in zone["schema"]
    assert all(re.search(ZONE_PATTERN, name) for name in zone_names())


@pytest.mark.parametrize(("union", "prefix"), [("Price", ""), ("NewPrice", "New")])
def test_prices_are_unions_by_their_kind(union: str, prefix: str) -> None:
    discriminator = SCHEMAS[union]["discriminator"]
    assert discriminator["propertyName"] == "amount_type"
    assert list(discriminator["mapping"]) == ["fixed", "custom", "free"]
    for kind, reference in discriminator["mapping"].items():
        variant = SCHEMAS[reference.rpartition("/")[2]]
        assert reference.endswith(f"/{prefix}{kind.title()}Price")
        assert variant["properties"]["amount_type"]["const"] == kind
        assert ("price_amount" in variant["required"]) == (kind == "fixed")
        assert ("preset_amount" in variant["properties"]) == (kind == "custom")


def test_the_oauth_endpoints_are_documented() -> None:
    documented = {path for path, _, entry in entries() if entry["tags"] == ["OAuth"]}
    endpoints = ("token", "revoke", "introspect", "userinfo", "register", "register/{client_id}")
    assert documented == {f"/api/oauth2/{endpoint}" for endpoint in endpoints}
    form = DOCUMENT["paths"]["/api/oauth2/token"]["post"]["requestBody"]["content"]
    assert list(form) == ["application/x-www-form-urlencoded"]


def test_every_body_and_every_required_parameter_has_an_example() -> None:
    """Add missing ones to `rest_compat/openapi/examples.py`: the reference fills them in."""
    with_body = {
        route.operation.name
        for route in documented_routes()
        if any(parameter.place == "data" for parameter in route.operation.parameters)
    }
    assert with_body <= set(BODIES)
    assert set(BODIES) - with_body == {"report_leaks"}
    required = {found["name"] for _, found in parameters("query") if found["required"]}
    assert required <= set(PARAMETERS)


def test_the_example_of_a_body_is_valid_as_it_is_printed() -> None:
    faults = {}
    for route in documented_routes():
        name = route.operation.name
        for parameter in route.operation.parameters:
            if parameter.place == "data":
                try:
                    TypeAdapter(parameter.annotation).validate_python(BODIES[name], context=Count())
                except ValidationError as error:
                    faults[name] = str(error)
    assert faults == {}


def test_no_text_promises_what_does_not_exist() -> None:
    texts = [node["description"] for node in below(DOCUMENT) if isinstance(node.get("description"), str)]
    assert [text for text in texts if "storefront" in text] == []


def test_summaries_and_success_descriptions_are_words() -> None:
    for path, _, entry in entries():
        assert entry["summary"][0].isupper(), path
        first, *repeated = sorted((code for code in entry["responses"] if code.startswith("2")), reverse=True)
        assert entry["responses"][first]["description"] == HTTPStatus(int(first)).phrase
        # What was reported before answers 200 instead of 201.
        assert [entry["responses"][code]["description"].endswith("what is there.") for code in repeated] in (
            [],
            [True],
        )


def test_the_document_says_whose_it_is_and_describes_every_parameter() -> None:
    assert DOCUMENT["info"]["license"]["identifier"] == "Apache-2.0"
    everywhere = [each for place in ("path", "query", "header") for each in parameters(place)]
    assert not [name for name, parameter in everywhere if not parameter.get("description")]


def test_every_answer_of_an_operation_has_the_headers_of_limits() -> None:
    responses = DOCUMENT["components"]["responses"]
    limited = {name for name, response in responses.items() if "RateLimit" in response.get("headers", {})}
    assert limited == set(responses) - {"HeadersTooLarge"}
    for path, method, entry in entries():
        for status, response in entry["responses"].items():
            if status in ("200", "201", "202", "204"):
                assert "RateLimit" in response.get("headers", {}), (method, path, status)


def test_every_kind_of_change_is_a_webhook() -> None:
    assert set(DOCUMENT["webhooks"]) == {kind.value for kind in ChangeKind}
    for kind, item in DOCUMENT["webhooks"].items():
        # By name: generators that skip `webhooks` write a type for it too.
        body_name = item["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        body = SCHEMAS[body_name.rpartition("/")[2]]["properties"]
        assert body["type"]["const"] == kind
        named = [branch["$ref"] for branch in body["data"].get("anyOf", []) if "$ref" in branch]
        assert all(name.rpartition("/")[2] in SCHEMAS for name in named)
        assert bool(named) is not ("count" in body["data"].get("properties", {}))


def test_values_of_several_types_have_names() -> None:
    """A generator calls a union without a name after the first field that it meets it in."""
    places = [place for name, schema in SCHEMAS.items() for place in unions(schema, name)]
    # The path to a place is Pydantic's.
    assert places == ["CostAmount", "MetadataValue", "Problem.properties.loc.items"]
    assert SCHEMAS["ShareCreate"]["properties"]["prices"]["items"] == {
        "$ref": "#/components/schemas/NewPrice"
    }
    # Some generators write no union of unions.
    kinds = [SCHEMAS[each["$ref"].rpartition("/")[2]] for each in SCHEMAS["PriceInput"]["oneOf"]]
    assert not any("oneOf" in kind for kind in kinds)


def unions(node: Any, place: str) -> Iterator[str]:
    """Where there are several types, null aside."""
    if isinstance(node, dict):
        if len([each for each in node.get("anyOf", ()) if each != NULL]) > 1:
            yield place
        for key, each in node.items():
            yield from unions(each, f"{place}.{key}")
