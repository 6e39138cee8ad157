"""The developer pages without a browser: their headers, what they refer to, and how long it may be kept."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from graphql import parse

from gateway.web.kit.assets import STATIC_FOLDER
from gateway.web.pages import explorer_examples
from tests.gateway.page_site import AUTH_URL, BASE_URL, make_site

PAGES = ["/", "/graphql", "/docs"]
VENDOR_FOLDER = STATIC_FOLDER / "vendor"


@pytest_asyncio.fixture(scope="module")
async def client() -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(make_site())
    async with httpx.AsyncClient(transport=transport, base_url=AUTH_URL) as client:
        yield client


class References(HTMLParser):
    """Collects what a page loads and links to, its inline scripts, styles and event handlers."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        self.addresses += [names[name] or "" for name in ("href", "src", "action") if name in names]
        self.inline += [f"{tag} {name}" for name in names if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in names):
            self.inline.append(tag)


def policy_of(response: httpx.Response) -> dict[str, str]:
    directives = response.headers["content-security-policy"].split("; ")
    return dict(directive.split(" ", 1) for directive in directives)


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_has_the_strict_headers(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_allows_scripts_and_calls_of_its_own_host_only(
    client: httpx.AsyncClient, path: str
) -> None:
    policy = policy_of(await client.get(path))
    assert policy.pop("style-src") in {"'self'", "'self' 'unsafe-inline'"}
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


async def test_only_pages_with_a_bundle_that_writes_styles_allow_inline_styles(
    client: httpx.AsyncClient,
) -> None:
    assert policy_of(await client.get("/"))["style-src"] == "'self'"


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
    assert 'href="/health"' in page


async def test_the_reference_names_the_document_that_is_served_beside_it(client: httpx.AsyncClient) -> None:
    assert 'data-openapi="/api/openapi.json"' in (await client.get("/docs")).text
    assert (await client.get("/api/openapi.json")).status_code == 200


def test_every_example_of_the_explorer_is_a_named_operation_with_its_variables() -> None:
    for example in explorer_examples():
        (operation,) = parse(example.query).definitions
        assert operation.name is not None
        declared = {variable.variable.name.value for variable in operation.variable_definitions or ()}
        assert set(json.loads(example.variables or "{}")) == declared


def test_the_list_of_bundles_names_the_versions_that_the_script_fetches() -> None:
    fetched = re.findall(r"^[A-Z_]+=(\S+@[\d.]+)$", (VENDOR_FOLDER / "renew.sh").read_text(), re.MULTILINE)
    listed = re.findall(r"^\| `(\S+)` \|", (VENDOR_FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(fetched) == sorted(listed)
    assert fetched


@pytest.mark.parametrize(
    "folder",
    [folder for folder in VENDOR_FOLDER.iterdir() if folder.is_dir()],
    ids=lambda folder: folder.name,
)
def test_every_bundle_has_its_license_beside_it(folder: Path) -> None:
    assert any("Permission is hereby granted" in text.read_text() for text in folder.glob("LICENSE*"))
