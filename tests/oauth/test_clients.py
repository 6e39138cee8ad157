"""OAuth clients as a resource of those who look after them, on both surfaces."""

import re
from uuid import UUID, uuid4

import pytest

from oauth.scopes import CLIENT_SCOPES, USER_SCOPES, Scope
from storage.enums import CredentialKind
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.callers.world import OAUTH_CLIENT
from tests.support.servers.gateways import issue


async def create(surface, **data):
    made = await surface.create_oauth_client(data={**OAUTH_CLIENT, **data})
    return made["client_secret"], made["oauth_client"]


async def test_a_client_has_a_public_name_and_a_secret_that_is_shown_once(surface, tenant):
    secret, client = await create(surface, scopes=["shares:read", "openid", "shares:read"])
    assert re.fullmatch(r"dg_ci_[0-9A-Za-z]{24}", client["client_id"])
    assert re.fullmatch(r"dg_cs_[0-9A-Za-z]{36}", secret)
    assert client["scopes"] == ["openid", "shares:read"]
    assert (client["workspace_id"], client["user_id"]) == (tenant.id, None)
    assert client["is_public"] is False
    assert await surface.get_oauth_client(id=client["id"]) == client
    assert client in (await surface.list_oauth_clients(workspace_id=[tenant.id]))["data"]


async def test_a_public_client_has_no_secret_and_gets_none(surface):
    secret, client = await create(surface, is_public=True)
    assert (secret, client["is_public"]) == (None, True)
    assert await refusal(surface.rotate_oauth_client_secret(id=client["id"])) == {("id",): "public_client"}


async def test_a_users_client_is_theirs_alone_unless_a_workspace_is_named(surface, tenant):
    user = surface.with_token(tenant.personal_token)
    _, own = await create(user)
    assert (own["workspace_id"], own["user_id"]) == (None, tenant.user_id)
    _, shared = await create(user, workspace_id=tenant.id)
    assert (shared["workspace_id"], shared["user_id"]) == (tenant.id, None)
    seen = [client["id"] for client in (await user.list_oauth_clients())["data"]]
    assert seen == [own["id"], shared["id"]]
    assert [client["id"] for client in (await surface.list_oauth_clients())["data"]] == [shared["id"]]


async def test_a_new_secret_ends_the_old_one_and_says_which_client_it_is_of(surface):
    secret, client = await create(surface)
    rotated = await surface.rotate_oauth_client_secret(id=client["id"])
    assert rotated["oauth_client"]["id"] == client["id"]
    assert rotated["client_secret"] != secret


async def test_a_field_left_out_keeps_its_value_and_null_clears_an_address(surface):
    _, client = await create(
        surface, client_uri="https://app.example.com", tos_uri="https://app.example.com/t"
    )
    changed = await surface.update_oauth_client(
        id=client["id"], data={"name": None, "client_uri": None, "redirect_uris": ["http://127.0.0.1/cb"]}
    )
    expected = {"client_uri": None, "redirect_uris": ["http://127.0.0.1/cb"]}
    assert changed == client | expected | {"modified_at": changed["modified_at"]}
    assert changed["modified_at"] is not None


async def test_a_deleted_client_is_gone(surface):
    _, client = await create(surface)
    await surface.delete_oauth_client(id=client["id"])
    for attempt in (
        surface.get_oauth_client,
        surface.delete_oauth_client,
        surface.rotate_oauth_client_secret,
    ):
        with pytest.raises(Refused, match=r"not_found.*OAuth client"):
            await attempt(id=client["id"])


@pytest.mark.parametrize(
    "uri",
    [
        "http://app.example.com/callback",
        "https://app.example.com/callback#fragment",
        "https://ada@app.example.com/callback",
        "https://app.example.com/call back",
        "https://app.example.com/ä",
        "https:///callback",
        "javascript:alert(1)",
        "com.example.app:/callback",
        "http://127.0.0.1.example.com/callback",
        "http://127.0.0.1@example.com/callback",
        "//app.example.com/callback",
        "https://app.example.com\\@example.com/",
    ],
)
async def test_an_unsafe_url_is_refused(surface, uri):
    assert await refusal(create(surface, redirect_uris=["https://app.example.com/callback", uri])) == {
        ("redirect_uris", 1): "redirect_uri"
    }


@pytest.mark.parametrize("uri", ["http://127.0.0.1:8123/cb", "http://[::1]/cb", "http://localhost/cb?x=%2F"])
async def test_programs_on_the_persons_own_machine_may_be_sent_back_to_without_tls(surface, uri):
    _, client = await create(surface, redirect_uris=[uri])
    assert client["redirect_uris"] == [uri]


async def test_every_problem_of_a_client_is_named_at_its_place(surface):
    assert await refusal(
        create(surface, name="", redirect_uris=[], scopes=["shares:read", "access_tokens:read"], tos_uri="x")
    ) == {
        ("name",): "string_too_short",
        ("redirect_uris",): "too_short",
        ("scopes", 1): "scope",
        ("tos_uri",): "url_parsing",
    }


def test_a_client_is_never_granted_what_gives_access():
    gives_access = {
        scope for scope in Scope if scope.startswith(("access_tokens", "oauth_clients", "workspace_members"))
    }
    assert CLIENT_SCOPES.isdisjoint(gives_access)
    assert gives_access == USER_SCOPES - CLIENT_SCOPES


async def test_clients_of_others_do_not_exist(surface, other_tenant):
    _, client = await create(surface)
    for token in (other_tenant.token, other_tenant.personal_token):
        stranger = surface.with_token(token)
        assert client["id"] not in [one["id"] for one in (await stranger.list_oauth_clients())["data"]]
        for attempt in (stranger.get_oauth_client, stranger.delete_oauth_client):
            await refused(attempt(id=client["id"]), 404, "not_found")


async def test_a_client_manages_no_clients_even_with_the_scope(surface, gateway, tenant):
    token = await issue(gateway, CredentialKind.ACCESS_TOKEN, USER_SCOPES, user_id=UUID(tenant.user_id))
    await refused(create(surface.with_token(token)), 403, "not_permitted")


async def test_a_retry_gets_the_same_secret(surface):
    once = surface.with_headers(Idempotency_Key=uuid4().hex)
    assert await create(once) == await create(once)
