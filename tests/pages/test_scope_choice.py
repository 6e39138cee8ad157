"""Scopes are chosen by noun, in every form that gives access, also without JavaScript."""

import pytest

from oauth.scopes import CLIENT_SCOPES, USER_SCOPES, WORKSPACE_SCOPES


async def scopes_of_token(owner, api, path, **choice):
    await owner.open(path)
    made = await owner.press("Create token", comment="Chosen", **choice)
    assert made.status_code == 201
    kind = "personal" if path.startswith("/account") else "workspace"
    listing = await getattr(api, f"list_{kind}_access_tokens")()
    (token,) = (token for token in listing["data"] if token["comment"] == "Chosen")
    return set(token["scopes"])


def path_of_tokens(tenant, *, is_personal):
    return "/account/personal-access-tokens" if is_personal else f"/workspaces/{tenant.slug}/access-tokens"


@pytest.mark.parametrize("is_personal", [False, True])
async def test_a_token_gets_what_is_chosen_for_each_noun(owner, api, tenant, is_personal):
    path = path_of_tokens(tenant, is_personal=is_personal)
    choice = {"scopes.shares": "shares:write", "scopes.metrics": "metrics:read"}
    scopes = await scopes_of_token(owner, api, path, **choice)
    assert scopes == {"shares:read", "shares:write", "metrics:read"}


@pytest.mark.parametrize("is_personal", [False, True])
async def test_the_preset_everything_gives_every_scope_of_the_kind(owner, api, tenant, is_personal):
    path = path_of_tokens(tenant, is_personal=is_personal)
    scopes = await scopes_of_token(owner, api, path, access="everything")
    assert scopes == {scope.value for scope in (USER_SCOPES if is_personal else WORKSPACE_SCOPES)}


async def test_the_preset_to_read_writes_nothing(owner, api, tenant):
    scopes = await scopes_of_token(owner, api, path_of_tokens(tenant, is_personal=True), access="read")
    assert scopes == {scope.value for scope in USER_SCOPES if not scope.writes}


async def test_nouns_of_one_side_offer_only_this_side(owner, tenant):
    await owner.open("/account/personal-access-tokens")
    page = owner.page.text
    for scope in ("user:read", "metrics:read", "customer_sessions:write", "workspace_members:write"):
        assert f'value="{scope}"' in page
    for scope in ("user:write", "metrics:write", "customer_sessions:read", "customer_portal:read"):
        assert f'value="{scope}"' not in page
    for scope in ("openid", "profile", "email"):
        assert f'name="scopes" value="{scope}"' in page


async def test_a_refused_form_keeps_the_choice(owner, tenant):
    await owner.open(path_of_tokens(tenant, is_personal=False))
    choice = {"scopes.files": "files:read", "scopes.shares": "shares:write"}
    assert (await owner.press("Create token", comment="", **choice)).status_code == 422
    fields = dict(owner.form("Create token").fields)
    assert (fields["scopes.files"], fields["scopes.shares"]) == ("files:read", "shares:write")
    assert (await owner.press("Create token", comment="", access="everything")).status_code == 422
    assert dict(owner.form("Create token").fields)["access"] == "everything"


async def test_a_scope_that_the_form_does_not_offer_is_refused(owner, tenant):
    await owner.open(path_of_tokens(tenant, is_personal=False))
    choice = {"scopes.shares": "customer_portal:write"}
    assert (await owner.press("Create token", comment="Forged", **choice)).status_code == 422
    assert 'href="#scopes"' in owner.page.text


async def test_an_application_shows_its_scopes_and_keeps_the_others(owner, api, tenant):
    await owner.open(f"/workspaces/{tenant.slug}/oauth-clients")
    choice = {"scopes.shares": "shares:write", "redirect_uris": "https://reader.example/back"}
    await owner.press("Create application", name="Reader", **choice)
    (client,) = (await api.list_oauth_clients(workspace_id=[tenant.id]))["data"]
    # Applications name scopes one by one, so both are listed.
    assert set(client["scopes"]) == {"openid", "email", "shares:read", "shares:write"}
    await owner.open(f"/workspaces/{tenant.slug}/oauth-clients/{client['id']}")
    fields = owner.form("Save application").fields
    assert {("scopes.shares", "shares:write"), ("scopes", "openid"), ("scopes", "email")} <= set(fields)
    assert dict(fields)["scopes.customers"] == ""
    await owner.press("Save application", **{"scopes.shares": "shares:read", "scopes": ["openid"]})
    changed = await api.get_oauth_client(id=client["id"])
    assert set(changed["scopes"]) == {"openid", "shares:read"}
    await owner.press("Save application", access="everything")
    changed = await api.get_oauth_client(id=client["id"])
    assert set(changed["scopes"]) == {scope.value for scope in CLIENT_SCOPES}
