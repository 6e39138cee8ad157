"""What an attacker may ask of users in a client's name, and how it is refused."""

import hmac
import json
from base64 import urlsafe_b64encode
from uuid import UUID

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from oauth.credentials import mint_client_id
from oauth.provider.authorization import RefusedRequest, UntrustedRequest, read_request
from oauth.provider.keys import signing_key
from tests.support.servers.gateways import SECRET, make_tenant
from tests.support.tenants.applications import ISSUER, REDIRECT_URI, make_application, told


async def error_of(application, **changes):
    """The error that the redirect reports to the client."""
    async with application.gateway.database.snapshot() as connection:
        with pytest.raises(RefusedRequest) as answered:
            await read_request(connection, ISSUER, list(application.query(**changes).items()))
    location = answered.value.location
    assert location.startswith(f"{REDIRECT_URI}?")
    answer = told(location)
    assert (answer["state"], answer["iss"]) == ("the state", ISSUER)
    assert "code" not in answer
    return answer["error"]


async def never_redirected(application, **changes):
    async with application.gateway.database.snapshot() as connection:
        with pytest.raises(UntrustedRequest) as refused:
            await read_request(connection, ISSUER, list(application.query(**changes).items()))
    return str(refused.value)


ALMOST = {
    "nothing": None,
    "empty": "",
    "a prefix": "https://app.example.com/call",
    "an extra path": f"{REDIRECT_URI}/evil",
    "a trailing slash": f"{REDIRECT_URI}/",
    "a parent folder": f"{REDIRECT_URI}/../evil",
    "a query": f"{REDIRECT_URI}?next=https://evil.example",
    "a user name": "https://app.example.com@evil.example/callback",
    "userinfo of the right host": "https://evil@app.example.com/callback",
    "a fragment": f"{REDIRECT_URI}#evil",
    "an encoded letter": "https://app.example.com/%63allback",
    "an encoded slash": "https://app.example.com%2fcallback",
    "another case": "https://APP.example.com/callback",
    "another host": "https://evil.example/callback",
    "a longer host": "https://app.example.com.evil.example/callback",
    "another port": "https://app.example.com:8443/callback",
    "the default port": "https://app.example.com:443/callback",
    "no encryption": "http://app.example.com/callback",
    "a backslash": "https://app.example.com\\@evil.example/callback",
    "a space": f"{REDIRECT_URI} ",
    "a line break": f"{REDIRECT_URI}\r\nLocation: https://evil.example",
    "a script": "javascript:alert(1)//app.example.com/callback",
    "no scheme": "//app.example.com/callback",
    "no ASCII": "https://app.example.com/callbäck",
    "NUL": f"{REDIRECT_URI}\x00",
}


@pytest.mark.parametrize("uri", ALMOST.values(), ids=ALMOST.keys())
async def test_a_redirect_uri_that_is_almost_the_declared_one_is_redirected_nowhere(confidential, uri):
    assert await never_redirected(confidential, redirect_uri=uri)


async def test_on_loopback_any_port_will_do_and_nothing_else_may_differ(gateway, tenant):
    application = await make_application(
        gateway, is_public=True, redirect_uris=["http://127.0.0.1:1234/cb?a=b", "http://[::1]/cb"]
    )
    for uri in ("http://127.0.0.1:55555/cb?a=b", "http://127.0.0.1/cb?a=b", "http://[::1]:9/cb"):
        code = await application.code(tenant, redirect_uri=uri)
        assert (await application.exchange(code, redirect_uri=uri)).status_code == 200
    for uri in (
        "http://127.0.0.1:55555/cb",
        "http://localhost:1234/cb?a=b",
        "http://127.0.0.1:55555@evil.example/cb?a=b",
        "https://127.0.0.1:1234/cb?a=b",
        "http://[::1]:9/other",
        "http://127.0.0.2:1234/cb?a=b",
    ):
        assert await never_redirected(application, redirect_uri=uri)


@pytest.mark.parametrize(
    "client_id", [None, "", f"dg_ci_{'a' * 24}", "dg_ci_", "x' OR '1'='1", "\x00"], ids=repr
)
async def test_an_unknown_client_is_redirected_nowhere(confidential, client_id):
    assert await never_redirected(confidential, client_id=client_id)


async def test_a_deleted_client_is_redirected_nowhere(gateway, caller, tenant):
    application = await make_application(gateway, owner=UUID(tenant.id))
    await caller(tenant.token).delete_oauth_client(id=str(application.id))
    assert await never_redirected(application)


async def test_a_parameter_that_comes_twice_is_redirected_nowhere(confidential, gateway):
    pairs = [*confidential.query().items(), ("redirect_uri", "https://evil.example/")]
    async with gateway.database.snapshot() as connection:
        with pytest.raises(UntrustedRequest):
            await read_request(connection, ISSUER, pairs)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "id_token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": 'ä"'}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"response_mode": "form_post"}, "invalid_request"),
        ({"scope": None}, "invalid_scope"),
        ({"scope": " "}, "invalid_scope"),
        ({"scope": "openid access_tokens:write"}, "invalid_scope"),
        ({"scope": "openid customer_portal:read"}, "invalid_scope"),
        ({"scope": "everything"}, "invalid_scope"),
        ({"sub_type": "everybody"}, "invalid_request"),
        ({"prompt": "none login"}, "invalid_request"),
        ({"prompt": "surprise"}, "invalid_request"),
        ({"max_age": "-1"}, "invalid_request"),
        ({"max_age": "9" * 400}, "invalid_request"),
        ({"max_age": "²"}, "invalid_request"),
        ({"request": "eyJhbGciOiJub25lIn0.e30."}, "request_not_supported"),
        ({"request_uri": "https://evil.example/request"}, "request_uri_not_supported"),
        ({"nonce": "n" * 2000}, "invalid_request"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value.items())),
)
async def test_a_request_that_asks_for_what_there_is_not_is_refused(confidential, changes, error):
    assert await error_of(confidential, **changes) == error


async def test_a_scope_outside_the_clients_own_is_refused(gateway):
    application = await make_application(gateway, scopes=["openid", "shares:read"])
    assert await error_of(application, scope="openid shares:write") == "invalid_scope"


async def test_a_public_client_without_pkce_is_refused(public):
    assert await error_of(public, code_challenge=None, code_challenge_method=None) == "invalid_request"


@pytest.mark.parametrize(
    "changes",
    [
        {"code_challenge_method": "plain"},
        {"code_challenge_method": None},
        {"code_challenge_method": "s256"},
        {"code_challenge": None},
        {"code_challenge": "short"},
        {"code_challenge": "ä" * 43},
        {"code_challenge": "a" * 129},
    ],
    ids=repr,
)
async def test_a_challenge_by_anything_but_s256_is_refused(public, changes):
    assert await error_of(public, **changes) == "invalid_request"


def signed_by_hmac(header, claims, secret):
    """A token by hand: no library takes a public key for a secret."""
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256", **header}, claims)]
    signed = b".".join(urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    signature = urlsafe_b64encode(hmac.digest(secret, signed, "sha256")).rstrip(b"=")
    return (signed + b"." + signature).decode()


async def test_a_forged_id_token_hint_is_refused(confidential, gateway, tenant):
    token = await confidential.tokens(tenant)
    key = await signing_key(gateway.database, SECRET.encode())
    claims = {"iss": ISSUER, "aud": confidential.client_id, "sub": tenant.user_id}
    forged = {
        "alg none": f"eyJhbGciOiJub25lIn0.{token['id_token'].split('.')[1]}.",
        "no signature": token["id_token"].rpartition(".")[0] + ".",
        "another key": jwt.encode({"alg": "RS256", "kid": key.kid}, claims, RSAKey.generate_key(2048)),
        "the public key as a secret": signed_by_hmac({"kid": key.kid}, claims, key.as_pem(private=False)),
        "another issuer": jwt.encode({"alg": "RS256"}, {**claims, "iss": "https://evil.example"}, key),
        "another client": jwt.encode({"alg": "RS256"}, {**claims, "aud": mint_client_id()}, key),
        "no subject": jwt.encode({"alg": "RS256"}, {**claims, "sub": 7}, key),
        "no token": "x",
        "empty": "",
    }
    for name, hint in forged.items():
        assert await error_of(confidential, id_token_hint=hint) == "invalid_request", name


async def test_a_real_id_token_hint_names_its_user_for_ever(confidential, gateway, tenant):
    key = await signing_key(gateway.database, SECRET.encode())
    claims = {"iss": ISSUER, "aud": confidential.client_id, "sub": tenant.user_id, "exp": 1}
    hint = jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key)
    async with gateway.database.snapshot() as connection:
        query = confidential.query(id_token_hint=hint)
        asked = await read_request(connection, ISSUER, list(query.items()))
    assert asked.hinted_user_id == UUID(tenant.user_id)


async def test_a_user_cannot_grant_a_foreign_workspace(confidential, gateway, tenant):
    stranger = await make_tenant(gateway)
    with pytest.raises(AssertionError):
        await confidential.authorize(stranger, workspace=tenant.id)
