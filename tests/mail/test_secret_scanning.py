"""GitHub reports what was found in public: it ends at once, and its owners are told."""

import asyncio
import json
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from oauth.credentials import mint
from oauth.scopes import Scope
from resolvers.credentials.leaks import NOUNS
from schema.credentials.leaks import MOST_LEAKS
from storage.clock import now
from storage.enums import CredentialKind
from storage.rows.rows import insert_row
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.credentials.oauth_grants import OAuthGrantRow
from tests.mail.scanning import PATH, URL, find, still_works
from tests.support.callers.surfaces import Rest
from tests.support.mails.mailed import mails_to
from tests.support.servers.gateways import issue, make_tenant, make_token, run_gateway
from tests.support.tenants.membership import make_member


async def test_a_leaked_token_is_revoked_at_once_and_every_member_is_notified(scanned, report):
    tenant = await make_tenant(scanned, name="Acme")
    colleague = (await make_member(scanned, tenant)).email
    leaked = await issue(
        scanned,
        CredentialKind.WORKSPACE_TOKEN,
        [Scope.SHARES_READ],
        workspace_id=UUID(tenant.id),
        comment="continuous\nintegration",
    )
    assert await still_works(scanned, leaked)
    answer = await report(find(leaked))
    assert (answer.status_code, answer.json()) == (
        200,
        [{"token_raw": leaked, "token_type": "duograph_token", "label": "true_positive"}],
    )
    assert not await still_works(scanned, leaked)
    assert await still_works(scanned, tenant.token)
    reader = Rest(scanned.client, scanned.app, tenant.token)
    told = (await reader.get_changes(kind=["workspace_access_token.leaked"]))["data"]
    assert [(change["data"], change["actor"]["kind"]) for change in told] == [(None, "system")]
    assert (await reader.get_changes(kind=["workspace_access_token.revoked"]))["data"] == []
    (mail,) = await mails_to(scanned, tenant.user_email)
    assert mail.subject == "Revoked: workspace access token “continuous integration”"
    assert "A credential of the workspace Acme was found in public" in mail.text
    assert f"- workspace access token “continuous integration”, found at {URL}\n" in mail.text
    assert URL in mail.html
    assert leaked not in mail.text + mail.html
    assert [sent.subject for sent in await mails_to(scanned, colleague)].count(mail.subject) == 1


async def make_grant(connection, tenant):
    """An authorization of a client of the tenant's user, with a code and both tokens."""
    home, user = UUID(tenant.id), UUID(tenant.user_id)
    client = await insert_row(
        connection,
        OAuthClientRow,
        client_id=f"dg_ci_{uuid4().hex[:24]}",
        user_id=user,
        name="App",
        redirect_uris=[],
        scopes=[],
        token_endpoint_auth_method="client_secret_basic",
    )
    grant = await insert_row(
        connection,
        OAuthGrantRow,
        oauth_client_id=client.id,
        user_id=user,
        workspace_id=home,
        scopes=[],
        redirect_uri="https://app.example.com/",
        authenticated_at=now(),
    )
    keys = {"oauth_client_id": client.id, "grant_id": grant.id}
    return client, {**keys, "workspace_id": home, "maker_user_id": user}


async def insert_credential(connection, kind, **values):
    credential = mint(kind)
    await insert_row(connection, CredentialRow, hash=credential.hash, kind=kind.value, scopes=[], **values)
    return credential.text


@pytest.mark.parametrize("kind", list(CredentialKind), ids=lambda kind: kind.value)
async def test_every_kind_of_credential_is_recognised_revoked_and_mailed_about(scanned, report, kind):
    tenant = await make_tenant(scanned)
    async with scanned.database.write() as connection:
        client, of_grant = await make_grant(connection, tenant)
        owner = {
            CredentialKind.WORKSPACE_TOKEN: {"workspace_id": UUID(tenant.id)},
            CredentialKind.CUSTOMER_SESSION: {"workspace_id": UUID(tenant.id)},
            CredentialKind.PERSONAL_TOKEN: {"user_id": UUID(tenant.user_id)},
            CredentialKind.BROWSER_SESSION: {"user_id": UUID(tenant.user_id)},
            CredentialKind.CLIENT_SECRET: {"oauth_client_id": client.id},
            CredentialKind.REGISTRATION_TOKEN: {"oauth_client_id": client.id},
        }.get(kind, of_grant)
        text = await insert_credential(connection, kind, **owner)
    assert [entry["label"] for entry in (await report(find(text))).json()] == ["true_positive"]
    (mail,) = await mails_to(scanned, tenant.user_email)
    assert mail.subject == f"Revoked: {NOUNS[kind]}"
    again = await report(find(text))
    assert [entry["label"] for entry in again.json()] == ["true_positive"]
    assert len(await mails_to(scanned, tenant.user_email)) == 1


async def test_with_a_refresh_token_all_that_came_of_the_authorization_ends(scanned, report):
    tenant = await make_tenant(scanned)
    async with scanned.database.write() as connection:
        _, of_grant = await make_grant(connection, tenant)
        refresh = await insert_credential(connection, CredentialKind.REFRESH_TOKEN, **of_grant)
        access = await insert_credential(connection, CredentialKind.ACCESS_TOKEN, **of_grant)
    assert await still_works(scanned, access)
    await report(find(refresh))
    assert not await still_works(scanned, access)


async def test_what_is_none_of_ours_is_a_false_positive(scanned, report):
    tenant = await make_tenant(scanned)
    unknown = mint(CredentialKind.WORKSPACE_TOKEN).text
    others = [unknown, tenant.token[:-1], f"{tenant.token}x", tenant.token.upper(), "ghp_x", "ä\U0001f642"]
    answer = await report(*(find(token) for token in others))
    assert [entry["label"] for entry in answer.json()] == ["false_positive"] * len(others)
    assert [entry["token_raw"] for entry in answer.json()] == others
    assert await still_works(scanned, tenant.token)
    assert await mails_to(scanned, tenant.user_email) == []


async def test_many_finds_of_several_owners_are_one_mail_each(scanned, report):
    first, second = await make_tenant(scanned), await make_tenant(scanned)
    tokens = [await make_token(scanned, first, Scope.SHARES_READ) for _ in range(3)]
    finds = [find(token) for token in [*tokens, tokens[0], second.token]]
    labels = [entry["label"] for entry in (await report(*finds, find("nothing", url=None))).json()]
    assert labels == ["true_positive"] * 5 + ["false_positive"]
    (mail,) = await mails_to(scanned, first.user_email)
    assert mail.subject == "Revoked: 3 credentials"
    assert mail.text.count("- workspace access token") == 3
    assert len(await mails_to(scanned, second.user_email)) == 1


@pytest.mark.both_databases
async def test_reports_of_the_same_finds_at_once_are_mailed_once(scanned, report):
    tenant = await make_tenant(scanned)
    tokens = [await make_token(scanned, tenant, Scope.SHARES_READ) for _ in range(4)]
    finds = [find(token) for token in tokens]
    answers = await asyncio.gather(report(*finds), report(*finds[::-1]), report(*finds))
    assert {entry["label"] for answer in answers for entry in answer.json()} == {"true_positive"}
    assert len(await mails_to(scanned, tenant.user_email)) == 1


async def test_an_expired_credential_is_recognised_without_a_notice(scanned, report):
    tenant = await make_tenant(scanned)
    async with scanned.database.write() as connection:
        text = await insert_credential(
            connection,
            CredentialKind.WORKSPACE_TOKEN,
            workspace_id=UUID(tenant.id),
            expires_at=now() - timedelta(days=1),
        )
    assert [entry["label"] for entry in (await report(find(text))).json()] == ["true_positive"]
    assert await mails_to(scanned, tenant.user_email) == []


async def test_an_unsigned_report_changes_nothing(scanned, report, keys):
    tenant = await make_tenant(scanned)
    body = json.dumps([find(tenant.token)]).encode()
    name = keys.add_key()
    good = keys.sign(name, body)
    signature = good["Github-Public-Key-Signature"]
    of_another = keys.sign(keys.add_key(), body)["Github-Public-Key-Signature"]
    bad = [
        ({}, "unauthorized"),
        ({"Github-Public-Key-Identifier": name}, "unauthorized"),
        ({"Github-Public-Key-Signature": signature}, "unauthorized"),
        ({**good, "Github-Public-Key-Signature": "not Base64"}, "invalid_token"),
        ({**good, "Github-Public-Key-Signature": "AAAA"}, "invalid_token"),
        ({**good, "Github-Public-Key-Signature": of_another}, "invalid_token"),
        ({**good, "Github-Public-Key-Identifier": "nobody's"}, "invalid_token"),
    ]
    for headers, code in bad:
        answer = await report(body=body, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (401, code)
    # The signature is over the bytes as they came, not over what they mean.
    answer = await report(body=body + b" ", headers=good)
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")
    assert await still_works(scanned, tenant.token)
    assert (await report(body=body, headers=good)).status_code == 200


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        (b"[{", {("body",): "json_invalid"}),
        (b"", {("body",): "json_invalid"}),
        (b"{}", {("body",): "list_type"}),
        (b"[1]", {("body", 0): "model_type"}),
        (b'[{"type": 1, "url": 2}]', {("body", 0, "token"): "missing", ("body", 0, "type"): "string_type"}),
        (b'[{"token": "", "type": "t"}]', {("body", 0, "token"): "string_too_short"}),
        (b'[{"token": "a\\u0000", "type": "t"}]', {("body", 0, "token"): "string_nul"}),
        (
            json.dumps([{"token": "x" * 1001, "type": "t"}]).encode(),
            {("body", 0, "token"): "string_too_long"},
        ),
    ],
    ids=["half", "empty", "object", "number", "types", "no token", "NUL", "long"],
)
async def test_a_signed_report_that_makes_no_sense_is_named(report, body, problems):
    answer = await report(body=body)
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid")
    said = {tuple(entry["loc"]): entry["type"] for entry in answer.json()["detail"]}
    assert said.items() >= problems.items()
    assert "x" * 20 not in answer.text


async def test_a_report_that_is_too_large_is_refused(report, monkeypatch):
    answer = await report(body=b"[" + b" " * (4 * 1024 * 1024) + b"]")
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")
    answer = await report(body=json.dumps([find("x", url="")] * (MOST_LEAKS + 1)).encode())
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")
    labels = (await report(body=json.dumps([find("x", url="")] * MOST_LEAKS).encode())).json()
    assert len(labels) == MOST_LEAKS


async def test_reports_count_against_the_restricted_limit(database_url, keys, tmp_path):
    options = {"secret_scanning_keys_url": keys.url, "rate_limit_restricted": 2}
    async for gateway in run_gateway(database_url, tmp_path, **options):
        statuses = [(await gateway.client.post(PATH, content=b"[]")).status_code for _ in range(3)]
    assert statuses == [401, 401, 429]


async def test_it_takes_post_and_nothing_else(scanned):
    answer = await scanned.client.get(PATH)
    assert (answer.status_code, answer.json()["error"]) == (405, "method_not_allowed")
