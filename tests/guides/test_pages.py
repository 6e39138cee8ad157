"""The guides without a browser: headers, links, search, Markdown, and the index for language models."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import pytest_asyncio

from gateway.web.guide.contents import FILES, GUIDE_PATH, PAGES
from gateway.web.guide.search import search
from tests.support.browsers.references import References
from tests.support.servers.gateways import make_tenant, run_gateway

PATHS = [GUIDE_PATH, *(page.path for page in PAGES.values())]
ADDRESS, REST = "https://pages.example.com", "https://rest.example.com/api"
MARKDOWN_LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest_asyncio.fixture(scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    """Of a gateway whose pages and REST have public addresses of their own."""
    folder = tmp_path_factory.mktemp("guides")
    url = f"sqlite+aiosqlite:///{folder}/duograph.sqlite"
    async for gateway in run_gateway(url, folder / "objects", base_url=REST, auth_url=ADDRESS):
        gateway.client.headers["Accept"] = "text/html"
        yield gateway.client


async def get(client: httpx.AsyncClient, path: str, **options: Any) -> httpx.Response:
    answer = await client.get(path, **options)
    assert answer.status_code == 200, path
    return answer


@pytest.mark.parametrize("path", PATHS)
async def test_a_guide_has_strict_headers_and_may_be_kept_by_anyone(
    client: httpx.AsyncClient, path: str
) -> None:
    answer = await get(client, path)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert "'unsafe-inline'" not in answer.headers["content-security-policy"]
    assert "set-cookie" not in answer.headers
    again = await client.get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", PATHS)
async def test_every_link_of_a_guide_leads_to_a_place_that_exists(
    client: httpx.AsyncClient, path: str
) -> None:
    text = (await get(client, path)).text
    assert not re.search(
        r">[\w-]+\.md</a>", text
    )  # A page has a title; its file's name is nothing to readers.
    references = References(text)
    assert references.inline == []
    own = [address.removeprefix(ADDRESS) for address in references.addresses]
    for address in own:
        target = urlsplit(address)
        if target.scheme or target.path.startswith(("/dashboard", "/workspaces")):
            continue
        place = await get(client, f"{target.path or path}?{target.query}")
        if target.fragment and place.headers["content-type"].startswith("text/html"):
            assert f'id="{target.fragment}"' in place.text, address


@pytest.mark.parametrize("page", PAGES.values(), ids=lambda page: page.name)
async def test_the_markdown_of_a_guide_links_to_markdown_that_exists(
    client: httpx.AsyncClient, page: Any
) -> None:
    answer = await get(client, f"{page.path}.md")
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.text.startswith(f"# {page.title}\n")
    assert "<!--" not in answer.text
    for link in MARKDOWN_LINK.findall(answer.text):
        if link.startswith("/"):
            await get(client, link.partition("#")[0])
        else:
            assert link.startswith(("#", "https://")), link


@pytest.mark.parametrize("file", FILES)
async def test_a_file_beside_the_guides_is_shown_and_never_run(client: httpx.AsyncClient, file: str) -> None:
    answer = await get(client, f"{GUIDE_PATH}/{Path(file).name}")
    assert answer.headers["content-type"] == FILES[file]
    assert not answer.headers["content-type"].startswith("text/html")


async def test_the_index_for_language_models_names_every_page_in_a_line(client: httpx.AsyncClient) -> None:
    answer = await get(client, "/llms.txt")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith("# Duograph\n\n> ")
    lines = [line for line in answer.text.splitlines() if line.startswith("- ")]
    assert lines == [f"- [{page.title}]({ADDRESS}{page.path}.md): {page.summary}" for page in PAGES.values()]


@pytest.mark.parametrize("path", [f"{GUIDE_PATH}/authentication", f"{GUIDE_PATH}/authentication.md"])
async def test_commands_name_the_addresses_of_this_gateway(client: httpx.AsyncClient, path: str) -> None:
    text = re.sub(r"<[^>]+>", "", (await get(client, path)).text)
    assert f"export DUOGRAPH={ADDRESS}" in text
    assert "127.0.0.1" not in text


@pytest.mark.parametrize("name", ["absent", "absent.md", "concepts.html", "guide", "upload", ".md"])
async def test_what_is_not_a_guide_is_not_found(client: httpx.AsyncClient, name: str) -> None:
    assert (await client.get(f"{GUIDE_PATH}/{name}")).status_code == 404


async def test_search_without_javascript_finds_sections(client: httpx.AsyncClient) -> None:
    answer = await get(client, GUIDE_PATH, params={"q": "idempotency KEY"})
    found = answer.text.partition('<ol class="found">')[2].partition("</ol>")[0]
    first = References(found).addresses[0]
    assert first == f"{GUIDE_PATH}/idempotency#an-idempotency-key"
    assert 'value="idempotency KEY"' in answer.text
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("question", ["", " ", "zebra unicorn", '"><script>alert(1)</script>', "\x00", "%"])
async def test_a_search_that_finds_nothing_says_so(client: httpx.AsyncClient, question: str) -> None:
    answer = await get(client, GUIDE_PATH, params={"q": question})
    assert "No guide has all of these words" in answer.text or question == "%"
    assert "<script>alert" not in answer.text


async def test_the_words_that_were_sought_are_marked_and_nothing_else_is_markup(
    client: httpx.AsyncClient,
) -> None:
    page = (await client.get("/docs/guide", params={"q": "idempotency-key <b>"})).text
    assert "<b>" not in page
    page = (await client.get("/docs/guide", params={"q": "idempotency KEY"})).text
    assert "<mark>idempotency</mark>" in page.lower()


def test_an_excerpt_has_whole_words_and_the_cells_of_a_table_apart() -> None:
    found = search("workspace token")
    assert any(" · " in result.excerpt for result in found)
    for result in found:
        assert {*result.excerpt.striptags().split()} - {"…"} <= {*result.section.text.split()}


async def test_every_guide_has_a_description_for_search_engines(client: httpx.AsyncClient) -> None:
    for page in PAGES.values():
        assert (
            f'<meta name="description" content="{escape(page.summary)}">'
            in (await client.get(page.path)).text
        )


async def test_a_long_search_is_cut(client: httpx.AsyncClient) -> None:
    answer = await get(client, GUIDE_PATH, params={"q": "metrics " * 2000})
    assert "metrics " * 20 not in answer.text
    assert '<ol class="found">' in answer.text


async def test_every_page_of_the_gateway_links_to_the_guides(client: httpx.AsyncClient) -> None:
    for path in ("/", "/docs", "/sign-in", "/sign-up", "/forgotten-password", "/docs/guide/concepts"):
        references = References((await get(client, path)).text)
        assert GUIDE_PATH in references.addresses, path


async def test_reading_a_guide_costs_a_call(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    async for gateway in run_gateway(url, tmp_path / "objects", rate_limit=3):
        await make_tenant(gateway)
        paths = [GUIDE_PATH, f"{GUIDE_PATH}/concepts", "/llms.txt", f"{GUIDE_PATH}/concepts"]
        statuses = [(await gateway.client.get(path)).status_code for path in paths]
        assert statuses == [200, 200, 200, 429]
