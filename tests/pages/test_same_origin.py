"""The browser's cookie counts for our own pages only: forms of other sites, their calls, and their frames."""

import pytest

from oauth.credentials import mint
from storage.enums import CredentialKind
from tests.support.browsers.browsing import browsing, signed_in
from tests.support.callers.refusals import refused
from tests.support.servers.gateways import make_tenant, run_gateway

VIEWER = {"query": "{ viewer { kind user { email } scopes } }"}
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


async def kind_over_rest(owner, headers):
    answer = await owner.client.get("/api/viewer", headers=headers)
    return answer.json()["kind"] if answer.status_code == 200 else answer.status_code


async def kind_over_graphql(owner, headers):
    answer = await owner.client.post("/graphql", json=VIEWER, headers=headers)
    data = answer.json().get("data")
    return data["viewer"]["kind"].lower() if data and data["viewer"] else answer.status_code


@pytest.mark.parametrize("ask", [kind_over_rest, kind_over_graphql])
@pytest.mark.parametrize(
    "headers",
    [
        SAME_ORIGIN,
        {"Origin": "http://gateway"},
        {"Origin": "http://another.name", "Host": "another.name"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
    ],
    ids=str,
)
async def test_our_own_pages_call_both_surfaces_with_the_cookie(owner, ask, headers):
    if "Host" in headers:
        owner.client.headers["Cookie"] = f"duograph_session={owner.client.cookies['duograph_session']}"
    assert await ask(owner, headers) == "browser_session"


@pytest.mark.parametrize("ask", [kind_over_rest, kind_over_graphql])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://gateway"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://gateway.evil.example"},
        {"Origin": "http://gateway:81"},
        {"Origin": "https://gateway"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Referer": "http://gateway/"},
    ],
    ids=str,
)
async def test_other_sites_cannot_call_with_the_cookie(owner, ask, headers):
    assert await ask(owner, headers) == 401


async def test_a_change_with_the_cookie_needs_the_same_origin_too(owner, tenant):
    data = {"comment": "stolen", "scopes": ["shares:read"]}
    answer = await owner.client.post("/api/personal-access-tokens/", json=data)
    assert answer.status_code == 401
    answer = await owner.client.post("/api/personal-access-tokens/", json=data, headers=SAME_ORIGIN)
    assert answer.status_code == 201


async def test_a_token_in_the_header_goes_before_the_cookie(owner, other_tenant):
    headers = {**SAME_ORIGIN, "Authorization": f"Bearer {other_tenant.token}"}
    assert await kind_over_rest(owner, headers) == "workspace_token"
    assert await kind_over_rest(owner, {**SAME_ORIGIN, "Authorization": "Basic YTpi"}) == 401


async def test_the_session_is_no_token(surface, owner):
    """What a script or a log could give away of a browser is worth nothing in a header."""
    await refused(
        surface.with_token(owner.client.cookies["duograph_session"]).get_viewer(), 401, "invalid_token"
    )


async def test_a_token_is_no_session(owner, tenant):
    for text in (tenant.token, tenant.personal_token, mint(CredentialKind.BROWSER_SESSION).text):
        owner.client.cookies.set("duograph_session", text, domain="gateway.local")
        assert await kind_over_rest(owner, SAME_ORIGIN) == 401
        await owner.open("/workspaces")
        assert owner.path.startswith("/sign-in")


async def test_a_signed_in_user_makes_tokens_that_outlive_the_visit(owner, caller):
    """The session is a person at the keyboard: it ends after 30 days, what they make need not."""
    data = {"comment": "For ever", "scopes": ["user:read", "shares:write"]}
    made = await owner.client.post("/api/personal-access-tokens/", json=data, headers=SAME_ORIGIN)
    assert made.json()["personal_access_token"]["expires_at"] is None
    assert (await caller(made.json()["token"]).get_viewer())["kind"] == "personal_token"


FORGERIES = {
    "without a token": lambda sent, other: [pair for pair in sent if pair[0] != "form_token"],
    "with another browser's token": lambda sent, other: (
        [pair for pair in sent if pair[0] != "form_token"] + [("form_token", other)]
    ),
    "with two tokens": lambda sent, other: [*sent, ("form_token", other)],
    "with a token that is none": lambda sent, other: (
        [pair for pair in sent if pair[0] != "form_token"] + [("form_token", "é")]
    ),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES.keys())
async def test_a_form_of_another_site_does_nothing(gateway, owner, other_tenant, forge):
    """CSRF: what an attacker has is the form's token of their own session, or of none."""
    await owner.open("/workspaces")
    form = owner.form("Create workspace")
    sent = [pair for pair in form.fields if pair[0] not in ("name", "slug")]
    sent += [("name", "Forged"), ("slug", f"forged-{other_tenant.slug}")]
    async with signed_in(gateway, other_tenant) as attacker:
        (token,) = (value for name, value in attacker.form("Sign out").fields if name == "form_token")
    answer = await owner.send(form.action, forge(sent, token))
    assert answer.status_code == 403
    assert "nothing was changed" in owner.text
    await owner.open("/workspaces")
    assert "Forged" not in owner.text
    assert (await owner.send(form.action, sent)).status_code == 200
    assert "Forged is ready." in owner.text


async def test_no_two_pages_have_the_same_token_and_each_is_taken(owner):
    """What a compressed page repeats is given away by its length."""
    forms = []
    for _ in range(3):
        await owner.open("/account")
        forms.append(owner.form("Save name"))
    tokens = [dict(form.fields)["form_token"] for form in forms]
    parts = [token[at : at + 8] for token in tokens for at in range(0, len(token) - 8, 8)]
    assert len(set(parts)) == len(parts)
    mixed = tokens[0][:43] + tokens[1][43:]
    for wrong in (mixed, tokens[0][:-1], tokens[0] + "AAAA", tokens[0][:43], "A" * 86, ""):
        answer = await owner.send(forms[0].action, [("form_token", wrong), ("name", "Ada")])
        assert answer.status_code == 403, wrong
    for form in forms:
        assert (await owner.send(form.action, form.fields)).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_a_browser_that_says_where_a_form_is_from_is_believed(owner, site):
    await owner.open("/workspaces")
    form = owner.form("Sign out")
    answer = await owner.send(form.action, form.fields, **{"Sec-Fetch-Site": site})
    assert answer.status_code == 403
    await owner.open("/workspaces")
    assert owner.path == "/workspaces"


async def test_another_sites_form_cannot_sign_a_user_in_as_another(gateway, owner, tenant):
    """Login CSRF: the form of the sign-in is tied to its browser too."""
    async with browsing(gateway) as attacker, browsing(gateway) as victim:
        await attacker.open("/sign-in")
        fields = [pair for pair in attacker.form("Sign in").fields if pair[0] not in ("email", "password")]
        fields += [("email", tenant.user_email), ("password", "a long password")]
        await victim.open("/sign-in")
        answer = await victim.send("/sign-in", fields)
        assert answer.status_code == 403
        assert "duograph_session" not in victim.client.cookies


async def test_a_page_takes_forms_only(owner):
    await owner.open("/workspaces")
    answer = await owner.client.post("/workspaces", json={"name": "Acme"})
    assert answer.status_code == 403
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await owner.client.post("/workspaces", content=b"a=\xff&b=%ff", headers=headers)
    assert answer.status_code in (403, 422)
    answer = await owner.client.post("/workspaces", content=b"&".join([b"a=1"] * 1001), headers=headers)
    assert answer.status_code == 422


@pytest.mark.parametrize(
    "path",
    [
        *("/sign-in?again=1", "/sign-up?again=1", "/workspaces", "/account/personal-access-tokens"),
        *("/account", "/account/authorized-applications", "/account/browser-sessions"),
        *(f"/workspaces/SLUG{place}" for place in ("", "/members", "/access-tokens", "/oauth-clients")),
    ],
)
async def test_no_page_can_be_framed_or_kept(owner, tenant, path):
    """Clickjacking, and the back button after signing out."""
    answer = await owner.client.get(path.replace("SLUG", tenant.slug))
    assert answer.status_code == 200
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "form-action 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"


async def test_behind_a_proxy_the_configured_origin_is_our_own(database_url, tmp_path):
    async for gateway in run_gateway(database_url, tmp_path, base_url="https://api.example.com/api"):
        tenant = await make_tenant(gateway)
        async with browsing(gateway, "https://gateway") as owner:
            await owner.sign_in(tenant.user_email)
            assert await kind_over_rest(owner, {"Origin": "https://api.example.com"}) == "browser_session"
            assert await kind_over_rest(owner, {"Origin": "http://api.example.com"}) == 401
