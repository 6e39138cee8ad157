"""Clients that register themselves, and look after what they registered."""

from uuid import UUID

import pytest
import pytest_asyncio

from oauth.scopes import Scope
from storage.enums import CredentialKind
from tests.support.servers.gateways import issue, run_gateway
from tests.support.tenants.applications import error_of

METADATA = {"client_name": "Bookkeeper", "redirect_uris": ["https://app.example.com/callback"]}


async def register(gateway, token, **metadata):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    sent = {name: value for name, value in {**METADATA, **metadata}.items() if value is not None}
    return await gateway.client.post("/api/oauth2/register", json=sent, headers=headers)


@pytest_asyncio.fixture
async def registered(gateway, tenant):
    answer = await register(gateway, tenant.personal_token, scope="openid shares:read")
    assert answer.status_code == 201, answer.text
    return answer.json()


async def manage(gateway, registered, method, token=None, **body):
    headers = {"Authorization": f"Bearer {token or registered['registration_access_token']}"}
    address = registered["registration_client_uri"].removeprefix("http://gateway")
    return await gateway.client.request(method, address, headers=headers, **body)


async def test_a_client_is_registered_with_what_it_says_and_our_defaults(registered):
    assert registered["client_id"].startswith("dg_ci_")
    assert registered["client_secret"].startswith("dg_cs_")
    assert registered["registration_access_token"].startswith("dg_crt_")
    assert registered["client_secret_expires_at"] == 0
    assert registered["token_endpoint_auth_method"] == "client_secret_basic"
    assert registered["grant_types"] == ["authorization_code", "refresh_token"]
    assert registered["response_types"] == ["code"]
    assert registered["scope"] == "openid shares:read"


async def test_a_registered_client_is_its_users(gateway, caller, tenant, registered):
    (client,) = (await caller(tenant.personal_token).list_oauth_clients())["data"]
    assert (client["client_id"], client["user_id"]) == (registered["client_id"], tenant.user_id)


async def test_a_public_client_gets_no_secret(gateway, tenant):
    answer = await register(
        gateway, tenant.personal_token, token_endpoint_auth_method="none", client_name=None
    )
    told = answer.json()
    assert "client_secret" not in told
    assert (told["client_name"], told["scope"]) == ("app.example.com", "email openid profile")


async def test_a_client_reads_replaces_and_deletes_its_registration(gateway, registered):
    read = await manage(gateway, registered, "GET")
    secret = {"client_secret", "client_secret_expires_at"}
    assert read.json() == {name: value for name, value in registered.items() if name not in secret}
    change = {
        "client_id": registered["client_id"],
        "redirect_uris": ["https://app.example.com/other"],
        "tos_uri": "https://app.example.com/terms",
        "something_new": True,
    }
    replaced = (await manage(gateway, registered, "PUT", json=change)).json()
    assert replaced["redirect_uris"] == ["https://app.example.com/other"]
    assert replaced["client_name"] == "app.example.com"
    assert (replaced["scope"], replaced["tos_uri"]) == ("email openid profile", change["tos_uri"])
    assert (await manage(gateway, registered, "DELETE")).status_code == 204
    assert error_of(await manage(gateway, registered, "GET")) == (401, "invalid_token")


async def test_a_change_of_what_is_not_the_clients_is_refused(gateway, registered):
    for change in (
        {**METADATA, "client_id": "dg_ci_other"},
        METADATA,
        {**METADATA, "client_id": registered["client_id"], "client_secret_expires_at": 1},
    ):
        assert error_of(await manage(gateway, registered, "PUT", json=change)) == (400, "invalid_request")
    change = {**METADATA, "client_id": registered["client_id"], "token_endpoint_auth_method": "none"}
    answer = await manage(gateway, registered, "PUT", json=change)
    assert error_of(answer) == (400, "invalid_client_metadata")


async def test_a_registration_token_opens_its_own_client_only(gateway, tenant, registered):
    other = (await register(gateway, tenant.personal_token)).json()
    for token in (
        other["registration_access_token"],
        tenant.personal_token,
        registered["client_secret"],
        "x",
    ):
        for method in ("GET", "PUT", "DELETE"):
            answer = await manage(
                gateway, registered, method, token, **({"json": {}} if method == "PUT" else {})
            )
            assert error_of(answer) == (401, "invalid_token")
    headers = {"Authorization": f"Bearer {registered['registration_access_token']}"}
    assert (await gateway.client.get("/api/viewer", headers=headers)).status_code == 401


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"redirect_uris": None}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://app.example.com/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": "https://app.example.com/"}, "invalid_redirect_uri"),
        ({"redirect_uris": [7]}, "invalid_redirect_uri"),
        ({"client_name": "x" * 257}, "invalid_client_metadata"),
        ({"client_name": "\x00"}, "invalid_client_metadata"),
        ({"scope": "openid oauth_clients:write"}, "invalid_client_metadata"),
        ({"scope": 7}, "invalid_client_metadata"),
        ({"grant_types": ["authorization_code", "implicit"]}, "invalid_client_metadata"),
        ({"grant_types": ["refresh_token"]}, "invalid_client_metadata"),
        ({"grant_types": "authorization_code"}, "invalid_client_metadata"),
        ({"response_types": ["code", "token"]}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": []}, "invalid_client_metadata"),
        ({"client_uri": "javascript:alert(1)"}, "invalid_client_metadata"),
    ],
    ids=repr,
)
async def test_metadata_that_cannot_be_taken_is_refused(gateway, tenant, metadata, error):
    assert error_of(await register(gateway, tenant.personal_token, **metadata)) == (400, error)


async def test_a_body_that_is_no_object_is_refused(gateway, tenant):
    headers = {"Authorization": f"Bearer {tenant.personal_token}"}
    for body, error in ((b"[]", "invalid_client_metadata"), (b"{", "invalid_request")):
        answer = await gateway.client.post("/api/oauth2/register", content=body, headers=headers)
        assert error_of(answer) == (400, error)


async def test_only_users_register_clients(gateway, tenant):
    narrow = await issue(
        gateway, CredentialKind.PERSONAL_TOKEN, [Scope.OAUTH_CLIENTS_READ], user_id=UUID(tenant.user_id)
    )
    for token, error in (
        (None, (401, "unauthorized")),
        ("x", (401, "invalid_token")),
        (tenant.token, (403, "not_permitted")),
        (narrow, (403, "insufficient_scope")),
    ):
        answer = await register(gateway, token)
        assert (answer.status_code, answer.json()["error"]) == error
        assert "error_description" in answer.json()


async def test_anyone_registers_clients_where_an_operator_says_so(database_url, tmp_path):
    async for gateway in run_gateway(database_url, tmp_path, open_registration=True):
        answer = await register(gateway, None)
        assert answer.status_code == 201
        assert (await manage(gateway, answer.json(), "GET")).status_code == 200
