"""Codes for tokens, and tokens for what people allowed."""

import asyncio
from base64 import b64encode
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from joserfc.jwk import RSAKey

from oauth.credentials import kind_of
from oauth.provider.keys import rotate
from storage.enums import CredentialKind
from tests.support.measures.spans import span
from tests.support.servers.gateways import SECRET, make_tenant
from tests.support.tenants.applications import ISSUER, VERIFIER, claims_of, error_of, make_application

pytestmark = pytest.mark.both_databases


@pytest.mark.parametrize("sub_type", [None, "workspace"], ids=["by default", "by name"])
async def test_a_code_is_exchanged_for_tokens_of_the_workspace(application, surface, tenant, sub_type):
    answer = await application.authorize(tenant, sub_type=sub_type)
    assert answer.keys() == {"code", "state", "iss"}
    assert (answer["state"], answer["iss"]) == ("the state", ISSUER)
    exchanged = await application.exchange(answer["code"])
    assert exchanged.headers["cache-control"] == "no-store"
    token = exchanged.json()
    assert (token["token_type"], token["expires_in"]) == ("Bearer", 3600)
    assert token["scope"] == "openid shares:write"
    assert kind_of(token["access_token"]) is CredentialKind.ACCESS_TOKEN
    assert kind_of(token["refresh_token"]) is CredentialKind.REFRESH_TOKEN
    seen = await surface.with_token(token["access_token"]).get_viewer()
    assert seen["kind"] == "oauth_token"
    assert seen["scopes"] == ["openid", "shares:write"]
    assert (seen["workspace_id"], seen["user_id"]) == (tenant.id, tenant.user_id)


async def test_a_token_of_a_workspace_reaches_that_workspace_and_its_scopes_only(
    confidential, surface, tenant, other_tenant
):
    user = surface.with_token(tenant.personal_token)
    second = await user.create_workspace(data={"name": "Second", "slug": f"w-{uuid4().hex}"})
    token = await confidential.tokens(tenant, scope="shares:write workspaces:write")
    client = surface.with_token(token["access_token"])
    share = await client.create_share(data={"name": "Guide", "prices": [{"amount_type": "free"}]})
    assert share["workspace_id"] == tenant.id
    assert [one["id"] for one in (await client.list_workspaces())["data"]] == [tenant.id]
    for id in (second["id"], other_tenant.id):
        with pytest.raises(Exception, match="not_found"):
            await client.get_workspace(id=id)
    with pytest.raises(Exception, match="insufficient_scope"):
        await client.list_customers()
    with pytest.raises(Exception, match="not_permitted"):
        await client.create_workspace(data={"name": "Third", "slug": f"w-{uuid4().hex}"})


async def test_a_token_of_a_user_reaches_all_their_workspaces_and_makes_new_ones(
    application, surface, tenant
):
    token = await application.tokens(tenant, sub_type="user", scope="workspaces:write")
    client = surface.with_token(token["access_token"])
    made = await client.create_workspace(data={"name": "Second", "slug": f"w-{uuid4().hex}"})
    assert [one["id"] for one in (await client.list_workspaces())["data"]] == [tenant.id, made["id"]]
    assert (await client.get_viewer())["workspace"] is None


async def test_the_id_token_names_the_user_and_the_workspace(gateway, application, tenant):
    with span() as asking:
        token = await application.tokens(tenant, scope="openid email profile", nonce="the nonce")
    claims = await claims_of(gateway, token["id_token"])
    assert claims["iss"] == ISSUER
    assert claims["aud"] == application.client_id
    assert claims["sub"] == tenant.user_id
    assert claims["nonce"] == "the nonce"
    assert claims["exp"] - claims["iat"] == 3600
    assert int(asking.begin.timestamp()) <= claims["auth_time"] <= asking.end.timestamp()
    assert (claims["email"], claims["email_verified"]) == (tenant.user_email, True)
    assert claims["name"] == "Ada"
    assert claims["workspace"] == {"id": tenant.id, "slug": tenant.slug, "name": "Acme"}
    assert claims["at_hash"]


async def test_the_id_token_tells_no_more_than_was_granted(gateway, confidential, tenant):
    token = await confidential.tokens(tenant, scope="openid", sub_type="user")
    claims = await claims_of(gateway, token["id_token"])
    assert claims.keys().isdisjoint({"email", "email_verified", "name", "workspace", "nonce"})
    assert "id_token" not in await confidential.tokens(tenant, scope="shares:read")


async def test_tokens_that_an_old_key_signed_can_be_checked_after_a_rotation(gateway, confidential, tenant):
    before = await confidential.tokens(tenant)
    await rotate(gateway.database, SECRET.encode())
    after = await confidential.tokens(tenant)
    for token in (before, after):
        assert (await claims_of(gateway, token["id_token"]))["sub"] == tenant.user_id


async def test_a_process_opens_the_key_that_signs_once(confidential, tenant, monkeypatch):
    """Each opening holds the event loop for as long as some fifty other requests take."""
    await confidential.tokens(tenant)
    # Replaced because nothing else shows that the key is not read again.
    monkeypatch.setattr(RSAKey, "import_key", None)
    assert (await confidential.tokens(tenant))["id_token"]


async def test_a_process_never_opens_the_key_that_it_made(gateway, confidential, tenant, monkeypatch):
    await rotate(gateway.database, SECRET.encode())
    monkeypatch.setattr(RSAKey, "import_key", None)
    assert (await confidential.tokens(tenant))["id_token"]


async def test_a_client_may_prove_itself_in_the_header(gateway, confidential, tenant):
    basic = b64encode(f"{confidential.client_id}:{confidential.secret}".encode()).decode()
    form = {
        "grant_type": "authorization_code",
        "code": await confidential.code(tenant),
        "redirect_uri": confidential.redirect_uri,
    }
    answer = await confidential.post("token", form, Authorization=f"Basic {basic}")
    assert answer.status_code == 200, answer.text


async def test_a_confidential_client_may_use_pkce_too(confidential, public, tenant):
    challenge = public.query()["code_challenge"]
    code = await confidential.code(tenant, code_challenge=challenge, code_challenge_method="S256")
    assert (await confidential.exchange(code, code_verifier=VERIFIER)).status_code == 200


async def test_a_confidential_client_keeps_its_refresh_token(confidential, tenant):
    token = await confidential.tokens(tenant)
    first = (await confidential.refresh(token["refresh_token"])).json()
    second = (await confidential.refresh(token["refresh_token"])).json()
    assert first["refresh_token"] == second["refresh_token"] == token["refresh_token"]
    assert len({token["access_token"], first["access_token"], second["access_token"]}) == 3
    assert "id_token" not in first
    for access_token in (token["access_token"], first["access_token"], second["access_token"]):
        assert await confidential.reach(access_token) == 200


async def test_a_public_clients_refresh_token_is_replaced_on_each_use(public, tenant):
    token = await public.tokens(tenant)
    first = (await public.refresh(token["refresh_token"])).json()
    second = (await public.refresh(first["refresh_token"])).json()
    assert len({token["refresh_token"], first["refresh_token"], second["refresh_token"]}) == 3
    assert await public.reach(second["access_token"]) == 200


async def test_a_refresh_token_ends_sixty_days_after_its_last_use(confidential, tenant):
    token = await confidential.tokens(tenant)
    await confidential.age(token["refresh_token"], timedelta(days=59))
    assert (await confidential.refresh(token["refresh_token"])).status_code == 200
    await confidential.age(token["refresh_token"], timedelta(days=59))
    assert (await confidential.refresh(token["refresh_token"])).status_code == 200
    await confidential.age(token["refresh_token"], timedelta(days=60))
    assert error_of(await confidential.refresh(token["refresh_token"])) == (400, "invalid_grant")


async def test_a_refresh_may_ask_for_less_and_never_for_more(application, surface, tenant):
    token = await application.tokens(tenant, scope="shares:read files:read")
    less = (await application.refresh(token["refresh_token"], scope="files:read")).json()
    assert less["scope"] == "files:read"
    assert (await surface.with_token(less["access_token"]).get_viewer())["scopes"] == ["files:read"]
    again = (await application.refresh(less["refresh_token"])).json()
    assert again["scope"] == "files:read shares:read"
    more = await application.refresh(again["refresh_token"], scope="files:read customers:read")
    assert error_of(more) == (400, "invalid_scope")


async def test_two_refreshes_of_a_confidential_client_at_once_both_succeed(confidential, tenant):
    token = await confidential.tokens(tenant)
    answers = await asyncio.gather(*(confidential.refresh(token["refresh_token"]) for _ in range(2)))
    assert [answer.status_code for answer in answers] == [200, 200]
    for answer in answers:
        assert await confidential.reach(answer.json()["access_token"]) == 200


async def test_two_exchanges_of_a_code_at_once_leave_nothing(application, tenant):
    code = await application.code(tenant)
    answers = await asyncio.gather(*(application.exchange(code) for _ in range(2)))
    assert sorted(answer.status_code for answer in answers) == [200, 400]
    given = next(answer.json() for answer in answers if answer.status_code == 200)
    assert await application.reach(given["access_token"]) == 401


async def test_tokens_end_when_their_user_leaves_the_workspace(application, gateway, caller, tenant):
    other = await make_tenant(gateway)
    owner, guest = caller(tenant.personal_token), caller(other.personal_token)

    async def join():
        invited = await owner.invite_workspace_member(data={"email": other.user_email})
        return await guest.accept_workspace_invitation(id=invited["id"])

    member = await join()
    token = await application.tokens(other, workspace=tenant.id)
    mine = await application.tokens(other)
    waiting = await application.code(other, workspace=tenant.id)
    assert await application.reach(token["access_token"]) == 200

    await owner.remove_workspace_member(id=member["id"])
    assert await application.reach(token["access_token"]) == 401
    assert error_of(await application.refresh(token["refresh_token"])) == (400, "invalid_grant")
    assert error_of(await application.exchange(waiting)) == (400, "invalid_grant")
    assert await application.reach(mine["access_token"]) == 200
    await join()
    assert await application.reach(token["access_token"]) == 401


async def test_everything_of_a_deleted_client_ends(gateway, caller, tenant):
    application = await make_application(gateway, owner=UUID(tenant.id))
    token, waiting = await application.tokens(tenant), await application.code(tenant)
    await caller(tenant.token).delete_oauth_client(id=str(application.id))
    assert await application.reach(token["access_token"]) == 401
    assert error_of(await application.refresh(token["refresh_token"]))[1] == "invalid_client"
    assert error_of(await application.exchange(waiting))[1] == "invalid_client"
    assert (await caller(tenant.personal_token).list_authorized_applications())["data"] == []


async def test_a_new_secret_counts_at_once_and_the_old_one_no_more(gateway, caller, tenant):
    application = await make_application(gateway, owner=UUID(tenant.id))
    code = await application.code(tenant)
    rotated = await caller(tenant.token).rotate_oauth_client_secret(id=str(application.id))
    assert error_of(await application.exchange(code)) == (401, "invalid_client")
    answer = await application.exchange(code, client_secret=rotated["client_secret"])
    assert answer.status_code == 200


async def test_scopes_that_a_client_loses_are_gone_with_its_next_refresh(gateway, caller, tenant):
    application = await make_application(gateway, owner=UUID(tenant.id))
    token = await application.tokens(tenant, scope="shares:read files:read")
    await caller(tenant.token).update_oauth_client(id=str(application.id), data={"scopes": ["files:read"]})
    assert (await application.refresh(token["refresh_token"])).json()["scope"] == "files:read"
    await caller(tenant.token).update_oauth_client(id=str(application.id), data={"scopes": ["openid"]})
    assert error_of(await application.refresh(token["refresh_token"])) == (400, "invalid_scope")


async def test_what_a_user_takes_back_ends_at_once_and_nothing_else(application, caller, tenant):
    user = caller(tenant.personal_token)
    token = await application.tokens(tenant)
    of_user = await application.tokens(tenant, sub_type="user", scope="shares:read")
    first, second = (await user.list_authorized_applications())["data"]
    assert (first["workspace_id"], second["workspace_id"]) == (tenant.id, None)
    assert (first["name"], first["client_id"]) == ("Bookkeeper", application.client_id)
    assert (first["scopes"], second["scopes"]) == (["openid", "shares:write"], ["shares:read"])

    await user.revoke_authorized_application(id=first["id"])
    assert await application.reach(token["access_token"]) == 401
    assert error_of(await application.refresh(token["refresh_token"])) == (400, "invalid_grant")
    assert await application.reach(of_user["access_token"]) == 200
    assert (await user.list_authorized_applications())["data"] == [second]
