"""The settings pages: they do what the other surfaces do, in forms, for the signed-in user."""

import re
from uuid import uuid4

import pytest

from tests.support.browsers.browsing import PASSWORD, browsing, sign_in_was_hours_ago, signed_in
from tests.support.tenants.membership import make_member

DELETE_WORKSPACE = "Delete this workspace"
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}
TOKEN = re.compile(r"dg_[a-z]+_[0-9A-Za-z]{36}")


async def test_settings_are_shown_as_they_are_and_saved(owner, api, tenant):
    path = f"/workspaces/{tenant.slug}"
    await owner.open(path)
    shown = dict(owner.form("Save settings").fields)
    assert shown["name"] == "Acme"
    assert "feature_settings.analytics_compare" not in shown
    assert shown["notification_settings.new_payment"] == "on"
    changes = {"website": "https://acme.example", "feature_settings__analytics_compare": "on"}
    await owner.press("Save settings", name="Acme & Sons", notification_settings__new_payment=None, **changes)
    assert "Settings saved." in owner.text
    saved = await api.get_workspace(id=tenant.id)
    assert (saved["name"], saved["website"], saved["email"]) == ("Acme & Sons", "https://acme.example", None)
    assert saved["feature_settings"]["analytics_compare"] is True
    assert saved["feature_settings"]["member_model_enabled"] is False
    assert saved["notification_settings"]["new_payment"] is False
    assert saved["customer_portal_settings"]["usage"]["show"] is True
    assert dict(owner.form("Save settings").fields)["name"] == "Acme & Sons"


async def test_the_page_offers_no_setting_without_an_effect_and_keeps_its_value(owner, api, tenant):
    without_effect = {"seat_based_pricing_enabled": True, "analytics_read": True}
    await api.update_workspace(id=tenant.id, data={"feature_settings": without_effect})
    await owner.open(f"/workspaces/{tenant.slug}")
    for name in without_effect:
        assert name not in owner.page.text
    await owner.press("Save settings", feature_settings__member_model_enabled="on")
    saved = (await api.get_workspace(id=tenant.id))["feature_settings"]
    assert saved == {**without_effect, "member_model_enabled": True, "analytics_compare": False}


async def test_errors_are_shown_beside_each_field_and_no_input_is_lost(owner, api, tenant):
    await owner.open(f"/workspaces/{tenant.slug}")
    answer = await owner.press("Save settings", name="<A", website="javascript:alert(1)")
    assert answer.status_code == 422
    assert '<a href="#name">' in answer.text
    assert 'id="website-error"' in answer.text
    assert dict(owner.form("Save settings").fields)["website"] == "javascript:alert(1)"
    assert "<A" not in answer.text
    assert (await api.get_workspace(id=tenant.id))["name"] == "Acme"


async def test_settings_that_two_change_at_once_are_merged(owner, api, tenant):
    """Only what both changed is asked about, and saving again decides."""
    await owner.open(f"/workspaces/{tenant.slug}")
    theirs = {"website": "https://their.example/", "name": "Theirs"}
    switched = {"notification_settings": {"new_payment": False}}
    await api.update_workspace(id=tenant.id, data={**theirs, **switched})
    answer = await owner.press("Save settings", name="Mine", email="mine@example.com")
    assert answer.status_code == 409
    words = "Someone else has changed this in the meantime. It is now Theirs: save again to use yours instead"
    assert f"Name: {words}" in owner.text
    assert "Website (optional): Somebody" not in owner.text
    assert (await api.get_workspace(id=tenant.id))["email"] is None
    await owner.press("Save settings")
    saved = await api.get_workspace(id=tenant.id)
    assert [saved[name] for name in ("name", "email", "website")] == [
        *("Mine", "mine@example.com", "https://their.example/")
    ]
    assert saved["notification_settings"]["new_payment"] is False


async def test_errors_use_the_words_of_the_page(owner, tenant):
    await owner.open(f"/workspaces/{tenant.slug}")
    await owner.press("Save settings", name="A", website="nowhere")
    assert "Name: Enter at least 3 characters" in owner.text
    assert "Website: Enter an address that begins with https:// or http://" in owner.text
    await owner.open("/workspaces")
    await owner.press("Create workspace", name="", slug="Not a slug")
    assert "Slug: Use lowercase letters a to z and digits, in words joined by hyphens" in owner.text
    await owner.open(f"/workspaces/{tenant.slug}/access-tokens")
    await owner.press("Create token", comment="", scopes=[])
    assert "Token name: Enter a value" in owner.text
    assert "Scopes: Choose at least one" in owner.text


async def test_an_address_without_a_page_is_a_page_for_browsers_and_json_for_programs(gateway):
    page = await gateway.client.get("/nothing/at/all", headers={"Accept": "text/html,*/*;q=0.8"})
    assert (page.status_code, page.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "<h1>Page not found</h1>" in page.text
    assert "/nothing/at/all" in page.text
    sent_only = await gateway.client.get("/sign-out", headers={"Accept": "text/html"})
    assert (sent_only.status_code, sent_only.headers["Allow"]) == (405, "POST")
    for path, accepted in (("/nothing/at/all", "*/*"), ("/api/nothing", "text/html")):
        answer = await gateway.client.get(path, headers={"Accept": accepted})
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


async def test_a_slug_that_is_taken_or_reserved_is_refused(owner, tenant):
    for slug, message in ((tenant.slug, "already"), ("account", "reserved"), ("sign-in", "reserved")):
        await owner.open("/workspaces")
        answer = await owner.press("Create workspace", name="Another", slug=slug)
        assert answer.status_code == 422
        assert message in owner.text


async def test_a_workspace_is_deleted_by_typing_its_slug(owner, api, tenant):
    path = f"/workspaces/{tenant.slug}"
    await owner.open(path)
    assert (await owner.press(DELETE_WORKSPACE, slug="acme")).status_code == 422
    assert f"Type {tenant.slug} to confirm: This is not the slug of the workspace" in owner.text
    assert (await api.get_workspace(id=tenant.id))["name"] == "Acme"
    await owner.press(DELETE_WORKSPACE, slug=f" {tenant.slug.upper()} ")
    assert (owner.path, "Acme is deleted." in owner.text) == ("/workspaces", True)
    assert (await owner.open(path)).status_code == 404
    assert (await api.list_workspaces())["data"] == []


async def test_a_deletion_asks_for_the_password_long_after_the_sign_in(gateway, owner, api, tenant):
    await sign_in_was_hours_ago(gateway, tenant)
    await owner.open(f"/workspaces/{tenant.slug}")
    assert (await owner.press(DELETE_WORKSPACE, slug=tenant.slug)).status_code == 403
    assert (await api.get_workspace(id=tenant.id))["name"] == "Acme"
    await owner.press("Continue", confirmed_password=PASSWORD)
    assert "Acme is deleted." in owner.text


async def test_only_owners_are_offered_to_delete_a_workspace(gateway, api, tenant):
    member = await make_member(gateway, tenant)
    path = f"/workspaces/{tenant.slug}"
    async with signed_in(gateway, member) as owner:
        await owner.open(path)
        assert "Only an owner can delete the workspace." in owner.text
        token = dict(owner.form("Save settings").fields)["form_token"]
        answer = await owner.send(f"{path}/delete", [("slug", tenant.slug), ("form_token", token)])
        assert answer.status_code == 403
    assert (await api.get_workspace(id=tenant.id))["name"] == "Acme"


async def test_members_are_invited_and_removed(owner, api, tenant):
    await owner.open(f"/workspaces/{tenant.slug}/members")
    invited = f"{uuid4().hex}@example.com"
    await owner.press("Invite", email=invited)
    assert f"Invited {invited}. The invitation expires in 7 days." in owner.text
    await owner.press("Resend invitation")
    assert f"Invited {invited}. The invitation expires in 7 days." in owner.text
    await owner.press("Invite", email=tenant.user_email)
    assert "is already a member" in owner.text
    await owner.open(f"/workspaces/{tenant.slug}/members")
    await owner.press("Withdraw invitation")
    assert f"{invited} is no longer invited." in owner.text
    assert [member["email"] for member in (await api.list_workspace_members())["data"]] == [tenant.user_email]
    (leave,) = (link for link in owner.reading.links if link.endswith("/remove"))
    await owner.open(leave)
    answer = await owner.press("Leave workspace")
    assert answer.status_code == 422
    assert "This is the last owner of the workspace" in owner.text


@pytest.mark.parametrize("is_personal", [False, True])
async def test_a_token_is_made_shown_once_used_and_revoked(owner, api, gateway, tenant, is_personal):
    path = "/account/personal-access-tokens" if is_personal else f"/workspaces/{tenant.slug}/access-tokens"
    await owner.open(path)
    form = owner.form("Create token")
    made = await owner.press("Create token", comment="For curl", scopes=["shares:read"])
    assert made.status_code == 201
    (token,) = set(TOKEN.findall(owner.text))
    headers = {"Authorization": f"Bearer {token}"}
    assert (await gateway.client.get("/api/shares/", headers=headers)).status_code == 200
    assert (await gateway.client.get("/api/customers/", headers=headers)).status_code == 403
    await owner.open(path)
    assert "For curl" in owner.text
    assert token not in owner.page.text
    # Reloading the page that showed it sends the form again: the same token, and no second one.
    sent = [pair for pair in form.fields if pair[0] != "comment"]
    await owner.send(form.action, [*sent, ("comment", "For curl"), ("scopes", "shares:read")])
    assert set(TOKEN.findall(owner.text)) == {token}
    kind = "personal" if is_personal else "workspace"
    tokens = (await getattr(api, f"list_{kind}_access_tokens")())["data"]
    (listed,) = (kept for kept in tokens if kept["comment"] == "For curl")
    (revoke,) = (form for form in owner.reading.forms if f"/{listed['id']}/" in form.action)
    await owner.send(revoke.action, revoke.fields)
    assert "Token revoked" in owner.text
    assert (await gateway.client.get("/api/shares/", headers=headers)).status_code == 401


async def test_a_token_lives_as_long_as_was_chosen(owner, api, tenant):
    await owner.open("/account/personal-access-tokens")
    assert dict(owner.form("Create token").fields)["expires_in"] == "2592000"
    await owner.press("Create token", comment="For ever", scopes__shares="shares:read", expires_in="")
    await owner.press("Create token", comment="Forged", scopes__shares="shares:read", expires_in="soon")
    assert owner.page.status_code == 422
    await owner.press("Create token", comment="No scopes", scopes__shares="")
    assert 'href="#scopes"' in owner.page.text
    assert 'value="No scopes"' in owner.page.text
    tokens = (await api.list_personal_access_tokens())["data"]
    assert [token["expires_at"] for token in tokens if token["comment"] == "For ever"] == [None]


async def test_an_oauth_application_is_made_changed_given_a_new_secret_and_deleted(owner, api, tenant):
    await owner.open(f"/workspaces/{tenant.slug}/oauth-clients")
    uris = "https://reader.example/back\r\nhttp://127.0.0.1/back"
    await owner.press("Create application", name="Reader", redirect_uris=uris)
    (secret,) = set(TOKEN.findall(owner.text))
    (client,) = (await api.list_oauth_clients(workspace_id=[tenant.id]))["data"]
    assert client["redirect_uris"] == uris.split()
    path = f"/workspaces/{tenant.slug}/oauth-clients/{client['id']}"
    await owner.open(path)
    assert client["client_id"] in owner.text
    assert secret not in owner.page.text
    await owner.press("Save application", redirect_uris="http://reader.example/")
    assert owner.page.status_code == 422
    assert 'href="#redirect_uris"' in owner.page.text
    # Meanwhile somebody else changes what this form does not.
    await api.update_oauth_client(
        id=client["id"], data={"name": "Theirs", "scopes": ["shares:read", "openid"]}
    )
    await owner.press("Save application", redirect_uris="https://reader.example/other")
    assert "Application saved." in owner.text
    changed = await api.get_oauth_client(id=client["id"])
    assert (changed["name"], sorted(changed["scopes"])) == ("Theirs", ["openid", "shares:read"])
    assert (await api.get_oauth_client(id=client["id"]))["redirect_uris"] == ["https://reader.example/other"]
    await owner.press("Create new secret")
    (another,) = set(TOKEN.findall(owner.text))
    assert another != secret
    await owner.press("Delete application")
    assert "is deleted" in owner.text
    assert (await owner.open(path)).status_code == 404


async def test_a_new_password_counts_at_once_and_signs_other_browsers_out(gateway, owner, tenant):
    new = "another long password"
    async with signed_in(gateway, tenant) as other:
        await owner.open("/account")
        answer = await owner.press("Change password", current_password="wrong", new_password=new)
        assert answer.status_code == 422
        assert "This is not your current password" in owner.text
        await owner.press("Change password", current_password=PASSWORD, new_password=new)
        assert "Password changed" in owner.text
        await other.open("/account")
        assert other.path.startswith("/sign-in")
        assert (await other.sign_in(tenant.user_email, PASSWORD)).status_code == 422
        assert (await other.sign_in(tenant.user_email, new)).status_code == 200


async def test_another_browser_is_signed_out_from_here(gateway, owner, tenant):
    async with signed_in(gateway, tenant) as other:
        await owner.open("/account/browser-sessions")
        assert "(this one)" in owner.text
        (form,) = (form for form in owner.reading.forms if form.action.endswith("/end"))
        await owner.send(form.action, form.fields)
        assert "Browser signed out." in owner.text
        await other.open("/account")
        assert other.path.startswith("/sign-in")
    await owner.open("/account")
    assert owner.path == "/account"


PLACES = ["", "/members", "/access-tokens", "/oauth-clients"]


@pytest.mark.parametrize("place", PLACES)
async def test_the_pages_of_another_workspace_do_not_exist(owner, other_tenant, place):
    path = f"/workspaces/{other_tenant.slug}{place}"
    assert (await owner.open(path)).status_code == 404
    assert "Acme" not in owner.text
    await owner.open("/account")
    forms = [form for form in owner.reading.forms if form.action != "/language"]
    (token,) = {value for form in forms for name, value in form.fields if name == "form_token"}
    assert (await owner.send(path, [("form_token", token), ("name", "Mine now")])).status_code == 404


ACCOUNT = ["", "/personal-access-tokens", "/authorized-applications", "/browser-sessions"]


@pytest.mark.parametrize(
    "path", [*(f"/workspaces/x{place}" for place in PLACES), *(f"/account{p}" for p in ACCOUNT)]
)
async def test_a_signed_out_browser_sees_no_settings(gateway, path):
    async with browsing(gateway) as visitor:
        await visitor.open(path)
        assert visitor.path.startswith("/sign-in?next=")
        answer = await visitor.send(path, [("form_token", "x")], follow=False)
        assert answer.status_code == 405 or answer.headers["location"].startswith("/sign-in")


async def test_the_same_operations_count_against_the_same_budget(gateway, owner, tenant):
    answer = await owner.client.get("/account/browser-sessions")
    assert answer.headers["ratelimit-cost"] == "1"
