"""The developer pages without a browser: their headers, what they refer to, and how long it may be kept."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
from graphql import parse
from starlette.applications import Starlette

from gateway.web.explorer import Known, examples
from gateway.web.kit import assets
from gateway.web.kit.assets import STATIC_FOLDER
from tests.support.browsers.references import References
from tests.support.servers.gateways import run_gateway

PAGES = ["/", "/graphql", "/docs"]
WEB = STATIC_FOLDER.parent
VENDOR_FOLDER = STATIC_FOLDER / "vendor"
BASE_URL, AUTH_URL = "http://gateway/api", "http://gateway"
SIGNED_OUT = Known(None, None, date(2026, 11, 23))
SIGNED_IN = Known(uuid4(), uuid4(), date(2026, 11, 23))


@pytest_asyncio.fixture(scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    folder = tmp_path_factory.mktemp("pages")
    async for gateway in run_gateway(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects"):
        gateway.client.headers["Accept"] = "text/html"
        yield gateway.client


def policy_of(response: httpx.Response) -> dict[str, str]:
    directives = response.headers["content-security-policy"].split("; ")
    return dict(directive.split(" ", 1) for directive in directives)


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_has_the_strict_headers(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_allows_scripts_and_calls_of_its_own_host_only(
    client: httpx.AsyncClient, path: str
) -> None:
    policy = policy_of(await client.get(path))
    # Only bundles write styles.
    inline = "" if path == "/" else " 'unsafe-inline'"
    assert policy.pop("style-src") == f"'self'{inline}"
    assert policy.pop("font-src", "data:") == "data:"
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self' data:",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
    }


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_refers_to_its_own_host_only_and_has_nothing_inline(
    client: httpx.AsyncClient, path: str
) -> None:
    references = References((await client.get(path)).text)
    assert references.addresses
    assert [address for address in references.addresses if not re.match(r"(/(?!/)|#)", address)] == []
    assert references.inline == []


@pytest.mark.parametrize("path", PAGES)
async def test_every_asset_of_a_page_exists_and_may_be_kept_for_a_year(
    client: httpx.AsyncClient, path: str
) -> None:
    references = References((await client.get(path)).text)
    assets = [address for address in references.addresses if address.startswith("/static/")]
    assert assets
    for asset in assets:
        response = await client.get(asset)
        assert response.status_code == 200, asset
        assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert response.headers["x-content-type-options"] == "nosniff"
        digest = hashlib.sha256(response.content).hexdigest()
        assert asset.endswith(f"?v={digest[:16]}")


@pytest.mark.parametrize("address", ["/static/style.css", "/static/style.css?v=0123456789abcdef"])
async def test_an_asset_asked_for_without_its_current_hash_is_asked_for_again(
    client: httpx.AsyncClient, address: str
) -> None:
    response = await client.get(address)
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-cache"
    again = await client.get(address, headers={"If-None-Match": response.headers["etag"]})
    assert again.status_code == 304


async def test_files_of_the_same_size_and_moment_have_tags_of_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Those of a wheel were made at one moment, and compressed files are kept by their tags."""
    names = ("of-a-wheel.css", "of-a-wheel.js")
    for name in names:
        (tmp_path / name).write_text(f"{name:1500}")
        os.utime(tmp_path / name, (0, 0))
    monkeypatch.setattr(assets, "STATIC_FOLDER", tmp_path)
    transport = httpx.ASGITransport(Starlette(routes=[assets.static_route()]))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        tags = {(await client.get(f"/static/{name}")).headers["etag"] for name in names}
    assert len(tags) == 2


@pytest.mark.parametrize(
    "address", ["/static/absent.js", "/static/vendor", "/static/%2e%2e/pages.py", "/static/..%2fpages.py"]
)
async def test_what_is_not_a_static_file_is_not_found(client: httpx.AsyncClient, address: str) -> None:
    assert (await client.get(address)).status_code == 404


async def test_the_home_page_shows_commands_for_the_addresses_it_was_given(client: httpx.AsyncClient) -> None:
    page = (await client.get("/")).text
    assert f"curl '{BASE_URL}/shares/" in page
    assert f"curl '{AUTH_URL}/graphql'" in page
    assert 'href="/graphql"' in page
    assert 'href="/docs"' in page
    assert "Health" not in page


async def test_the_reference_names_the_document_that_is_served_beside_it(client: httpx.AsyncClient) -> None:
    assert 'data-openapi="/api/openapi.json"' in (await client.get("/docs")).text
    assert (await client.get("/api/openapi.json")).status_code == 200


@pytest.mark.parametrize("known", [SIGNED_OUT, SIGNED_IN], ids=["signed out", "signed in"])
def test_every_example_of_the_explorer_is_a_named_operation_with_its_variables(known: Known) -> None:
    for example in examples(known):
        (operation,) = parse(example.query).definitions
        assert operation.name is not None
        declared = {variable.variable.name.value for variable in operation.variable_definitions or ()}
        assert set(json.loads(example.variables or "{}")) == declared


def test_the_examples_use_the_resources_of_the_signed_in_user() -> None:
    variables = [json.loads(example.variables or "{}") for example in examples(SIGNED_IN)]
    assert {"from": "2026-10-25", "to": "2026-11-23"} in variables
    assert {"data": {"customerId": str(SIGNED_IN.customer_id)}} in variables
    created = [entry["data"] for entry in variables if "name" in entry.get("data", {})]
    assert [data["workspaceId"] for data in created] == [str(SIGNED_IN.workspace_id)]


@pytest.mark.parametrize(
    ("bundle", "package"),
    [("explorer", "graphiql"), ("reference", "@scalar/api-reference"), ("passwords", "zxcvbn")],
)
def test_a_bundle_has_the_licenses_of_the_versions_that_are_pinned(bundle: str, package: str) -> None:
    pinned = json.loads((WEB / "bundles" / "package.json").read_text())["dependencies"]
    licenses = (VENDOR_FOLDER / bundle / "LICENSES.txt").read_text()
    assert f"{package}@{pinned[package]}: MIT" in licenses
    assert "Permission is hereby granted" in licenses


def test_the_pinned_packages_name_no_registry() -> None:
    assert "resolved" not in (WEB / "bundles" / "package-lock.json").read_text()
