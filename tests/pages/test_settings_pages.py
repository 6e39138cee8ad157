"""The settings pages: they do what the other surfaces do, in forms, for the signed-in user."""

import re
from types import SimpleNamespace
from uuid import uuid4

import pytest

from tests.support.browsing import PASSWORD, browsing, sign_in_was_hours_ago, signed_in
from tests.support.membership import make_member

DELETE_WORKSPACE = "Delete this workspace"
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}
TOKEN = re.compile(r"dg_[a-z]+_[0-9A-Za-z]{36}")


@pytest.fixture
def browser(signed_in_browser):
    return signed_in_browser


async def test_settings_are_shown_as_they_are_and_saved(browser, api, tenant):
    path = f"/workspaces/{tenant.slug}"
    await browser.open(path)
    shown = dict(browser.form("Save settings").fields)
    assert shown["name"] == "Acme"
    assert "feature_settings.analytics_compare" not in shown
    assert shown["notification_settings.new_payment"] == "on"
    changes = {"website": "https://acme.example", "feature_settings__analytics_compare": "on"}
    await browser.press(
        "Save settings", name="Acme & Sons", notification_settings__new_payment=None, **changes
    )
    assert "Settings saved." in browser.text
    saved = await api.get_workspace(id=tenant.id)
    assert (saved["name"], saved["website"], saved["email"]) == ("Acme & Sons", "https://acme.example", None)
    assert saved["feature_settings"]["analytics_compare"] is True
    assert saved["feature_settings"]["member_model_enabled"] is False
    assert saved["notification_settings"]["new_payment"] is False
    assert saved["customer_portal_settings"]["usage"]["show"] is True
    assert dict(browser.form("Save settings").fields)["name"] == "Acme & Sons"


async def test_the_page_offers_no_setting_without_an_effect_and_keeps_its_value(browser, api, tenant):
    without_effect = {"seat_based_pricing_enabled": True, "analytics_read": True}
    await api.update_workspace(id=tenant.id, data={"feature_settings": without_effect})
    await browser.open(f"/workspaces/{tenant.slug}")
    for name in without_effect:
        assert name not in browser.page.text
    await browser.press("Save settings", feature_settings__member_model_enabled="on")
    saved = (await api.get_workspace(id=tenant.id))["feature_settings"]
    assert saved == {**without_effect, "member_model_enabled": True, "analytics_compare": False}


async def test_errors_are_shown_beside_each_field_and_no_input_is_lost(browser, api, tenant):
    await browser.open(f"/workspaces/{tenant.slug}")
    answer = await browser.press("Save settings", name="<A", website="javascript:alert(1)")
    assert answer.status_code == 422
    assert '<a href="#name">' in answer.text
    assert 'id="website-error"' in answer.text
    assert dict(browser.form("Save settings").fields)["website"] == "javascript:alert(1)"
    assert "<A" not in answer.text
    assert (await api.get_workspace(id=tenant.id))["name"] == "Acme"


async def test_errors_use_the_words_of_the_page(browser, tenant):
    await browser.open(f"/workspaces/{tenant.slug}")
    await browser.press("Save settings", name="A", website="nowhere")
    assert "Name: Enter at least 3 characters" in browser.text
    assert "Website: Enter an address that begins with https:// or http://" in browser.text
    await browser.open("/workspaces")
    await browser.press("Create workspace", name="", slug="Not a slug")
    assert "Slug: Use lowercase letters a to z and digits, in words joined by hyphens" in browser.text
    await browser.open(f"/workspaces/{tenant.slug}/access-tokens")
    await browser.press("Create token", comment="", scopes=[])
    assert "Comment: Enter a value" in browser.text
    assert "Scopes: Choose at least one" in browser.text


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


async def test_a_slug_that_is_taken_or_reserved_is_refused(browser, tenant):
    for slug, message in ((tenant.slug, "already"), ("account", "reserved"), ("sign-in", "reserved")):
        await browser.open("/workspaces")
        answer = await browser.press("Create workspace", name="Another", slug=slug)
        assert answer.status_code == 422
        assert message in browser.text


async def test_a_workspace_is_deleted_by_typing_its_slug(browser, api, tenant):
    path = f"/workspaces/{tenant.slug}"
    await browser.open(path)
    assert (await browser.press(DELETE_WORKSPACE, slug="acme")).status_code == 422
    assert f"Type {tenant.slug} to confirm: This is not the slug of the workspace" in browser.text
    assert (await api.get_workspace(id=tenant.id))["name"] == "Acme"
    await browser.press(DELETE_WORKSPACE, slug=f" {tenant.slug.upper()} ")
    assert (browser.path, "Acme is deleted." in browser.text) == ("/workspaces", True)
    assert (await browser.open(path)).status_code == 404
    assert (await api.list_workspaces())["data"] == []


async def test_a_deletion_asks_for_the_password_long_after_the_sign_in(gateway, browser, api, tenant):
    await sign_in_was_hours_ago(gateway, tenant)
    await browser.open(f"/workspaces/{tenant.slug}")
    assert (await browser.press(DELETE_WORKSPACE, slug=tenant.slug)).status_code == 403
    assert (await api.get_workspace(id=tenant.id))["name"] == "Acme"
    await browser.press("Continue", confirmed_password=PASSWORD)
    assert "Acme is deleted." in browser.text


async def test_only_owners_are_offered_to_delete_a_workspace(gateway, api, tenant):
    member = await make_member(gateway, tenant)
    path = f"/workspaces/{tenant.slug}"
    async with signed_in(gateway, SimpleNamespace(user_id=member.id)) as browser:
        await browser.open(path)
        assert "Only an owner can delete the workspace." in browser.text
        token = dict(browser.form("Save settings").fields)["form_token"]
        answer = await browser.send(f"{path}/delete", [("slug", tenant.slug), ("form_token", token)])
        assert answer.status_code == 403
    assert (await api.get_workspace(id=tenant.id))["name"] == "Acme"


async def test_members_are_invited_and_removed(browser, api, tenant):
    await browser.open(f"/workspaces/{tenant.slug}/members")
    invited = f"{uuid4().hex}@example.com"
    await browser.press("Invite", email=invited)
    assert f"Invited {invited}. The invitation expires in 7 days." in browser.text
    await browser.press("Resend invitation")
    assert f"Invited {invited}. The invitation expires in 7 days." in browser.text
    await browser.press("Invite", email=tenant.user_email)
    assert "is already a member" in browser.text
    await browser.open(f"/workspaces/{tenant.slug}/members")
    await browser.press("Withdraw invitation")
    assert f"{invited} is no longer invited." in browser.text
    assert [member["email"] for member in (await api.list_workspace_members())["data"]] == [tenant.user_email]
    (leave,) = (link for link in browser.reading.links if link.endswith("/remove"))
    await browser.open(leave)
    answer = await browser.press("Leave workspace")
    assert answer.status_code == 422
    assert "This is the last owner of the workspace" in browser.text


@pytest.mark.parametrize("is_personal", [False, True])
async def test_a_token_is_made_shown_once_used_and_revoked(browser, api, gateway, tenant, is_personal):
    path = "/account/personal-access-tokens" if is_personal else f"/workspaces/{tenant.slug}/access-tokens"
    await browser.open(path)
    form = browser.form("Create token")
    made = await browser.press("Create token", comment="For curl", scopes=["shares:read"])
    assert made.status_code == 201
    (token,) = set(TOKEN.findall(browser.text))
    headers = {"Authorization": f"Bearer {token}"}
    assert (await gateway.client.get("/api/shares/", headers=headers)).status_code == 200
    assert (await gateway.client.get("/api/customers/", headers=headers)).status_code == 403
    await browser.open(path)
    assert "For curl" in browser.text
    assert token not in browser.page.text
    # Reloading the page that showed it sends the form again: the same token, and no second one.
    sent = [pair for pair in form.fields if pair[0] != "comment"]
    await browser.send(form.action, [*sent, ("comment", "For curl"), ("scopes", "shares:read")])
    assert set(TOKEN.findall(browser.text)) == {token}
    kind = "personal" if is_personal else "workspace"
    tokens = (await getattr(api, f"list_{kind}_access_tokens")())["data"]
    (listed,) = (kept for kept in tokens if kept["comment"] == "For curl")
    (revoke,) = (form for form in browser.reading.forms if f"/{listed['id']}/" in form.action)
    await browser.send(revoke.action, revoke.fields)
    assert "Token revoked" in browser.text
    assert (await gateway.client.get("/api/shares/", headers=headers)).status_code == 401


async def test_a_token_lives_as_long_as_was_chosen(browser, api, tenant):
    await browser.open("/account/personal-access-tokens")
    assert dict(browser.form("Create token").fields)["expires_in"] == "2592000"
    await browser.press("Create token", comment="For ever", scopes__shares="shares:read", expires_in="")
    await browser.press("Create token", comment="Forged", scopes__shares="shares:read", expires_in="soon")
    assert browser.page.status_code == 422
    await browser.press("Create token", comment="No scopes", scopes__shares="")
    assert 'href="#scopes"' in browser.page.text
    assert 'value="No scopes"' in browser.page.text
    tokens = (await api.list_personal_access_tokens())["data"]
    assert [token["expires_at"] for token in tokens if token["comment"] == "For ever"] == [None]


async def test_an_oauth_application_is_made_changed_given_a_new_secret_and_deleted(browser, api, tenant):
    await browser.open(f"/workspaces/{tenant.slug}/oauth-clients")
    uris = "https://reader.example/back\r\nhttp://127.0.0.1/back"
    await browser.press("Create application", name="Reader", redirect_uris=uris)
    (secret,) = set(TOKEN.findall(browser.text))
    (client,) = (await api.list_oauth_clients(workspace_id=[tenant.id]))["data"]
    assert client["redirect_uris"] == uris.split()
    path = f"/workspaces/{tenant.slug}/oauth-clients/{client['id']}"
    await browser.open(path)
    assert client["client_id"] in browser.text
    assert secret not in browser.page.text
    await browser.press("Save application", redirect_uris="http://reader.example/")
    assert browser.page.status_code == 422
    assert 'href="#redirect_uris"' in browser.page.text
    await browser.press("Save application", redirect_uris="https://reader.example/other")
    assert "Application saved." in browser.text
    assert (await api.get_oauth_client(id=client["id"]))["redirect_uris"] == ["https://reader.example/other"]
    await browser.press("Create new secret")
    (another,) = set(TOKEN.findall(browser.text))
    assert another != secret
    await browser.press("Delete application")
    assert "is deleted" in browser.text
    assert (await browser.open(path)).status_code == 404


async def test_a_new_password_counts_at_once_and_signs_other_browsers_out(gateway, browser, tenant):
    new = "another long password"
    async with signed_in(gateway, tenant) as other:
        await browser.open("/account")
        answer = await browser.press("Change password", current_password="wrong", new_password=new)
        assert answer.status_code == 422
        assert "This is not your current password" in browser.text
        await browser.press("Change password", current_password=PASSWORD, new_password=new)
        assert "Password changed" in browser.text
        await other.open("/account")
        assert other.path.startswith("/sign-in")
        assert (await other.sign_in(tenant.user_email, PASSWORD)).status_code == 422
        assert (await other.sign_in(tenant.user_email, new)).status_code == 200


async def test_another_browser_is_signed_out_from_here(gateway, browser, tenant):
    async with signed_in(gateway, tenant) as other:
        await browser.open("/account/browser-sessions")
        assert "(this one)" in browser.text
        (form,) = (form for form in browser.reading.forms if form.action.endswith("/end"))
        await browser.send(form.action, form.fields)
        assert "Browser signed out." in browser.text
        await other.open("/account")
        assert other.path.startswith("/sign-in")
    await browser.open("/account")
    assert browser.path == "/account"


PLACES = ["", "/members", "/access-tokens", "/oauth-clients"]


@pytest.mark.parametrize("place", PLACES)
async def test_the_pages_of_another_workspace_do_not_exist(browser, other_tenant, place):
    path = f"/workspaces/{other_tenant.slug}{place}"
    assert (await browser.open(path)).status_code == 404
    assert "Acme" not in browser.text
    await browser.open("/account")
    (token,) = {
        value for form in browser.reading.forms for name, value in form.fields if name == "form_token"
    }
    assert (await browser.send(path, [("form_token", token), ("name", "Mine now")])).status_code == 404


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


@pytest.mark.parametrize(
    "path", [*(f"/workspaces/SLUG{place}" for place in PLACES), *(f"/account{p}" for p in ACCOUNT)]
)
async def test_every_page_has_labelled_fields_and_nothing_inline(browser, tenant, path):
    answer = await browser.open(path.replace("SLUG", tenant.slug))
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "<style" not in answer.text
    assert not re.search(r"<script(?![^>]*\ssrc=)", answer.text)
    assert not re.search(r"\s(style|on[a-z]+)=", answer.text)
    for name in re.findall(r'<(?:input|select|textarea) id="([^"]+)"', answer.text):
        assert f'<label for="{name}">' in answer.text
    described = re.findall(r'aria-(?:describedby|labelledby)="([^"]+)"', answer.text)
    for target in " ".join(described).split():
        assert f'id="{target}"' in answer.text


async def test_the_same_operations_count_against_the_same_budget(gateway, browser, tenant):
    answer = await browser.client.get("/account/browser-sessions")
    assert answer.headers["ratelimit-cost"] == "1"
