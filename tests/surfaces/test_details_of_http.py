"""Details of HTTP that integrators met: places of new resources, methods, marks and local networks."""

from codecs import BOM_UTF8
from gzip import compress

import pytest

from tests.support.servers.gateways import bearer

SHARE = {"name": "Atlas", "prices": [{"amount_type": "free"}]}


async def test_the_location_of_a_new_resource_reads_it(gateway, tenant):
    own = bearer(tenant.token)
    made = await gateway.client.post("/api/shares/", json=SHARE, headers=own)
    read = await gateway.client.get(made.headers["location"], headers=own)
    assert (read.status_code, read.json()) == (200, made.json())
    assert read.headers["etag"] == made.headers["etag"]


@pytest.mark.parametrize("path", ["/api/events/ingest", "/api/file-share-sessions/ingest"])
async def test_a_path_that_is_for_post_is_no_id(gateway, tenant, path):
    assert (await gateway.client.head(path, headers=bearer(tenant.token))).status_code == 405
    answer = await gateway.client.get(path, headers=bearer(tenant.token))
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["error"] == "method_not_allowed"


async def test_a_byte_order_mark_before_a_body_is_ignored(gateway, tenant):
    headers = {**bearer(tenant.token), "Content-Type": "application/json"}
    body = BOM_UTF8 + b'{"name": "Atlas", "prices": [{"amount_type": "free"}]}'
    assert (await gateway.client.post("/api/shares/", content=body, headers=headers)).status_code == 201
    document = BOM_UTF8 + b'{"query": "{ viewer { kind } }"}'
    answer = await gateway.client.post("/graphql", content=document, headers=headers)
    assert answer.json() == {"data": {"viewer": {"kind": "WORKSPACE_TOKEN"}}}


async def test_a_page_of_the_internet_may_ask_a_gateway_of_a_local_network(gateway):
    headers = {
        "Origin": "https://dashboard.example.com",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Private-Network": "true",
    }
    answer = await gateway.client.options("/api/shares/", headers=headers)
    assert (answer.status_code, answer.headers["access-control-allow-private-network"]) == (200, "true")


@pytest.mark.parametrize("path", ["/api/shares/", "/graphql", "/api/oauth2/token"])
async def test_a_compressed_body_is_refused_by_its_encoding(gateway, tenant, path):
    kind = "application/x-www-form-urlencoded" if "oauth2" in path else "application/json"
    headers = {**bearer(tenant.token), "Content-Type": kind, "Content-Encoding": "gzip"}
    answer = await gateway.client.post(path, content=compress(b"{}"), headers=headers)
    assert (answer.status_code, answer.headers["accept-encoding"]) == (415, "identity")
    assert "Content-Encoding" in answer.text


async def test_a_body_that_says_it_is_plain_is_read(gateway, tenant):
    headers = {**bearer(tenant.token), "Content-Encoding": "identity"}
    assert (await gateway.client.post("/api/shares/", json=SHARE, headers=headers)).status_code == 201
