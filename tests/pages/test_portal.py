"""The portal's pages in a browser without scripts: ways in and out, what is shown, and what attackers get."""

from datetime import timedelta
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from oauth.credentials import mint
from storage.clock import now
from storage.enums import CredentialKind
from storage.rows import table_of, update_rows
from storage.tables.credentials import CredentialRow
from tests.conftest import run_gateway
from tests.mailed import latest_code, mails_to
from tests.pages.browsing import browsing
from tests.surfaces import Rest
from tests.uploads import upload_image

COOKIE = "duograph_portal"


@pytest_asyncio.fixture
async def browser(gateway):
    async with browsing(gateway) as browser:
        yield browser


@pytest.fixture
def rest(gateway, tenant):
    return Rest(gateway.client, gateway.app, tenant.token)


@pytest.fixture
async def customer(rest):
    return await rest.create_customer(data={"email": f"ada-{uuid4().hex}@example.com", "name": "Ada"})


@pytest.fixture
async def team(rest, tenant):
    await rest.update_workspace(id=tenant.id, data={"feature_settings": {"member_model_enabled": True}})
    made = await rest.create_customer(data={"email": f"team-{uuid4().hex}@example.com", "type": "team"})
    await rest.create_member(
        data={"customer_id": made["id"], "email": f"bo-{uuid4().hex}@example.com", "name": "Bo"}
    )
    return await rest.get_customer(id=made["id"])


async def link_to(rest, customer, **values):
    """The path of a new session's link."""
    session = await rest.create_customer_session(data={"customer_id": customer["id"], **values})
    parts = urlsplit(session["customer_portal_url"])
    return f"{parts.path}?{parts.query}"


def portal_of(tenant):
    return f"/{tenant.slug}/portal"


def session_of(browser):
    return browser.client.cookies.get(COOKIE)


async def test_a_link_leads_in_and_its_token_leaves_the_address(browser, rest, tenant, customer):
    link = await link_to(rest, customer)
    answer = await browser.client.get(link)
    assert (answer.status_code, answer.headers["location"]) == (303, portal_of(tenant))
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    (cookie,) = [text for text in answer.headers.get_list("set-cookie") if text.startswith(COOKIE)]
    attributes = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=lax", f"path={portal_of(tenant)}"} <= attributes
    assert 3500 < int(next(a for a in attributes if a.startswith("max-age=")).partition("=")[2]) <= 3600
    await browser.open(portal_of(tenant))
    assert "Acme" in browser.text
    assert browser.page.status_code == 200
    assert session_of(browser) not in browser.page.text


async def test_at_https_the_cookie_is_secure(database_url, tmp_path, customer, rest, tenant):
    async for gateway in run_gateway(database_url, tmp_path, base_url="https://gateway/api"):
        async with browsing(gateway, "https://gateway") as browser:
            answer = await browser.client.get(await link_to(rest, customer))
            (cookie,) = [text for text in answer.headers.get_list("set-cookie") if COOKIE in text]
            assert cookie.startswith(f"__Secure-{COOKIE}=")
            assert "secure" in cookie.lower().replace("__secure", "")


@pytest.mark.parametrize("kind", ["unknown", "malformed", "workspace", "elsewhere", "ended"])
async def test_a_link_that_does_not_count_leads_to_the_entrance(
    kind, browser, gateway, rest, tenant, other_tenant, customer
):
    session = await rest.create_customer_session(data={"customer_id": customer["id"]})
    token, slug = session["token"], tenant.slug
    if kind == "unknown":
        token = mint(CredentialKind.CUSTOMER_SESSION).text
    elif kind == "malformed":
        token = "<script>"
    elif kind == "workspace":
        token = tenant.token
    elif kind == "elsewhere":
        slug = other_tenant.slug
    else:
        async with gateway.database.write() as connection:
            mine = table_of(CredentialRow).c.id == UUID(session["id"])
            await update_rows(connection, CredentialRow, mine, expires_at=now() - timedelta(seconds=1))
    await browser.open(f"/{slug}/portal?customer_session_token={token}")
    assert browser.path == f"/{slug}/portal"
    assert "This link has ended." in browser.text
    assert browser.form("Mail me a code")
    assert session_of(browser) is None


async def test_a_customer_comes_in_by_a_mailed_code(browser, gateway, rest, tenant, customer):
    await browser.open(portal_of(tenant))
    await browser.press("Mail me a code", email=customer["email"])
    assert customer["email"] in browser.text
    await browser.press("Come in", code=await latest_code(gateway, customer["email"]))
    assert browser.path == portal_of(tenant)
    assert browser.form("Leave")
    assert (await rest.get_customer(id=customer["id"]))["email_verified"]
    await browser.open(f"{portal_of(tenant)}/profile")
    assert "Verified" in browser.text


async def test_the_page_after_an_unknown_address_is_the_same(browser, gateway, tenant, customer):
    stranger = f"nobody-{uuid4().hex}@example.com"
    texts = []
    for email in (customer["email"], stranger):
        await browser.open(portal_of(tenant))
        await browser.press("Mail me a code", email=email)
        texts.append(browser.text.replace(email, ""))
    assert texts[0] == texts[1]
    assert await mails_to(gateway, stranger) == []


async def test_a_wrong_code_is_said_beside_its_field_and_the_right_one_still_counts(
    browser, gateway, tenant, customer
):
    await browser.open(portal_of(tenant))
    await browser.press("Mail me a code", email=customer["email"])
    code = await latest_code(gateway, customer["email"])
    answer = await browser.press("Come in", code="222222" if code != "222222" else "333333")
    assert answer.status_code == 422
    assert 'id="code-error"' in answer.text
    assert session_of(browser) is None
    await browser.press("Come in", code=code)
    assert browser.form("Leave")


async def test_what_is_no_address_is_said_beside_the_field(browser, tenant):
    await browser.open(portal_of(tenant))
    answer = await browser.press("Mail me a code", email="ada")
    assert answer.status_code == 422
    assert 'id="email-error"' in answer.text


async def test_whoever_leaves_is_out_in_every_browser(browser, gateway, rest, tenant, customer):
    link = await link_to(rest, customer)
    await browser.open(link)
    await browser.press("Leave")
    assert "You have left the portal." in browser.text
    assert session_of(browser) is None
    await browser.open(link)
    assert "This link has ended." in browser.text


async def test_a_session_that_ends_leads_to_the_entrance(browser, rest, tenant, customer):
    await browser.open(await link_to(rest, customer))
    await rest.delete_customer(id=customer["id"])
    for page in ("", "/sessions", "/profile", "/members"):
        await browser.open(portal_of(tenant) + page)
        assert browser.path == portal_of(tenant)
        assert "Your session has ended." in browser.text


async def test_a_session_is_for_its_own_workspaces_portal_only(browser, rest, tenant, other_tenant, customer):
    await browser.open(await link_to(rest, customer))
    token = session_of(browser)
    answer = await browser.client.get(portal_of(other_tenant), headers={"Cookie": f"{COOKIE}={token}"})
    assert "Mail me a code" in answer.text


async def test_the_back_button_leads_to_the_return_url(browser, rest, tenant, customer):
    await browser.open(await link_to(rest, customer, return_url="https://shop.example/?a=b&c=d"))
    assert "https://shop.example/?a=b&c=d" in browser.reading.links
    assert "Back to shop.example" in browser.text
    await browser.open(await link_to(rest, customer))
    assert "Back to" not in browser.text


async def test_the_shares_are_shown_with_prices_and_images(browser, rest, tenant, customer):
    media = await upload_image(rest)
    price = {"amount_type": "fixed", "price_amount": 123450, "price_currency": "eur"}
    shown = {"name": "Annual <report>", "description": "All of it.", "medias": [media["id"]]}
    await rest.create_share(data=shown | {"prices": [price]})
    await rest.create_share(data={"name": "For nothing", "prices": [{"amount_type": "free"}]})
    await rest.create_share(
        data={"name": "Secret", "prices": [{"amount_type": "free"}], "visibility": "private"}
    )
    await browser.open(await link_to(rest, customer))
    assert "Annual <report>" in browser.text
    assert "€1,234.50" in browser.text
    assert "For nothing Free" in browser.text
    assert "Secret" not in browser.text
    assert f'src="{media["public_url"]}"' in browser.page.text
    image = await browser.client.get(media["public_url"])
    assert image.status_code == 200


async def test_only_images_that_are_shown_may_be_loaded_from_elsewhere(browser, rest, tenant, customer):
    await rest.update_workspace(id=tenant.id, data={"avatar_url": "https://cdn.example/a.png"})
    await browser.open(await link_to(rest, customer))
    assert 'src="https://cdn.example/a.png"' in browser.page.text
    policy = browser.page.headers["content-security-policy"]
    assert "img-src 'self' data: https://cdn.example;" in policy
    await rest.update_workspace(id=tenant.id, data={"avatar_url": "https://x;script-src%20*@cdn.example/a"})
    await browser.open(portal_of(tenant))
    assert "img-src 'self' data:;" in browser.page.headers["content-security-policy"]


async def make_activity(rest, customer):
    session = await rest.create_file_share_session(
        data={
            "customer_id": customer["id"],
            "price_amount": 1500,
            "price_currency": "jpy",
            "file_size_bytes": 4404019,
            "created_at": "2026-01-31T09:00:00Z",
        }
    )
    await rest.record_download(id=session["id"], data={"at": "2026-01-31T10:00:00Z"})
    payment = await rest.record_payment(
        id=session["id"], data={"amount": 1500, "currency": "jpy", "at": "2026-01-31T09:30:00Z"}
    )
    await rest.refund_payment(id=payment["id"], data={"amount": 500, "at": "2026-02-01T12:00:00Z"})


async def test_a_customer_reads_its_sessions_with_payments_and_downloads(browser, rest, tenant, customer):
    await make_activity(rest, customer)
    await browser.open(await link_to(rest, customer))
    await browser.open(f"{portal_of(tenant)}/sessions")
    for text in (
        "31 January 2026 ¥1,500 4.2 MB 1 download",
        "31 January 2026, 09:30 UTC ¥1,500 ¥500 given back on 1 February 2026",
        "31 January 2026, 10:00 UTC",
    ):
        assert text in browser.text


async def test_usage_is_hidden_where_the_workspace_does_not_show_it(browser, rest, tenant, customer):
    await rest.update_workspace(id=tenant.id, data={"customer_portal_settings": {"usage": {"show": False}}})
    await make_activity(rest, customer)
    await browser.open(await link_to(rest, customer))
    await browser.open(f"{portal_of(tenant)}/sessions")
    assert "31 January 2026 ¥1,500" in browser.text
    for text in ("4.2 MB", "ownload", "10:00 UTC"):
        assert text not in browser.text


async def test_a_customer_changes_its_profile(browser, rest, tenant, customer):
    await browser.open(await link_to(rest, customer))
    await browser.open(f"{portal_of(tenant)}/profile")
    await browser.press(
        "Save", name="Ada L.", billing_address__line1="Main Street 1", billing_address__country="DE"
    )
    assert "Your profile is saved." in browser.text
    seen = await rest.get_customer(id=customer["id"])
    assert (seen["name"], seen["billing_address"]["line1"]) == ("Ada L.", "Main Street 1")
    assert (seen["billing_address"]["country"], seen["billing_address"]["city"]) == ("DE", None)
    await browser.press("Save", name="", billing_address__line1="")
    seen = await rest.get_customer(id=customer["id"])
    assert (seen["name"], seen["billing_address"]["line1"]) == (None, None)
    assert seen["billing_address"]["country"] == "DE"


async def test_what_is_wrong_with_a_profile_is_said_beside_its_field(browser, rest, tenant, customer):
    await browser.open(await link_to(rest, customer))
    await browser.open(f"{portal_of(tenant)}/profile")
    answer = await browser.press("Save", name="x" * 257, billing_address__country="Mars")
    assert answer.status_code == 422
    assert 'id="name-error"' in answer.text
    assert 'id="billing_address.country-error"' in answer.text
    assert (await rest.get_customer(id=customer["id"]))["name"] == "Ada"


async def test_the_owner_of_a_team_looks_after_its_members(browser, rest, tenant, team):
    await browser.open(await link_to(rest, team))
    await browser.open(f"{portal_of(tenant)}/members")
    assert "Bo" in browser.text
    email = f"cy-{uuid4().hex}@example.com"
    await browser.press("Add the member", email=email, name="Cy", role="billing_manager")
    assert f"{email} is a member now." in browser.text
    added = next(m for m in (await rest.get_customer(id=team["id"]))["members"] if m["email"] == email)
    assert (added["name"], added["role"]) == ("Cy", "billing_manager")
    await browser.open(f"{portal_of(tenant)}/members/{added['id']}")
    await browser.press("Save", name="Cyd", role="member")
    changed = await rest.get_member(id=added["id"])
    assert (changed["name"], changed["role"]) == ("Cyd", "member")
    await browser.open(f"{portal_of(tenant)}/members/{added['id']}")
    await browser.press("Remove from the team")
    assert "The member is removed." in browser.text
    assert email not in browser.text


async def test_a_form_that_is_sent_twice_adds_one_member(browser, rest, tenant, team):
    await browser.open(await link_to(rest, team))
    await browser.open(f"{portal_of(tenant)}/members")
    form = browser.form("Add the member")
    email = f"cy-{uuid4().hex}@example.com"
    sent = [(name, value) for name, value in form.fields if name not in ("email", "role")]
    for _ in range(2):
        await browser.send(form.action, [*sent, ("email", email), ("role", "member")])
        assert f"{email} is a member now." in browser.text


async def test_a_member_who_is_not_the_owner_only_looks(browser, rest, tenant, team):
    bo = next(member for member in team["members"] if member["name"] == "Bo")
    await browser.open(await link_to(rest, team, member_id=bo["id"]))
    await browser.open(f"{portal_of(tenant)}/members")
    assert "Bo (you)" in browser.text
    assert "Add the member" not in browser.text
    await browser.open(f"{portal_of(tenant)}/members/{bo['id']}")
    assert "Save" not in browser.text


@pytest.mark.parametrize("page", ["profile", "members", "leave"])
async def test_a_form_that_is_not_ours_changes_nothing(page, browser, rest, tenant, team):
    await browser.open(await link_to(rest, team))
    for sent in ([], [("form_token", "0" * 43)]):
        answer = await browser.send(f"{portal_of(tenant)}/{page}", [*sent, ("name", "Mallory")])
        assert answer.status_code == 403
    answer = await browser.send(f"{portal_of(tenant)}/{page}", [], **{"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert await rest.get_customer(id=team["id"]) == team


async def test_a_form_of_one_session_counts_in_no_other(browser, gateway, rest, tenant, customer, team):
    await browser.open(await link_to(rest, customer))
    await browser.open(f"{portal_of(tenant)}/profile")
    form = browser.form("Save")
    async with browsing(gateway) as other:
        await other.open(await link_to(rest, team))
        assert (await other.send(form.action, form.fields)).status_code == 403


async def test_nobody_elses_member_can_be_opened(browser, rest, tenant, customer, team):
    await browser.open(await link_to(rest, customer))
    answer = await browser.open(f"{portal_of(tenant)}/members/{team['members'][0]['id']}")
    assert answer.status_code == 404


@pytest.mark.parametrize("path", ["/no-such-workspace/portal", "/no-such-workspace/portal/profile"])
async def test_an_unknown_workspace_has_no_portal(path, browser):
    assert (await browser.open(path)).status_code == 404


async def test_the_portal_stands_in_front_of_no_other_page(browser):
    for path in ("/docs", "/graphql", "/health", "/sign-in"):
        assert (await browser.open(path)).status_code == 200
        assert "ustomer portal" not in browser.page.text or path == "/docs"
    for path in ("/static/portal", "/api/portal", "/workspaces/portal"):
        assert "Mail me a code" not in (await browser.open(path)).text


async def test_no_browser_keeps_a_page_of_the_portal(browser, rest, tenant, customer):
    await browser.open(await link_to(rest, customer))
    for page in ("", "/sessions", "/profile", "/members"):
        await browser.open(portal_of(tenant) + page)
        assert browser.page.headers["cache-control"] == "no-store"
        assert browser.page.headers["x-frame-options"] == "DENY"
