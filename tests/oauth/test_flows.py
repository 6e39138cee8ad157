"""Whole flows on a live gateway: Authlib's own client, a real browser, and all that discovery names."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from authlib.integrations.httpx_client import AsyncOAuth2Client
from playwright.async_api import Page, expect

from tests.support.browsers.browsing import PASSWORD, Browsing
from tests.support.browsers.in_browser import RECORD_VIOLATIONS, submit_password
from tests.support.measures.patience import PATIENCE_SECONDS
from tests.support.servers.gateways import Tenant
from tests.support.servers.live import serve
from tests.support.tenants.applications import CHALLENGE, PKCE, REDIRECT_URI, VERIFIER, told

SCOPE = "email openid shares:write"


@dataclass(frozen=True)
class Live:
    """A gateway behind a socket, its metadata, and a client that its tenant registered."""

    address: str
    tenant: Tenant
    metadata: dict[str, Any]
    client: dict[str, Any]

    def query(self, **changes: str) -> str:
        asked = {
            "response_type": "code",
            "client_id": self.client["client_id"],
            "redirect_uri": REDIRECT_URI,
            "scope": SCOPE,
            "state": "the state",
        }
        return f"{self.metadata['authorization_endpoint']}?{urlencode({**asked, **changes})}"


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    folder = tmp_path_factory.mktemp("live")
    with serve(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects") as (address, tenant):
        headers = {"Authorization": f"Bearer {tenant.personal_token}"}
        with httpx.Client(base_url=address, headers=headers, timeout=PATIENCE_SECONDS) as caller:
            metadata = caller.get("/.well-known/openid-configuration").json()
            said = {"client_name": "Bookkeeper", "redirect_uris": [REDIRECT_URI], "scope": SCOPE}
            client = caller.post(metadata["registration_endpoint"], json=said).json()
        yield Live(address, tenant, metadata, client)


async def consent(live: Live, address: str) -> dict[str, str]:
    """What the application is told after the tenant's user signed in and allowed it in a browser."""
    async with httpx.AsyncClient(base_url=live.address) as client:
        browser = Browsing(client)
        await browser.open(address)
        await browser.press("Sign in", email=live.tenant.user_email, password=PASSWORD)
        (back,) = [link for link in browser.reading.links if link.startswith("/oauth2/authorize?")]
        answer = await client.get(back)
        if answer.status_code == 200:
            browser.page = answer
            answer = await browser.press("Allow", follow=False, decision="allow", workspace_id=live.tenant.id)
        return told(answer.headers["location"]) | {"location": answer.headers["location"]}


async def test_authlibs_own_client_gets_along_with_us(live):
    metadata = live.metadata
    async with AsyncOAuth2Client(
        live.client["client_id"],
        live.client["client_secret"],
        scope=SCOPE,
        redirect_uri=REDIRECT_URI,
        code_challenge_method="S256",
        token_endpoint=metadata["token_endpoint"],
    ) as client:
        address, state = client.create_authorization_url(
            metadata["authorization_endpoint"], code_verifier=VERIFIER, nonce="the nonce"
        )
        answer = await consent(live, address)
        assert (answer["state"], answer["iss"]) == (state, metadata["issuer"])
        token = await client.fetch_token(
            authorization_response=answer["location"], code_verifier=VERIFIER, state=state
        )
        assert token["scope"] == SCOPE
        assert (await client.get(metadata["userinfo_endpoint"])).json()["email"] == live.tenant.user_email
        assert (await client.get(f"{live.address}/api/shares/")).status_code == 200
        asked = {"query": "{ viewer { kind workspace { slug } } }"}
        seen = (await client.post(f"{live.address}/graphql", json=asked)).json()["data"]["viewer"]
        assert seen == {"kind": "OAUTH_TOKEN", "workspace": {"slug": live.tenant.slug}}

        renewed = await client.refresh_token()
        assert renewed["access_token"] != token["access_token"]
        assert renewed["refresh_token"] == token["refresh_token"]
        told_about = await client.introspect_token(
            metadata["introspection_endpoint"], token=renewed["access_token"]
        )
        assert told_about.json()["active"] is True
        revoked = await client.revoke_token(metadata["revocation_endpoint"], token=renewed["refresh_token"])
        assert revoked.status_code == 200
        assert (await client.get(metadata["userinfo_endpoint"])).status_code == 401


async def test_every_endpoint_and_method_that_discovery_names_is_there(live):
    metadata, client = live.metadata, live.client
    basic = (client["client_id"], client["client_secret"])
    named = {"client_id": client["client_id"], "client_secret": client["client_secret"]}
    code_form = {"grant_type": "authorization_code", "redirect_uri": REDIRECT_URI}
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert metadata["response_types_supported"] == ["code"]
    assert metadata["grant_types_supported"] == ["authorization_code", "refresh_token"]
    methods = ["client_secret_basic", "client_secret_post", "none"]
    for endpoint, supported in (("token", methods), ("revocation", methods), ("introspection", methods[:2])):
        assert metadata[f"{endpoint}_endpoint_auth_methods_supported"] == supported
    async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as caller:
        tokens = []
        for method in methods[:2]:
            answer = await consent(live, live.query(code_challenge=CHALLENGE, code_challenge_method="S256"))
            form = {**code_form, "code": answer["code"], "code_verifier": VERIFIER}
            proof = {"auth": basic} if method == methods[0] else {}
            form |= {} if proof else named
            exchanged = await caller.post(metadata["token_endpoint"], data=form, **proof)
            tokens.append(exchanged.json())
            refreshing = {"grant_type": "refresh_token", "refresh_token": tokens[-1]["refresh_token"]}
            refreshed = await caller.post(metadata["token_endpoint"], data={**refreshing, **named})
            assert refreshed.status_code == 200
            for endpoint in ("introspection", "revocation"):
                form = {"token": refreshed.json()["access_token"], **({} if proof else named)}
                answer = await caller.post(metadata[f"{endpoint}_endpoint"], data=form, **proof)
                assert answer.status_code == 200
        headers = {"Authorization": f"Bearer {tokens[0]['access_token']}"}
        for method in ("GET", "POST"):
            answer = await caller.request(method, metadata["userinfo_endpoint"], headers=headers)
            assert answer.json()["sub"] == live.tenant.user_id
        (key, *_) = (await caller.get(metadata["jwks_uri"])).json()["keys"]
        assert key["alg"] in metadata["id_token_signing_alg_values_supported"]
        for prompt in metadata["prompt_values_supported"]:
            answer = await caller.get(live.query(prompt=prompt))
            assert answer.status_code == 303
            expected = "error=login_required" if prompt == "none" else "/sign-in?"
            assert expected in answer.headers["location"]
        for name in ("request", "request_uri", "claims"):
            assert metadata[f"{name}_parameter_supported"] is False
    tried = {"authorization", "token", "userinfo", "introspection", "revocation", "registration"}
    assert {name.removesuffix("_endpoint") for name in metadata if name.endswith("_endpoint")} == tried


async def test_a_public_client_is_served_without_a_secret(live):
    async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as caller:
        headers = {"Authorization": f"Bearer {live.tenant.personal_token}"}
        said = {"redirect_uris": [REDIRECT_URI], "scope": SCOPE, "token_endpoint_auth_method": "none"}
        registered = await caller.post(live.metadata["registration_endpoint"], json=said, headers=headers)
        named = {"client_id": registered.json()["client_id"]}
        answer = await consent(live, live.query(**named, **PKCE))
        form = {"grant_type": "authorization_code", "code": answer["code"], "code_verifier": VERIFIER}
        form |= {"redirect_uri": REDIRECT_URI, **named}
        token = (await caller.post(live.metadata["token_endpoint"], data=form)).json()
        form = {"token": token["refresh_token"], **named}
        assert (await caller.post(live.metadata["revocation_endpoint"], data=form)).status_code == 200


class Application(BaseHTTPRequestHandler):
    """The application, as far as the browser sees it."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<h1>Connected</h1>")

    def log_message(self, *_: Any) -> None:
        """Nothing is written to the tests' output."""


@pytest.fixture
def application() -> Iterator[str]:
    """Where the application on this machine is told the code."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Application) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/callback"
        server.shutdown()
        thread.join()


async def go_through(page: Page, live: Live, workspace: str, application: str) -> dict[str, str]:
    """Sign in, pick the workspace and allow: what the application is told."""
    await page.goto(live.query(redirect_uri=application))
    await submit_password(page, live.tenant)
    await expect(page.get_by_role("heading", name="Bookkeeper")).to_be_visible()
    await page.get_by_role("radio", name=workspace).check()
    assert await page.evaluate("window.violations") == []
    await page.get_by_role("button", name="Allow").click()
    await expect(page.get_by_role("heading", name="Connected")).to_be_visible()
    assert page.url.startswith(application)
    return told(page.url)


async def test_a_person_connects_an_application_in_a_real_browser(live, chromium, application):
    user = {"Authorization": f"Bearer {live.tenant.personal_token}"}
    async with httpx.AsyncClient(base_url=live.address, timeout=PATIENCE_SECONDS) as caller:
        second = {"name": "Second studio", "slug": "second-studio"}
        made = (await caller.post("/api/workspaces/", json=second, headers=user)).json()
        context = await chromium.new_context()
        context.set_default_timeout(PATIENCE_SECONDS * 1000)
        await context.add_init_script(RECORD_VIOLATIONS)
        own = {"client_name": "Bookkeeper", "redirect_uris": [application], "scope": SCOPE}
        client = (await caller.post(live.metadata["registration_endpoint"], json=own, headers=user)).json()
        asking = replace(live, client=client)
        answer = await go_through(await context.new_page(), asking, "Second studio", application)
        await context.close()

        proof = {"auth": (client["client_id"], client["client_secret"])}
        form = {"grant_type": "authorization_code", "code": answer["code"], "redirect_uri": application}
        token = (await caller.post("/api/oauth2/token", data=form, **proof)).json()
        form = {"grant_type": "refresh_token", "refresh_token": token["refresh_token"]}
        renewed = (await caller.post("/api/oauth2/token", data=form, **proof)).json()
        for access_token in (token["access_token"], renewed["access_token"]):
            bearer = {"Authorization": f"Bearer {access_token}"}
            seen = (await caller.get("/api/viewer", headers=bearer)).json()
            assert seen["workspace_id"] == made["id"]
            asked = {"query": "{ viewer { workspaceId } }"}
            seen = (await caller.post("/graphql", json=asked, headers=bearer)).json()
            assert seen["data"]["viewer"]["workspaceId"] == made["id"]
        form = {"token": renewed["refresh_token"]}
        assert (await caller.post("/api/oauth2/revoke", data=form, **proof)).status_code == 200
        assert (await caller.get("/api/viewer", headers=bearer)).status_code == 401
