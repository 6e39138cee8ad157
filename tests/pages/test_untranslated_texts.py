"""Every page of the portal, the sign-in and the consent is translated as a whole, refused inputs included."""

from urllib.parse import urlencode
from uuid import UUID, uuid4

import pytest

from resolvers.sign_in import attempts
from storage.clock import now
from tests.support.browsers.browsing import browsing, signed_in
from tests.support.browsers.portal_pages import link_to, portal_of
from tests.support.browsers.pseudo import STANDS_FOR, pseudo, spoken, untranslated
from tests.support.mails.mailed import latest_code, mails_to
from tests.support.mails.mailed_links import latest_link
from tests.support.tenants.applications import make_application
from tests.support.tenants.uploads import upload_file

HEADERS = {"Accept-Language": STANDS_FOR}
AT = "2026-01-31T09:00:00Z"
NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(autouse=True)
def pseudo_language():
    with spoken():
        yield


class Reader:
    """A browser that notes the words of English on each page that it sees."""

    def __init__(self, browser, *data):
        browser.client.headers.update(HEADERS)
        self.browser, self.data, self.faults = browser, data, {}

    async def open(self, path):
        self._look(await self.browser.open(path), path)

    async def press(self, button, **fields):
        self._look(await self.browser.press(pseudo(button), **fields), button)

    def _look(self, page, what):
        assert page.headers["content-type"].startswith("text/html"), (what, page.status_code, page.text)
        if words := untranslated(page.text, *self.data):
            self.faults[what] = words


async def furnish(rest):
    """A purchase that is paid, refunded in part and downloaded, one that is not, and other prices."""
    file = await upload_file(rest, b"numbers", name="報告.pdf", mime_type="application/pdf")
    price = {"amount_type": "fixed", "price_amount": 1900, "price_currency": "eur"}
    share = await rest.create_share(data={"name": "年次報告", "prices": [price], "downloads": [file["id"]]})
    least, most = {"minimum_amount": 100}, {"maximum_amount": 900}
    for bounds in ({}, least, most, least | most):
        custom = {"amount_type": "custom", "price_currency": "eur", **bounds}
        await rest.create_share(data={"name": "自由価格", "prices": [custom]})
    await rest.create_share(data={"name": "無料見本", "prices": [{"amount_type": "free"}]})
    team = await rest.create_customer(
        data={"email": f"{uuid4().hex}@example.com", "type": "team", "name": "青い会社"}
    )
    member = {"customer_id": team["id"], "email": f"{uuid4().hex}@example.com"}
    await rest.create_member(data=member)
    sessions = []
    bought = {"share_id": share["id"], "customer_id": team["id"], "file_size_bytes": 7, "created_at": AT}
    for paid in (1900, 1000, 0):
        priced = {**bought, "price_amount": 1900, "price_currency": "eur"}
        session = await rest.create_file_share_session(data=priced)
        sessions.append(session["id"])
        if paid:
            sent = {"amount": paid, "currency": "eur", "at": AT}
            payment = await rest.record_payment(id=session["id"], data=sent)
            if paid < 1900:
                await rest.refund_payment(id=payment["id"], data={"amount": 100})
    await rest.record_download(id=sessions[0], data={"at": AT})
    return team, share, sessions, file


async def test_the_portal(browser, rest, tenant, member_model):
    await rest.update_workspace(id=tenant.id, data={"email": "help@example.com"})
    team, share, sessions, file = await furnish(rest)
    reader, portal = Reader(browser, "Acme", tenant.slug), portal_of(tenant)
    await reader.open(portal)
    assert '<html lang="ja"' in browser.page.text
    await reader.press("Email me a code", email="no address")
    await reader.press("Email me a code", email=team["email"])
    await reader.press("Sign in", code="")
    await reader.press("Sign in", code="222222")
    await reader.open(f"{portal}?customer_session_token=dg_cst_unknown")
    await reader.open(await link_to(rest, team, return_url="https://shop.example/account"))
    await reader.press("Continue")
    for path in ("", "/shares", f"/shares/{share['id']}", "/profile", "/members", f"/shares/{NOBODY}"):
        await reader.open(f"{portal}{path}")
    for id in sessions:
        await reader.open(f"{portal}/purchases/{id}")
    await reader.open(f"{portal}/purchases/{sessions[0]}")
    (button,) = (form.buttons for form in browser.reading.forms if file["id"] in form.action)
    await browser.press(button[0], follow=False)
    reader._look(browser.page, "download")
    for path in (f"/purchases/{NOBODY}", f"/members/{NOBODY}"):
        await reader.open(f"{portal}{path}")
    await reader.open(f"{portal}/profile")
    wrong = {"name": "n" * 300, "billing_address__city": "c" * 300, "billing_address__country": "XX"}
    await reader.press("Save", **wrong)
    await reader.press("Save", name="", billing_address__city="", billing_address__country="")
    await reader.open(f"{portal}/members")
    await reader.press("Add member", email="no address", role="king")
    await reader.press("Add member", email=team["email"], role="member", name="")
    await reader.press("Add member", email=f"{uuid4().hex}@example.com", role="member", name="")
    members = (await rest.get_customer(id=team["id"]))["members"]
    (owner,) = (member for member in members if member["role"] == "owner")
    await reader.open(f"{portal}/members/{owner['id']}")
    await reader.press("Save", role="member")
    await browser.send(f"{portal}/profile", [("form_token", "wrong")])
    reader._look(browser.page, "expired form")
    await reader.open(portal)
    await reader.press("Sign out")
    assert reader.faults == {}


async def test_the_choice_among_customers_and_the_code(browser, gateway, rest, tenant, member_model):
    reader, address = Reader(browser, "Acme", tenant.slug), f"{uuid4().hex}@example.com"
    for name in ("青い会社", "赤い会社"):
        data = {"email": f"{uuid4().hex}@example.com", "type": "team", "name": name}
        team = await rest.create_customer(data=data)
        await rest.create_member(data={"customer_id": team["id"], "email": address})
    await reader.open(portal_of(tenant))
    await reader.press("Email me a code", email=address)
    code = await latest_code(gateway, address)
    (mail,) = await mails_to(gateway, address)
    assert untranslated(mail.html.replace(code, ""), "Acme", portal_of(tenant)) == []
    await reader.press("Sign in", code=code)
    assert pseudo("Choose a customer") in browser.text
    assert reader.faults == {}


async def test_signing_up_and_in(browser, gateway, monkeypatch):
    moment = now()
    # However long the wrong passwords take, the delay does not end between them.
    monkeypatch.setattr(attempts, "now", lambda: moment)
    reader, email = Reader(browser), f"{uuid4().hex}@example.com"
    await reader.open("/sign-up")
    await reader.press("Email me a link", email="no address")
    await reader.press("Email me a link", email=email)
    link = await latest_link(gateway, email)
    (mail,) = await mails_to(gateway, email)
    assert untranslated(mail.html) == []
    await reader.open(link)
    await reader.press("Create account", password="short")
    await reader.press("Create account", password="a" * 30)
    await browser.press(pseudo("Create account"), password="correct horse battery", name="")
    await reader.open(link)
    await reader.open("/sign-in?again=1")
    await reader.press("Sign in", email=email, password="wrong")
    for _ in range(12):
        await browser.open("/sign-in?again=1")
        await browser.press(pseudo("Sign in"), email=f"wrong-{email}", password="wrong")
    reader._look(browser.page, "too many wrong passwords")
    assert browser.page.status_code == 429
    await reader.open("/forgotten-password")
    await reader.press("Email me a link", email="no address")
    await reader.press("Email me a link", email=email)
    await reader.open(await latest_link(gateway, email))
    await reader.press("Set password", password="short")
    await reader.press("Set password", password="another horse battery")
    for path in ("/new-password", "/sign-up/account", "/confirm-address", "/confirm-new-address"):
        await reader.open(f"{path}?token={'a' * 43}")
    for mail in await mails_to(gateway, email):
        assert untranslated(mail.html) == [], mail.subject
    assert reader.faults == {}


async def test_an_account_and_the_consent(gateway, tenant):
    application = await make_application(gateway, UUID(tenant.id), UUID(tenant.user_id))
    async with signed_in(gateway, tenant) as browser:
        reader = Reader(browser, "Acme", tenant.slug, "Bookkeeper", "test client")
        await reader.open("/confirm-password")
        await reader.press("Continue", confirmed_password="wrong")
        query = urlencode(application.query())
        await reader.open(f"/oauth2/authorize?{query}")
        await reader.press("Allow", workspace_id=None, decision="allow")
        for changed in (application.query(sub_type="user"), {"client_id": "unknown"}):
            await reader.open(f"/oauth2/authorize?{urlencode(changed)}")
        address = f"{uuid4().hex}@example.com"
        del browser.client.headers["Accept-Language"]
        await browser.open("/account")
        await browser.press("Change email address", email=address)
        browser.client.headers.update(HEADERS)
        link = await latest_link(gateway, address)
        await reader.open(link)
        async with browsing(gateway) as stranger:
            other = Reader(stranger)
            await other.open(link)
            await other.open(f"/oauth2/authorize?{query}&response_mode=fragment")
            assert other.faults == {}
        await reader.press("Use this address")
        await reader.open(link)
    assert reader.faults == {}
