"""The contracts at the origin: for any page and generator, and for caches."""

import pytest

from gateway.endpoints.contracts import contract_routes
from resolvers.graph.contract import SCHEMA_FILE, SCHEMA_PATH
from resolvers.graph.root import make_schema
from rest_compat.openapi.document import openapi_document
from rest_compat.routing.paths import OPENAPI_PATH, ROOT_OPENAPI_PATH

PATHS = [route.path for route in contract_routes()]


async def test_both_contracts_are_served_without_a_credential(gateway):
    assert set(PATHS) == {OPENAPI_PATH, ROOT_OPENAPI_PATH, SCHEMA_PATH}
    served = (await gateway.client.get("/openapi.json")).json()
    # A file that was saved knows the gateway that it is from.
    assert served["servers"].pop()["url"] == "http://gateway"
    assert served == openapi_document() | {"servers": []}
    schema = await gateway.client.get("/schema.graphql")
    assert schema.text == SCHEMA_FILE.read_text("utf-8") == make_schema().as_str() + "\n"
    assert schema.headers["content-type"] == "application/graphql; charset=utf-8"


@pytest.mark.parametrize("path", PATHS)
async def test_a_page_on_another_origin_reads_a_contract_with_its_tag(gateway, path):
    answer = await gateway.client.get(path, headers={"Origin": "https://app.example.com"})
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "ETag" in answer.headers["access-control-expose-headers"].split(", ")


@pytest.mark.parametrize("path", PATHS)
async def test_caches_keep_a_contract_until_it_changes(gateway, path):
    answer = await gateway.client.get(path)
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert "Origin" in answer.headers["vary"].split(", ")
    again = await gateway.client.get(path, headers={"If-None-Match": f'"other", W/{answer.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == answer.headers["etag"]
    assert (await gateway.client.get(path, headers={"If-None-Match": '"other"'})).status_code == 200
    head = await gateway.client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == answer.headers["etag"]
