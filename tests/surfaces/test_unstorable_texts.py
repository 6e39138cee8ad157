"""NUL, lone surrogates and broken UTF-8 wherever a request may hold text: refused, and never a 500."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

import pytest

import gateway.web
from gateway.web.kit.forms import TOKEN, token_for
from tests.support.callers.surfaces import Refused
from tests.support.servers.gateways import SECRET, start_session

pytestmark = pytest.mark.both_databases

BAD = ("a%00b", "%ED%A0%80", "%FF")
PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
TEMPLATES = Path(gateway.web.__file__).parent / "templates"
# Every name that a page could give a field, and some more.
NAMES = sorted(
    {
        name
        for path in TEMPLATES.rglob("*.html")
        for name in re.findall(r'"([a-z][a-z_.]*)"', path.read_text())
    }
)
QUERY_NAMES = ("after", "client_id", "customer_session_token", "email", "filename", "id_token_hint", "next")
QUERY_NAMES += ("page", "path", "query", "redirect_uri", "signature", "slug", "state", "token", "variables")
HTML = {"Accept": "text/html"}


def routes(app: Any) -> Iterator[tuple[str, str]]:
    """Every method and path, the surfaces' and the pages'."""
    for route in app.routes:
        for method in sorted(getattr(route, "methods", None) or {"GET", "POST"}):
            if method != "HEAD":
                yield method, getattr(route, "path", "")


def filled(path: str, value_of: Callable[[str], str]) -> str:
    """The path with a value for each of its parameters, by the parameter's name."""
    return PARAMETER.sub(lambda match: value_of(match[1]), path)


@pytest.fixture
def client(gateway, tenant):
    """Asks with a credential of the tenant's: its token, or a session of its user in a browser.

    A session that a request has ended is the last of its path.
    """
    sessions: dict[str, Any] = {}

    async def ask(method: str, address: str, **options: Any) -> Any:
        headers = {**HTML, **options.pop("headers", {})}
        if address.startswith(("/api", "/graphql")):
            headers.setdefault("Authorization", f"Bearer {tenant.personal_token}")
        elif "Cookie" not in headers:
            path = address.partition("?")[0]
            if path not in sessions:
                sessions[path] = await start_session(gateway, tenant.user_id)
            session = sessions[path]
            headers["Cookie"] = f"duograph_session={session.text}"
            if "form" in options:
                options["form"] |= {TOKEN: token_for(SECRET.encode(), session.text)}
        if "form" in options:
            options["content"] = urlencode(options.pop("form"), errors="surrogatepass")
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        return await gateway.client.request(method, address, headers=headers, **options)

    return ask


@pytest.fixture
def ordinary(tenant):
    """The value of a path's parameter as it should be."""
    return lambda name: tenant.slug if name == "slug" else str(uuid4())


async def test_paths(gateway, client, ordinary):
    failed = []
    for method, path in routes(gateway.app):
        for chosen in {match[1] for match in PARAMETER.finditer(path)}:
            for bad in BAD:
                address = filled(path, lambda name: bad if name == chosen else ordinary(name))  # noqa: B023
                answer = await client(method, address)
                if answer.status_code >= 500 or (answer.status_code != 404 and "%00" in bad):
                    failed.append((method, address, answer.status_code))
    assert failed == []


@pytest.mark.long
async def test_queries(gateway, client, ordinary):
    failed = []
    for method, path in routes(gateway.app):
        address = filled(path, ordinary)
        for bad in BAD:
            for query in ("&".join(f"{name}={bad}" for name in QUERY_NAMES), f"{bad}=x"):
                answer = await client(method, f"{address}?{query}")
                if answer.status_code >= 500:
                    failed.append((method, address, query, answer.status_code))
    assert failed == []


@pytest.mark.parametrize("text", ["\x00", "a\x00b@example.com", "\ud800"], ids=ascii)
async def test_forms(gateway, client, ordinary, text):
    failed = []
    for method, path in routes(gateway.app):
        if method == "POST":
            address = filled(path, ordinary)
            answer = await client(method, address, form=dict.fromkeys(NAMES, text))
            if answer.status_code >= 500:
                failed.append((address, answer.status_code))
    assert failed == []


@pytest.mark.parametrize("text", ['"a\\000\\355\\240\\200"', "\xff\xfe"], ids=ascii)
async def test_cookies_and_credentials(gateway, client, ordinary, text):
    failed = []
    names = ("duograph_session", "duograph_visitor", "duograph_notice", "duograph_portal")
    cookies = "; ".join(f"{name}={text}" for name in names).encode("latin-1")
    for method, path in routes(gateway.app):
        address = filled(path, ordinary)
        for headers in ({"Cookie": cookies}, {"Authorization": f"Bearer {text}".encode("latin-1")}):
            answer = await client(method, address, headers=headers)
            if answer.status_code >= 500:
                failed.append((method, address, headers, answer.status_code))
    assert failed == []


# What stands in REST's paths, queries and bodies are arguments in GraphQL.
ARGUMENTS = {
    "get_workspace": lambda text: {"slug": text},
    "get_customer": lambda text: {"external_id": text},
    "update_customer": lambda text: {"external_id": text, "data": {"name": "Ada"}},
    "list_customers": lambda text: {"email": text},
    "request_portal_code": lambda text: {"data": {"email": "ada@example.com", "slug": text}},
    "authenticate_portal_code": lambda text: {
        "data": {"email": "ada@example.com", "slug": "acme", "code": text}
    },
}


@pytest.mark.parametrize("text", ["\x00", "a\x00b"], ids=quote)
@pytest.mark.parametrize("operation", ARGUMENTS)
async def test_arguments(surface, operation, text):
    with pytest.raises(Refused) as refused:
        await surface.ask(operation, ARGUMENTS[operation](text))
    assert refused.value.status in (404, 422)


@pytest.mark.parametrize("text", ["\x00", "a\x00b"], ids=quote)
async def test_the_portal_of_no_workspace_is_a_page_that_is_not_found(gateway, text):
    answer = await gateway.client.get(f"/{quote(text)}/portal", headers=HTML)
    assert answer.status_code == 404
    assert "text/html" in answer.headers["content-type"]
