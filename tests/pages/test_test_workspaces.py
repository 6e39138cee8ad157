"""Test workspaces on pages: made on the settings page, marked on every page, deleted."""

from tests.support.browsers.portal_pages import come_in

MARK = "Test workspace. It emails its own members only."


async def test_a_copy_is_made_on_the_settings_page_and_marked_everywhere(owner, api, rest, tenant):
    await rest.create_share(data={"name": "Field guide", "prices": [{"amount_type": "free"}]})
    await rest.create_customer(data={"email": "ada@example.com", "name": "Ada"})
    await owner.open(f"/workspaces/{tenant.slug}")
    assert MARK not in owner.text
    await owner.press("Make a test workspace", include_history="on")
    assert "Acme (test) is ready." in owner.text
    assert MARK in owner.text
    (copy,) = [each for each in (await api.list_workspaces())["data"] if each.get("is_test")]
    for path in ("shares", "customers", "sessions", "payments", "events", "files", "search"):
        await owner.open(f"/{copy['slug']}/{path}")
        assert MARK in owner.text
        assert " \N{EN DASH} Test \N{EN DASH} Duograph</title>" in owner.page.text
    for path in ("", "/members", "/access-tokens", "/oauth-clients", "/webhooks", "/usage"):
        await owner.open(f"/workspaces/{copy['slug']}{path}")
        assert MARK in owner.text
    await owner.open(f"/{copy['slug']}/shares")
    assert "Field guide" in owner.text
    await owner.open(f"/{copy['slug']}/customers")
    assert "customer-1@example.invalid" in owner.text
    await owner.open("/workspaces")
    assert "Acme (test) Test" in owner.text
    await owner.open(f"/{tenant.slug}/shares")
    assert MARK not in owner.text


async def test_the_portal_of_a_copy_is_marked(browser, api, tenant):
    copy = await api.copy_workspace(id=tenant.id, data={})
    await browser.open(f"/{copy['slug']}/portal")
    assert "Test workspace. Nothing here is for sale." in browser.text
    customer = await api.create_customer(data={"email": "ada@example.com", "workspace_id": copy["id"]})
    await come_in(browser, api, customer)
    assert "Test workspace. Nothing here is for sale." in browser.text
    await browser.open(f"/{tenant.slug}/portal")
    assert "Test workspace" not in browser.text
