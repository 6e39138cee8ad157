"""Pages on other origins: what they may ask and see, and that cookies never come with it."""

from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from gateway.settings.settings import Settings, SettingsError
from tests.support.servers.gateways import make_tenant, run_gateway
from tests.support.servers.live import serve

ELSEWHERE = "https://app.example.com"
SHARED = (
    *("/api/shares/", "/api/customers/{id}", "/api/events/ingest", "/api/no/such/path"),
    *("/graphql", "/graphql/", "/api/oauth2/token", "/api/oauth2/userinfo", "/api/oauth2/register"),
    *("/.well-known/openid-configuration", "/.well-known/jwks.json"),
)
PAGES = ("/sign-in", "/oauth2/authorize", "/acme/portal", "/no/such/page")


@pytest.mark.parametrize("path", SHARED)
async def test_a_browser_may_ask_the_api_from_any_origin(gateway, path):
    path = path.format(id=uuid4())
    asked = {
        "Origin": ELSEWHERE,
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "authorization, content-type, if-match, idempotency-key",
    }
    preflight = await gateway.client.options(path, headers=asked)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert "PATCH" in preflight.headers["access-control-allow-methods"].split(", ")
    assert preflight.headers["access-control-allow-headers"] == asked["Access-Control-Request-Headers"]

    answer = await gateway.client.get(path, headers={"Origin": ELSEWHERE})
    assert answer.headers["access-control-allow-origin"] == "*"
    shown = answer.headers["access-control-expose-headers"].split(", ")
    limits = {"RateLimit", "RateLimit-Policy", "RateLimit-Cost"}
    named = {"ETag", "Retry-After", "X-Request-ID", "Location", "Idempotency-Replayed"}
    assert limits | named <= set(shown)
    for headers in (preflight.headers, answer.headers):
        assert "access-control-allow-credentials" not in headers


@pytest.mark.parametrize("path", PAGES)
async def test_pages_are_not_for_other_origins(gateway, path):
    asked = {"Origin": ELSEWHERE, "Access-Control-Request-Method": "GET"}
    for answer in (
        await gateway.client.get(path, headers=asked),
        await gateway.client.options(path, headers=asked),
    ):
        assert not any(name.startswith("access-control") for name in answer.headers)


async def test_requests_without_an_origin_have_no_such_headers(gateway, tenant):
    answer = await gateway.client.get("/api/shares/", headers={"Authorization": f"Bearer {tenant.token}"})
    assert answer.status_code == 200
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/api/openapi.json"])
async def test_caches_keep_an_answer_for_each_origin(gateway, path):
    answer = await gateway.client.get(path)
    assert "no-store" not in answer.headers["cache-control"]
    assert "Origin" in answer.headers["vary"].split(", ")


async def test_the_origins_can_be_restricted(database_url, tmp_path: Path):
    origins = (ELSEWHERE, "http://localhost:5173")
    async for gateway in run_gateway(database_url, tmp_path, cors_origins=origins):
        token = (await make_tenant(gateway)).token
        for origin, is_allowed in [(ELSEWHERE, True), (origins[1], True), ("https://evil.example", False)]:
            headers = {"Origin": origin, "Authorization": f"Bearer {token}"}
            answer = await gateway.client.get("/api/shares/", headers=headers)
            assert answer.status_code == 200
            assert answer.headers.get("access-control-allow-origin") == (origin if is_allowed else None)
            assert "Origin" in answer.headers["vary"].split(", ")
            asked = {"Origin": origin, "Access-Control-Request-Method": "GET"}
            preflight = await gateway.client.options("/api/shares/", headers=asked)
            assert preflight.status_code == (200 if is_allowed else 400)


@pytest.mark.parametrize(
    ("value", "origins"),
    [
        ("*", ("*",)),
        ("none", ()),
        ("https://App.example.com/, http://localhost:5173", (ELSEWHERE, "http://localhost:5173")),
        ("http://[::1]:8080", ("http://[::1]:8080",)),
    ],
)
def test_origins_are_read_as_browsers_send_them(value, origins):
    assert Settings.from_environ({"DUOGRAPH_CORS_ORIGINS": value}).cors_origins == origins


@pytest.mark.parametrize(
    "value",
    ["app.example.com", "https://app.example.com/path", "https://*.example.com", ",", "https://a.example,"],
)
def test_an_origin_that_no_browser_sends_stops_the_start(value):
    with pytest.raises(SettingsError, match=r"DUOGRAPH_CORS_ORIGINS cannot be used: .* is not an origin"):
        Settings.from_environ({"DUOGRAPH_CORS_ORIGINS": value})


def test_head_answers_as_get_but_without_a_body(tmp_path: Path):
    with serve(f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite", tmp_path / "objects") as (address, tenant):
        headers = {"Authorization": f"Bearer {tenant.token}"}
        with httpx.Client(base_url=address, headers=headers) as client:
            paths = ["/health", "/api/shares/", "/api/shares", "/api/customers/", "/api/openapi.json"]
            paths += [f"/api/workspaces/{tenant.id}", f"/api/shares/{uuid4()}", "/sign-in"]
            paths += ["/graphql?query={shares{meta{total}}}"]
            for path in paths:
                got, head = client.get(path), client.head(path)
                assert head.content == b""
                assert head.status_code == got.status_code
                for name in ("etag", "content-type", "content-length", "cache-control"):
                    assert head.headers.get(name) == got.headers.get(name), path
                if etag := got.headers.get("etag"):
                    assert client.head(path, headers={"If-None-Match": etag}).status_code == 304


async def test_graphql_is_served_with_a_trailing_slash_too(gateway, tenant):
    sent = {"query": "{ shares { meta { total } } }"}
    headers = {"Authorization": f"Bearer {tenant.token}"}
    answers = [
        await gateway.client.post(path, json=sent, headers=headers) for path in ("/graphql", "/graphql/")
    ]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
