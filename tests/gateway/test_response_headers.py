"""Who may cache the answers of each route and for how long; browsers do not guess types."""

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from starlette.routing import Mount, Route

from rest_compat.api import operation_routes
from tests.support.callers.examples import EXAMPLES, PERSONAL
from tests.support.callers.surfaces import Rest
from tests.support.callers.world import make_world
from tests.support.servers.gateways import Gateway, Tenant, make_tenant, run_gateway
from tests.support.tenants.uploads import upload_file, upload_image

# What is the same for everybody who asks.
PUBLIC = (
    "/media",
    "/static",
    "/.well-known",
    "/api/openapi.json",
    "/openapi.json",
    "/schema.graphql",
    "/docs/guide",
    "/llms.txt",
)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def requests_of(app: Any) -> Iterator[tuple[str, str]]:
    """Methods and addresses: all that a route answers, and of the others, which are refused alike, one."""
    methods: dict[str, set[str]] = defaultdict(set)
    for route in app.routes:
        if isinstance(route, Route):
            methods[route.path] |= set(route.methods or METHODS)
        elif isinstance(route, Mount):
            methods[f"{route.path}/style.css"] |= {"GET", "HEAD"}
    for template, answered in sorted(methods.items()):
        path = re.sub(r"{[^}]*}", str(uuid4()), template)
        others = [method for method in METHODS if method not in answered]
        for method in (*sorted(answered), *random.sample(others, min(1, len(others)))):
            yield method, path
    for path in ("/no/such/page", "/api/no/such/path", "/media/no-such-file"):
        for method in METHODS:
            yield method, path


def assert_kept_rightly(path: str, answer: Any) -> None:
    keeping = set(answer.headers["cache-control"].split(", "))
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert keeping & {"no-store", "no-cache", "private", "public"}
    if "public" in keeping:
        assert path.startswith(PUBLIC)
    if "set-cookie" in answer.headers:
        assert "no-store" in keeping
    if path.startswith(("/api", "/graphql")):
        assert keeping == {"no-store"} or answer.headers["vary"].startswith("Authorization, Cookie")
        assert "content-type" in answer.headers, (answer.request.method, path, answer.status_code)
        if answer.headers["content-type"] == "application/json" and path != "/api/openapi.json":
            assert keeping in ({"no-store"}, {"private", "no-cache"})


async def test_every_route_says_whether_its_answers_may_be_cached(gateway: Gateway, tenant: Tenant) -> None:
    asked = 0
    for method, path in requests_of(gateway.app):
        for token in (None, tenant.token):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            assert_kept_rightly(path, await gateway.client.request(method, path, headers=headers))
            asked += 1
    assert asked > 1000


async def test_an_answer_with_a_secret_is_never_kept(gateway: Gateway, caller: Any) -> None:
    tenant = await make_tenant(gateway)
    workspace, user = caller(tenant.token), caller(tenant.personal_token)
    world = await make_world(
        Rest(gateway.client, gateway.app, tenant.token),
        Rest(gateway.client, gateway.app, tenant.personal_token),
        tenant,
    )
    sealing = [name for name, route in operation_routes().items() if route.operation.seals]
    assert "create_workspace_access_token" in sealing
    for name in sealing:
        surface = user if name in PERSONAL else workspace
        if "portal" in name:
            surface = caller(world.customer_token)
        answer = await surface.ask(name, EXAMPLES[name](world))
        assert answer.headers["cache-control"] == "no-store", name


async def test_a_read_is_kept_by_its_reader_alone_and_asked_for_again(
    gateway: Gateway, tenant: Tenant
) -> None:
    for path in (f"/api/workspaces/{tenant.id}", "/api/shares/"):
        headers = {"Authorization": f"Bearer {tenant.token}"}
        first = await gateway.client.get(path, headers=headers)
        assert first.headers["cache-control"] == "private, no-cache"
        assert first.headers["vary"] == "Authorization, Cookie, Accept-Encoding"
        if etag := first.headers.get("etag"):
            again = await gateway.client.get(path, headers=headers | {"If-None-Match": etag})
            assert (again.status_code, again.headers["etag"]) == (304, etag)
            assert again.headers["cache-control"] == first.headers["cache-control"]
            assert again.headers["vary"] == first.headers["vary"]


async def test_a_download_is_for_its_reader_and_an_image_for_everybody(
    gateway: Gateway, tenant: Tenant
) -> None:
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    file, image = await upload_file(workspace), await upload_image(workspace)
    download = await workspace.get_file_download(id=file["id"])
    kept = (await gateway.client.get(download["url"])).headers["cache-control"]
    assert kept == "private"
    shown = await gateway.client.get(image["public_url"])
    assert shown.headers["cache-control"].startswith("public, max-age=")


async def test_only_a_gateway_at_https_is_to_be_asked_by_https_alone(
    database_url: str, gateway: Gateway, tmp_path: Path
) -> None:
    assert "strict-transport-security" not in (await gateway.client.get("/health")).headers
    async for served in run_gateway(database_url, tmp_path, base_url="https://shop.example.com/api"):
        for path in ("/health", "/", "/api/shares/", "/static/style.css", "/api/oauth2/token", "/nowhere"):
            answer = await served.client.get(path)
            assert answer.headers["strict-transport-security"] == "max-age=31536000", path
