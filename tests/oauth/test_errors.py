"""Every error of the protocol says what is wrong, in plain words."""

import re
from base64 import b64encode

import pytest
from sqlalchemy import delete

from oauth.credentials import mint, mint_client_id
from storage.enums import CredentialKind
from storage.rows.rows import table_of
from storage.tables.credentials.signing_keys import SigningKeyRow
from tests.support.browsers.browsing import browsing, signed_in
from tests.support.tenants.applications import error_of, told

WRONG = mint(CredentialKind.CLIENT_SECRET).text
ENDPOINTS = ("token", "revoke", "introspect")
NOT_OF_IT = "The code or token is unknown, expired or revoked, or belongs to another client."


def described(answer):
    body = answer.json()
    assert 400 <= answer.status_code < 500
    assert body.keys() == {"error", "error_description"}
    # A sentence: no reprs, no lists, no characters that RFC 6749 5.2 forbids.
    assert re.fullmatch(r"[A-Za-z][ !#-\[\]-~]+", body["error_description"])
    assert not re.search(r"[()\[\]{}]|None|Error", body["error_description"])
    return body["error"], body["error_description"]


def basic(client_id, secret):
    return {"Authorization": f"Basic {b64encode(f'{client_id}:{secret}'.encode()).decode()}"}


@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_a_client_without_valid_credentials_gets_the_reason(confidential, public, endpoint):
    code = mint(CredentialKind.AUTHORIZATION_CODE).text
    form = {"grant_type": "authorization_code", "code": code, "token": code}
    named = {"client_id": confidential.client_id}
    for sent, headers, sentence in (
        ({}, {}, "The request does not identify the client: send client_id."),
        (named, {}, "The client_secret is missing."),
        (named | {"client_secret": ""}, {}, "The client_secret is missing."),
        (named | {"client_secret": WRONG}, {}, "The client_secret is wrong."),
        ({}, basic(confidential.client_id, WRONG), "The client_secret is wrong."),
        ({"client_id": mint_client_id()}, {}, "There is no client with this client_id."),
        ({}, basic(mint_client_id(), WRONG), "There is no client with this client_id."),
    ):
        answer = await confidential.post(endpoint, form | sent, **headers)
        assert described(answer) == ("invalid_client", sentence)
    with_secret = form | {"client_id": public.client_id, "client_secret": WRONG}
    error, sentence = described(await public.post(endpoint, with_secret))
    assert error == "invalid_client"
    assert sentence.startswith("A public client")


async def test_a_client_that_names_itself_twice_is_told_so(confidential):
    header = basic(confidential.client_id, confidential.secret)
    for form, sentence in (
        ({"client_secret": confidential.secret}, "The client sent its secret in two places."),
        ({"client_id": mint_client_id()}, "The request names two different clients."),
    ):
        answer = await confidential.post("introspect", {"token": "x", **form}, **header)
        assert answer.status_code == 400
        assert described(answer) == ("invalid_request", sentence)
    named = {"token": "x", "client_id": confidential.client_id}
    assert (await confidential.post("introspect", named, **header)).json() == {"active": False}


@pytest.mark.parametrize(
    ("form", "error", "sentence"),
    [
        ({}, "invalid_request", "grant_type is missing."),
        ({"grant_type": ""}, "invalid_request", "grant_type is missing."),
        ({"grant_type": "password"}, "unsupported_grant_type", "grant_type must be authorization_code"),
        ({"grant_type": '"\\é'}, "unsupported_grant_type", "grant_type must be authorization_code"),
        ({"grant_type": "authorization_code"}, "invalid_request", "code"),
        ({"grant_type": "authorization_code", "code": "x"}, "invalid_grant", "code"),
        ({"grant_type": "refresh_token"}, "invalid_request", "refresh_token"),
        ({"grant_type": "refresh_token", "refresh_token": "x"}, "invalid_grant", NOT_OF_IT),
        ({"grant_type": "password", "username": "ada", "password": "x"}, "unsupported_grant_type", "must be"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type", "grant_type must be"),
        ({"grant_type": "authorization_code", "code": "\x00"}, "invalid_request", ""),
        ({"grant_type": "authorization_code", "code": "x", "client_assertion": "y"}, "invalid_grant", "code"),
        ({"grant_type": ["refresh_token", "authorization_code"]}, "invalid_request", "more than once"),
    ],
    ids=str,
)
async def test_a_failed_token_request_gets_the_reason(confidential, form, error, sentence):
    answer = await confidential.post("token", {**confidential.credentials, **form})
    assert error_of(answer) == (400, error)
    assert sentence in described(answer)[1]


async def test_failed_requests_about_tokens_get_the_reason(application, confidential, gateway, tenant):
    token = await application.tokens(tenant, scope="shares:read")
    wider = await application.refresh(token["refresh_token"], scope="shares:write")
    assert described(wider)[0] == "invalid_scope"
    for endpoint in ("revoke", "introspect"):
        assert described(await confidential.post(endpoint, confidential.credentials))[0] == "invalid_request"
    other = await application.tokens(tenant)
    for text in ("x" * 30, mint(CredentialKind.ACCESS_TOKEN).text, token["access_token"]):
        answer = await gateway.client.get("/api/oauth2/userinfo", headers={"Authorization": f"Bearer {text}"})
        described(answer)
    if application.client_id != confidential.client_id:
        foreign = {"token": other["access_token"], **confidential.credentials}
        assert described(await confidential.post("revoke", foreign)) == ("invalid_grant", NOT_OF_IT)


@pytest.mark.parametrize(
    "changes",
    [
        {"response_type": None},
        {"response_type": "token"},
        {"scope": ""},
        {"scope": "unheard:of"},
        {"sub_type": "everybody"},
        {"prompt": "none login"},
        {"prompt": "none"},
        {"max_age": "-1"},
        {"nonce": "x" * 2000},
        {"request": "x"},
        {"response_mode": "fragment"},
        {"id_token_hint": "x.y.z"},
        {"code_challenge": "short", "code_challenge_method": "S256"},
        {"code_challenge_method": "plain"},
    ],
    ids=str,
)
async def test_a_failed_authorization_request_gets_the_reason(application, gateway, tenant, changes):
    async with signed_in(gateway, tenant) as browser:
        answer = await browser.client.get("/oauth2/authorize", params=application.query(**changes))
    assert answer.status_code == 303
    sent = told(answer.headers["location"])
    assert sent.keys() == {"error", "error_description", "state", "iss"}
    assert " " in sent["error_description"]


@pytest.mark.parametrize("hint", ["x.y.z", "", "eyJhbGciOiJub25lIn0.e30.", "\x01"], ids=ascii)
async def test_a_hint_before_there_is_any_key_is_no_id_token_of_the_client(
    application, gateway, tenant, hint
):
    async with gateway.database.write() as connection:
        await connection.execute(delete(table_of(SigningKeyRow)))
    async with signed_in(gateway, tenant) as browser:
        asked = application.query(id_token_hint=hint)
        answer = await browser.client.get("/oauth2/authorize", params=asked)
    assert told(answer.headers["location"])["error"] == "invalid_request"


async def test_an_error_does_not_redirect_a_signed_out_browser(application, gateway):
    """Open redirect: anyone may register a client, and its address would be behind one of ours."""
    async with browsing(gateway) as browser:
        asked = application.query(scope="unheard:of")
        browser.page = await browser.client.get("/oauth2/authorize", params=asked)
        assert browser.page.status_code == 400
        assert "location" not in browser.page.headers
        assert "refresh" not in browser.page.headers
        (back,) = [link for link in browser.reading.links if link.startswith(application.redirect_uri)]
        assert told(back)["error"] == "invalid_scope"
        assert "app.example.com" in browser.text


async def test_an_error_does_redirect_where_the_client_permits_no_page(application, gateway):
    async with browsing(gateway) as browser:
        for changes, error in (({}, "login_required"), ({"scope": "unheard:of"}, "invalid_scope")):
            asked = application.query(prompt="none", **changes)
            answer = await browser.client.get("/oauth2/authorize", params=asked)
            assert told(answer.headers["location"])["error"] == error
