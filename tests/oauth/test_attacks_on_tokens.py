"""What an attacker may try on the endpoints that clients call, and how it is refused."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from oauth.credentials import digest, mint
from storage.enums import CredentialKind
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from tests.support.measures.spans import span
from tests.support.tenants.applications import REDIRECT_URI, error_of, make_application

_credentials = table_of(CredentialRow)


@pytest.mark.parametrize(
    ("verifier", "error"),
    [
        (None, "invalid_request"),
        ("", "invalid_request"),
        ("short", "invalid_request"),
        ("another-verifier-of-43-to-128-characters-0123456789", "invalid_grant"),
    ],
    ids=["missing", "empty", "short", "wrong"],
)
async def test_a_missing_or_wrong_verifier_gets_nothing(public, tenant, verifier, error):
    code = await public.code(tenant)
    assert error_of(await public.exchange(code, code_verifier=verifier)) == (400, error)
    assert (await public.exchange(code)).status_code == 200


async def test_the_challenge_itself_is_no_verifier(public, tenant):
    challenge = public.query()["code_challenge"]
    answer = await public.exchange(await public.code(tenant), code_verifier=challenge)
    assert error_of(answer) == (400, "invalid_grant")


async def test_a_verifier_without_a_challenge_is_refused(confidential, tenant):
    answer = await confidential.exchange(await confidential.code(tenant), code_verifier="v" * 43)
    assert error_of(answer) == (400, "invalid_request")


async def test_a_code_of_another_client_gets_nothing_and_still_counts_for_its_own(gateway, public, tenant):
    thief = await make_application(gateway, is_public=True)
    code = await public.code(tenant)
    assert error_of(await thief.exchange(code)) == (400, "invalid_grant")
    assert (await public.exchange(code)).status_code == 200
    assert error_of(await thief.exchange(code)) == (400, "invalid_grant")


async def test_a_code_for_another_address_gets_nothing(gateway, tenant):
    application = await make_application(gateway, redirect_uris=[REDIRECT_URI, "https://app.example.com/b"])
    for uri in ("https://app.example.com/b", "", None):
        answer = await application.exchange(await application.code(tenant), redirect_uri=uri)
        assert error_of(answer) == (400, "invalid_grant")


async def test_a_code_used_twice_ends_all_that_its_first_use_gave(application, tenant):
    code = await application.code(tenant)
    given = (await application.exchange(code)).json()
    refreshed = (await application.refresh(given["refresh_token"])).json()
    untouched = await application.tokens(tenant)
    assert error_of(await application.exchange(code)) == (400, "invalid_grant")
    for token in (given, refreshed):
        assert await application.reach(token["access_token"]) == 401
        assert error_of(await application.refresh(token["refresh_token"])) == (400, "invalid_grant")
    assert await application.reach(untouched["access_token"]) == 200


async def end_of(gateway, text):
    """When a code or token ends."""
    async with gateway.database.read() as connection:
        same = _credentials.c.hash == digest(text)
        return (await connection.execute(select(_credentials.c.expires_at).where(same))).scalar_one()


async def test_a_code_counts_for_five_minutes(gateway, application, tenant):
    with span() as asking:
        code = await application.code(tenant)
    assert await end_of(gateway, code) in asking + timedelta(minutes=5)
    await application.age(code, timedelta(minutes=4))
    assert (await application.exchange(code)).status_code == 200
    code = await application.code(tenant)
    await application.age(code, timedelta(minutes=5))
    assert error_of(await application.exchange(code)) == (400, "invalid_grant")


@pytest.mark.parametrize("secret", [None, "", "dg_cs_wrong"])
async def test_a_wrong_secret_gets_nothing(confidential, tenant, secret):
    code = await confidential.code(tenant)
    answer = await confidential.exchange(code, client_secret=secret)
    assert error_of(answer) == (401, "invalid_client")
    assert (await confidential.exchange(code)).status_code == 200


async def test_the_secret_of_another_client_gets_nothing(gateway, confidential, tenant):
    other = await make_application(gateway)
    for secret in (other.secret, mint(CredentialKind.CLIENT_SECRET).text):
        answer = await confidential.exchange(await confidential.code(tenant), client_secret=secret)
        assert error_of(answer) == (401, "invalid_client")


async def test_a_public_client_has_no_secret_to_show(public, confidential, tenant):
    answer = await public.exchange(await public.code(tenant), client_secret=confidential.secret)
    assert error_of(answer)[1] == "invalid_client"


@pytest.mark.parametrize(
    "header", ["Basic", "Basic !", "Basic gICA", "Basic \xff\xff", "Basic ZGdfY2lf", "Digest x"], ids=repr
)
async def test_a_header_that_proves_nothing_gets_nothing(confidential, tenant, header):
    form = {
        "grant_type": "authorization_code",
        "code": await confidential.code(tenant),
        "redirect_uri": REDIRECT_URI,
    }
    headers = {"Authorization": header.encode("latin-1"), "Content-Type": "application/x-www-form-urlencoded"}
    answer = await confidential.gateway.client.post("/api/oauth2/token", data=form, headers=headers)
    assert error_of(answer) == (401, "invalid_client")
    assert "Basic" in answer.headers["www-authenticate"]


async def test_a_client_cannot_be_two_at_once(confidential, public, tenant):
    code = await confidential.code(tenant)
    answer = await confidential.gateway.client.post(
        "/api/oauth2/token",
        data={"grant_type": "authorization_code", "code": code, "client_id": public.client_id},
        auth=(confidential.client_id, confidential.secret),
    )
    assert error_of(answer) == (400, "invalid_request")


async def test_the_token_endpoint_takes_forms_only(confidential, gateway):
    form = {"grant_type": "refresh_token", **confidential.credentials}
    assert error_of(await gateway.client.post("/api/oauth2/token", json=form)) == (400, "invalid_request")
    assert error_of(
        await gateway.client.post(
            "/api/oauth2/token",
            content=b"\xff=%ff",
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        )
    ) == (400, "invalid_request")
    assert (await gateway.client.get("/api/oauth2/token", params=form)).status_code == 405


async def test_an_expired_access_token_fails(application, tenant):
    token = await application.tokens(tenant)
    await application.age(token["access_token"], timedelta(minutes=59))
    assert await application.reach(token["access_token"]) == 200
    await application.age(token["access_token"], timedelta(minutes=1))
    assert await application.reach(token["access_token"]) == 401


async def test_a_used_refresh_token_of_a_public_client_ends_its_family(public, tenant):
    token = await public.tokens(tenant)
    """Within half a minute its client may ask for the same answer again: `test_refresh_retries`."""
    renewed = (await public.refresh(token["refresh_token"])).json()
    latest = (await public.refresh(renewed["refresh_token"])).json()
    assert error_of(await public.refresh(token["refresh_token"])) == (400, "invalid_grant")
    assert error_of(await public.refresh(latest["refresh_token"])) == (400, "invalid_grant")
    for access_token in (token["access_token"], renewed["access_token"], latest["access_token"]):
        assert await public.reach(access_token) == 401


async def test_a_refresh_token_of_another_client_gets_nothing(gateway, application, tenant):
    thief = await make_application(gateway, is_public=application.secret is None)
    token = await application.tokens(tenant)
    assert error_of(await thief.refresh(token["refresh_token"])) == (400, "invalid_grant")
    assert (await application.refresh(token["refresh_token"])).status_code == 200


async def test_a_refresh_token_opens_nothing_but_the_token_endpoint(application, tenant):
    token = await application.tokens(tenant)
    code = await application.code(tenant)
    for text in (token["refresh_token"], code, token["id_token"], application.client_id):
        assert await application.reach(text) == 401


async def test_a_client_learns_nothing_of_tokens_that_are_not_its_own(confidential, gateway, tenant):
    other = await make_application(gateway)
    token = await other.tokens(tenant)
    form = {"token": token["access_token"], **confidential.credentials}
    assert (await confidential.post("introspect", form)).json() == {"active": False}
    assert error_of(await confidential.post("revoke", form)) == (400, "invalid_grant")
    assert await other.reach(token["access_token"]) == 200
