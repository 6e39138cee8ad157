"""Introspection, revocation, userinfo and discovery."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from authlib.oidc.discovery import OpenIDProviderMetadata
from sqlalchemy import delete

from gateway.app import create_app
from gateway.endpoints.discovery import metadata
from gateway.settings.settings import Settings
from oauth.credentials import mint
from storage.enums import CredentialKind
from storage.rows.rows import table_of
from storage.tables.workspaces.workspaces import WorkspaceMemberRow
from tests.support.measures.spans import span
from tests.support.servers.gateways import SECRET, bearer, make_token, run_gateway
from tests.support.tenants.applications import ISSUER, error_of, make_application


async def test_introspection_shows_a_client_what_its_tokens_are_still_good_for(confidential, tenant):
    with span() as issuing:
        token = await confidential.tokens(tenant)
    form = {"token": token["access_token"], **confidential.credentials}
    told = (await confidential.post("introspect", form)).json()
    # Each has lost its fraction of a second, and a second may have ended between the two.
    begin, end = (datetime.fromtimestamp(told.pop(name), UTC) for name in ("iat", "exp"))
    assert begin in issuing.in_whole_seconds
    assert end in issuing.in_whole_seconds + timedelta(hours=1)
    assert told == {
        "active": True,
        "iss": ISSUER,
        "client_id": confidential.client_id,
        "scope": "openid shares:write",
        "sub": tenant.user_id,
        "workspace": {"id": tenant.id, "slug": tenant.slug, "name": "Acme"},
        "token_type": "Bearer",
    }
    form["token"] = token["refresh_token"]
    told = (await confidential.post("introspect", form)).json()
    assert told["active"] is True
    assert "token_type" not in told


async def test_a_token_of_somebody_who_has_left_the_workspace_is_good_for_nothing(
    confidential, gateway, tenant
):
    token = await confidential.tokens(tenant)
    members = table_of(WorkspaceMemberRow)
    async with gateway.database.write() as connection:
        own = (members.c.workspace_id == UUID(tenant.id), members.c.user_id == UUID(tenant.user_id))
        await connection.execute(delete(members).where(*own))
    for name in ("access_token", "refresh_token"):
        form = {"token": token[name], **confidential.credentials}
        assert (await confidential.post("introspect", form)).json() == {"active": False}
    headers = bearer(token["access_token"])
    assert (await gateway.client.get("/api/oauth2/userinfo", headers=headers)).status_code == 401


async def test_a_token_that_never_was_counts_for_nothing(confidential):
    for token in ("", "x", "ä", mint(CredentialKind.ACCESS_TOKEN).text):
        form = {"token": token, **confidential.credentials}
        assert (await confidential.post("introspect", form)).json() == {"active": False}
        assert (await confidential.post("revoke", form)).status_code == 200


async def test_introspection_is_closed_to_public_clients(public, tenant):
    token = await public.tokens(tenant)
    answer = await public.post("introspect", {"token": token["access_token"], **public.credentials})
    assert error_of(answer) == (401, "invalid_client")


async def test_a_revoked_access_token_ends_alone(application, tenant):
    token = await application.tokens(tenant)
    form = {"token": token["access_token"], "token_type_hint": "whatever", **application.credentials}
    answer = await application.post("revoke", form)
    assert (answer.status_code, answer.json()) == (200, {})
    assert await application.reach(token["access_token"]) == 401
    assert (await application.refresh(token["refresh_token"])).status_code == 200
    assert (await application.post("revoke", form)).status_code == 200


async def test_a_revoked_refresh_token_ends_with_its_access_tokens(application, tenant):
    token = await application.tokens(tenant)
    renewed = (await application.refresh(token["refresh_token"])).json()
    form = {"token": renewed["refresh_token"], **application.credentials}
    assert (await application.post("revoke", form)).status_code == 200
    assert error_of(await application.refresh(renewed["refresh_token"])) == (400, "invalid_grant")
    for access_token in (token["access_token"], renewed["access_token"]):
        assert await application.reach(access_token) == 401


@pytest.mark.parametrize("endpoint", ["revoke", "introspect"])
async def test_what_is_missing_is_named(confidential, endpoint):
    assert error_of(await confidential.post(endpoint, confidential.credentials)) == (400, "invalid_request")
    assert error_of(await confidential.post(endpoint, {"token": "x"})) == (401, "invalid_client")


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_userinfo_tells_what_the_scopes_allow(gateway, confidential, tenant, method):
    token = await confidential.tokens(tenant, scope="openid email profile")
    headers = {"Authorization": f"Bearer {token['access_token']}"}
    answer = await gateway.client.request(method, "/api/oauth2/userinfo", headers=headers)
    assert answer.json() == {
        "sub": tenant.user_id,
        "email": tenant.user_email,
        "email_verified": True,
        "name": "Ada",
        "workspace": {"id": tenant.id, "slug": tenant.slug, "name": "Acme"},
    }


async def test_userinfo_is_for_tokens_with_openid_only(gateway, confidential, tenant):
    token = await confidential.tokens(tenant, scope="email")
    for credential, error in (
        (token["access_token"], (403, "insufficient_scope")),
        (token["refresh_token"], (401, "invalid_token")),
        ("x", (401, "invalid_token")),
        (await make_token(gateway, tenant), (403, "not_permitted")),
    ):
        headers = {"Authorization": f"Bearer {credential}"}
        assert error_of(await gateway.client.get("/api/oauth2/userinfo", headers=headers)) == error
    answer = await gateway.client.get("/api/oauth2/userinfo")
    assert error_of(answer) == (401, "unauthorized")
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_the_metadata_is_complete_and_valid():
    settings = Settings(secret_key=SECRET, base_url="https://api.example.com/api")
    told = metadata(create_app(settings).state.services)
    AuthorizationServerMetadata(told).validate()
    OpenIDProviderMetadata(told).validate()
    assert told["issuer"] == "https://api.example.com"
    assert told["authorization_response_iss_parameter_supported"] is True
    assert told["code_challenge_methods_supported"] == ["S256"]


async def test_both_addresses_of_the_metadata_say_the_same(gateway):
    first = await gateway.client.get("/.well-known/openid-configuration")
    second = await gateway.client.get("/.well-known/oauth-authorization-server")
    assert first.json() == second.json()
    assert first.json()["issuer"] == ISSUER


async def test_no_private_key_is_published(gateway):
    keys = (await gateway.client.get("/.well-known/jwks.json")).json()["keys"]
    for key in keys:
        assert key.keys() == {"kty", "n", "e", "kid", "use", "alg"}


async def test_token_exchange_is_counted_by_client_and_address(database_url, tmp_path, tenant):
    async for limited in run_gateway(database_url, tmp_path, rate_limit_restricted=3):
        one, other = await make_application(limited), await make_application(limited)
        for _ in range(3):
            assert error_of(await one.refresh("x")) == (400, "invalid_grant")
        refused = await one.refresh("x")
        assert error_of(refused) == (429, "rate_limited")
        assert int(refused.headers["retry-after"]) > 0
        assert error_of(await other.refresh("x")) == (400, "invalid_grant")
