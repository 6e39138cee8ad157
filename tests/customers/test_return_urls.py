"""Return URLs that open an app of the workspace."""

import pytest

from tests.support.callers.refusals import refusal
from tests.support.callers.surfaces import Refused

DANGEROUS = [
    "javascript",
    "JavaScript",
    "data",
    "file",
    "vbscript",
    "blob",
    "about",
    "view-source",
    "intent",
    "content",
    "chrome-extension",
    "ms-officecmd",
    "microsoft-edge",
    "microsoft-edge-holographic",
    "googlechrome",
    "firefox",
    "brave",
    "vivaldi",
    "search",
    "search-ms",
    "shell",
    "mhtml",
    "hcp",
    "its",
    "mk",
    "res",
    "jnlp",
    "smb",
    "nfs",
    "ssh",
    "telnet",
    "ldap",
    "mailto",
    "http",
    "https",
]


@pytest.fixture
async def customer(surface):
    return await surface.create_customer(data={"email": "ada@example.com"})


async def test_a_session_returns_to_an_app_that_the_workspace_allows(surface, tenant, customer):
    async def opened(url):
        data = {"customer_id": customer["id"], "return_url": url}
        return (await surface.create_customer_session(data=data))["return_url"]

    assert await refusal(opened("myapp://callback")) == {("return_url",): "url_scheme"}
    changed = await surface.update_workspace(
        id=tenant.id, data={"return_url_schemes": ["MyApp", "com.example.shop", "myapp"]}
    )
    assert changed["return_url_schemes"] == ["myapp", "com.example.shop"]
    for url in ("myapp://callback?a=b", "MyApp://callback", "com.example.shop:/done", "https://a.example/"):
        assert await opened(url) == url
    for url in ("otherapp://x", "myapp:", "myapp://a b", "myapp", "my app://x", "myapp://\u202e"):
        ((place, type_),) = (await refusal(opened(url))).items()
        assert place == ("return_url",)
        assert type_ in ("url_scheme", "url_parsing"), url
    removed = await surface.update_workspace(id=tenant.id, data={"return_url_schemes": None})
    assert removed.get("return_url_schemes") is None
    assert await refusal(opened("myapp://callback")) == {("return_url",): "url_scheme"}


@pytest.mark.parametrize(
    "url",
    [
        "https://us\u2100er@example.com/",
        "https://a\u2048b@example.com/x",
        "https://\xe9[@example.com/",
        "http://[::1",
        "myapp://[x",
    ],
)
async def test_addresses_that_parsers_read_differently_are_refused(surface, tenant, customer, url):
    await surface.update_workspace(id=tenant.id, data={"return_url_schemes": ["myapp"]})
    session = {"customer_id": customer["id"], "return_url": url}
    assert await refusal(surface.create_customer_session(data=session)) == {("return_url",): "url_parsing"}
    for field in ("website", "avatar_url"):
        changing = surface.update_workspace(id=tenant.id, data={field: url})
        assert await refusal(changing) == {(field,): "url_parsing"}


async def test_a_session_no_longer_returns_to_an_app_that_the_workspace_removed(surface, tenant, customer):
    await surface.update_workspace(id=tenant.id, data={"return_url_schemes": ["myapp"]})
    data = {"customer_id": customer["id"], "return_url": "myapp://callback"}
    portal = surface.with_token((await surface.create_customer_session(data=data))["token"])
    assert (await portal.get_portal_session())["return_url"] == "myapp://callback"
    await surface.update_workspace(id=tenant.id, data={"return_url_schemes": []})
    assert (await portal.get_portal_session())["return_url"] is None


async def test_schemes_that_run_code_or_read_files_are_never_allowed(surface, tenant, customer):
    allowed = []
    for scheme in DANGEROUS:
        settings = {"return_url_schemes": ["myapp", scheme]}
        if not await is_refused(
            surface.update_workspace(id=tenant.id, data=settings), ("return_url_schemes", 1), "reserved"
        ):
            allowed.append(scheme)
        session = {"customer_id": customer["id"], "return_url": f"{scheme}:alert(1)"}
        if scheme not in ("http", "https") and not await is_refused(
            surface.create_customer_session(data=session), ("return_url",), "url_scheme"
        ):
            allowed.append(session["return_url"])
    assert allowed == []


async def is_refused(call, place, problem):
    try:
        await call
    except Refused as refused:
        return refused.problems == {place: problem}
    return False


@pytest.mark.parametrize(
    ("schemes", "problems"),
    [
        (["my app"], {("return_url_schemes", 0): "string_pattern_mismatch"}),
        (["\u212aiosk"], {("return_url_schemes", 0): "string_pattern_mismatch"}),
        (["1app"], {("return_url_schemes", 0): "string_pattern_mismatch"}),
        (["a"], {("return_url_schemes", 0): "string_too_short"}),
        (["a" * 65], {("return_url_schemes", 0): "string_too_long"}),
        ([f"app{number}" for number in range(21)], {("return_url_schemes",): "too_long"}),
    ],
)
async def test_what_is_wrong_with_a_scheme_is_named(surface, tenant, schemes, problems):
    data = {"return_url_schemes": schemes}
    assert await refusal(surface.update_workspace(id=tenant.id, data=data)) == problems


async def test_a_workspace_without_schemes_has_the_fields_of_before(rest, tenant):
    assert "return_url_schemes" not in await rest.get_workspace(id=tenant.id)
