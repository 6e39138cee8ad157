"""What the portal's pages show and take, in a browser without scripts."""

from uuid import UUID, uuid4

import pytest

from storage.rows.rows import table_of, update_rows
from storage.tables.workspaces.workspaces import WorkspaceRow
from tests.support.browsers.browsing import browsing
from tests.support.browsers.portal_pages import come_in, portal_of
from tests.support.tenants.uploads import upload_image


@pytest.fixture
async def team(rest, member_model):
    made = await rest.create_customer(data={"email": f"team-{uuid4().hex}@example.com", "type": "team"})
    await rest.create_member(
        data={"customer_id": made["id"], "email": f"bo-{uuid4().hex}@example.com", "name": "Bo"}
    )
    return await rest.get_customer(id=made["id"])


async def test_the_back_button_leads_to_the_return_url(browser, rest, tenant, customer):
    await come_in(browser, rest, customer, return_url="https://shop.example/?a=b&c=d")
    assert "https://shop.example/?a=b&c=d" in browser.reading.links
    assert "Back to shop.example" in browser.text
    await come_in(browser, rest, customer)
    assert "Back to" not in browser.text


async def test_the_back_button_opens_an_app_of_the_workspace(browser, rest, tenant, customer):
    await rest.update_workspace(id=tenant.id, data={"return_url_schemes": ["myapp"]})
    await come_in(browser, rest, customer, return_url="myapp://callback")
    assert "myapp://callback" in browser.reading.links
    assert "Back to the app" in browser.text


async def test_addresses_stored_before_a_rule_do_not_end_the_portal(browser, gateway, rest, tenant, customer):
    address = "https://us\u2100er@example.com/"
    async with gateway.database.write() as connection:
        own = table_of(WorkspaceRow).c.id == UUID(tenant.id)
        await update_rows(connection, WorkspaceRow, own, website=address, avatar_url=address)
    await come_in(browser, rest, customer)
    assert browser.page.status_code == 200
    assert "example.com" not in browser.text


async def test_the_shares_are_shown_with_prices_and_images(browser, rest, tenant, customer):
    media = await upload_image(rest)
    price = {"amount_type": "fixed", "price_amount": 123450, "price_currency": "eur"}
    shown = {"name": "Annual <report>", "description": "All of it.", "medias": [media["id"]]}
    await rest.create_share(data=shown | {"prices": [price]})
    await rest.create_share(data={"name": "For nothing", "prices": [{"amount_type": "free"}]})
    await rest.create_share(
        data={"name": "Secret", "prices": [{"amount_type": "free"}], "visibility": "private"}
    )
    await come_in(browser, rest, customer)
    assert "You have no purchases yet." in browser.text
    await browser.open(f"{portal_of(tenant)}/shares")
    assert "Annual <report>" in browser.text
    assert "€1,234.50" in browser.text
    assert "For nothing Free" in browser.text
    assert "Secret" not in browser.text
    assert f'src="{media["public_url"]}"' in browser.page.text
    image = await browser.client.get(media["public_url"])
    assert image.status_code == 200


async def test_only_images_that_are_shown_may_be_loaded_from_elsewhere(browser, rest, tenant, customer):
    await rest.update_workspace(id=tenant.id, data={"avatar_url": "https://cdn.example/a.png"})
    await come_in(browser, rest, customer)
    assert 'src="https://cdn.example/a.png"' in browser.page.text
    policy = browser.page.headers["content-security-policy"]
    assert "img-src 'self' data: https://cdn.example;" in policy
    await rest.update_workspace(id=tenant.id, data={"avatar_url": "https://x;script-src%20*@cdn.example/a"})
    await browser.open(portal_of(tenant))
    assert "img-src 'self' data:;" in browser.page.headers["content-security-policy"]


async def test_a_customer_changes_its_profile(browser, rest, tenant, customer):
    await come_in(browser, rest, customer)
    await browser.open(f"{portal_of(tenant)}/profile")
    await browser.press(
        "Save", name="Ada L.", billing_address__line1="Main Street 1", billing_address__country="DE"
    )
    assert "Profile saved." in browser.text
    seen = await rest.get_customer(id=customer["id"])
    assert (seen["name"], seen["billing_address"]["line1"]) == ("Ada L.", "Main Street 1")
    assert (seen["billing_address"]["country"], seen["billing_address"]["city"]) == ("DE", None)
    await browser.press("Save", name="", billing_address__line1="")
    seen = await rest.get_customer(id=customer["id"])
    assert (seen["name"], seen["billing_address"]["line1"]) == (None, None)
    assert seen["billing_address"]["country"] == "DE"


async def test_a_profiles_errors_are_shown_beside_their_fields(browser, rest, tenant, customer):
    await come_in(browser, rest, customer)
    await browser.open(f"{portal_of(tenant)}/profile")
    answer = await browser.press("Save", name="x" * 257, billing_address__country="Mars")
    assert answer.status_code == 422
    assert 'id="name-error"' in answer.text
    assert 'id="billing_address.country-error"' in answer.text
    assert (await rest.get_customer(id=customer["id"]))["name"] == "Ada"


async def test_the_owner_of_a_team_looks_after_its_members(browser, rest, tenant, team):
    await come_in(browser, rest, team)
    await browser.open(f"{portal_of(tenant)}/members")
    assert "Bo" in browser.text
    email = f"cy-{uuid4().hex}@example.com"
    await browser.press("Add member", email=email, name="Cy", role="billing_manager")
    assert f"Added {email}." in browser.text
    added = next(m for m in (await rest.get_customer(id=team["id"]))["members"] if m["email"] == email)
    assert (added["name"], added["role"]) == ("Cy", "billing_manager")
    await browser.open(f"{portal_of(tenant)}/members/{added['id']}")
    await browser.press("Save", name="Cyd", role="member")
    changed = await rest.get_member(id=added["id"])
    assert (changed["name"], changed["role"]) == ("Cyd", "member")
    await browser.open(f"{portal_of(tenant)}/members/{added['id']}")
    await browser.press("Remove from team")
    assert "Member removed." in browser.text
    assert email not in browser.text


async def test_a_form_that_is_sent_twice_adds_one_member(browser, rest, tenant, team):
    await come_in(browser, rest, team)
    await browser.open(f"{portal_of(tenant)}/members")
    form = browser.form("Add member")
    email = f"cy-{uuid4().hex}@example.com"
    sent = [(name, value) for name, value in form.fields if name not in ("email", "role")]
    for _ in range(2):
        await browser.send(form.action, [*sent, ("email", email), ("role", "member")])
        assert f"Added {email}." in browser.text


async def test_a_member_who_is_not_the_owner_only_looks(browser, rest, tenant, team):
    bo = next(member for member in team["members"] if member["name"] == "Bo")
    await come_in(browser, rest, team, member_id=bo["id"])
    await browser.open(f"{portal_of(tenant)}/members")
    assert "Bo (you)" in browser.text
    assert "Add member" not in browser.text
    await browser.open(f"{portal_of(tenant)}/members/{bo['id']}")
    assert "Save" not in browser.text
    await browser.open(f"{portal_of(tenant)}/profile")
    assert "billing managers can change this" in browser.text
    assert "Save" not in browser.text


@pytest.mark.parametrize("page", ["profile", "members", "leave"])
async def test_a_form_that_is_not_ours_changes_nothing(page, browser, rest, tenant, team):
    await come_in(browser, rest, team)
    for sent in ([], [("form_token", "0" * 43)]):
        answer = await browser.send(f"{portal_of(tenant)}/{page}", [*sent, ("name", "Mallory")])
        assert answer.status_code == 403
    answer = await browser.send(f"{portal_of(tenant)}/{page}", [], **{"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert await rest.get_customer(id=team["id"]) == team


async def test_a_form_of_one_session_counts_in_no_other(browser, gateway, rest, tenant, customer, team):
    await come_in(browser, rest, customer)
    await browser.open(f"{portal_of(tenant)}/profile")
    form = browser.form("Save")
    async with browsing(gateway) as other:
        await come_in(other, rest, team)
        assert (await other.send(form.action, form.fields)).status_code == 403


async def test_another_customers_member_cannot_be_opened(browser, rest, tenant, customer, team):
    await come_in(browser, rest, customer)
    answer = await browser.open(f"{portal_of(tenant)}/members/{team['members'][0]['id']}")
    assert answer.status_code == 404


async def test_no_browser_keeps_a_page_of_the_portal(browser, rest, tenant, customer):
    await come_in(browser, rest, customer)
    for page in ("", "/shares", "/profile", "/members"):
        await browser.open(portal_of(tenant) + page)
        assert browser.page.headers["cache-control"] == "no-store"
        assert browser.page.headers["x-frame-options"] == "DENY"
