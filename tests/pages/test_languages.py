"""The language of pages and emails: the one that was chosen, else the workspace's, else the browser's."""

from uuid import uuid4

import pytest

from tests.support.browsers.browsing import browsing
from tests.support.browsers.portal_pages import come_in, link_to, portal_of
from tests.support.callers.refusals import refusal
from tests.support.mails.mailed import mails_to
from tests.support.mails.portal_codes import request

WORDS = {
    "de": "Kundenportal",
    "en": "Customer portal",
    "es": "Portal de clientes",
    "fr": "Portail client",
    "ja": "カスタマーポータル",
    "pt": "Portal do cliente",
}


async def language_of(browser, path):
    """What the page says it is in; its words are of that language too."""
    page = await browser.open(path)
    language = page.text.partition('<html lang="')[2].partition('"')[0]
    if path.endswith("/portal"):
        assert WORDS[language] in page.text or "/leave" in page.text
    return language


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("de-CH, fr;q=0.9", "de"),
        ("sv, pt-BR;q=0.5, fr;q=0.4", "pt"),
        ("fr;q=0, ja", "ja"),
        ("*, es", "es"),
        ("ar, xx-YY;q=2, @@;q=x", "en"),
    ],
)
async def test_the_browser_decides_where_nothing_else_does(browser, tenant, accepted, language):
    browser.client.headers["Accept-Language"] = accepted
    assert await language_of(browser, portal_of(tenant)) == language
    assert await language_of(browser, "/sign-in") == language
    assert browser.page.headers["vary"] == "Accept-Language, Cookie"
    assert browser.page.headers["cache-control"] == "no-store"


async def test_the_choice_comes_first_then_the_customers_then_the_workspaces(
    browser, gateway, rest, tenant, customer
):
    browser.client.headers["Accept-Language"] = "de"
    await rest.update_workspace(id=tenant.id, data={"language": "fr"})
    assert await language_of(browser, portal_of(tenant)) == "fr"
    await browser.open(await link_to(rest, customer))
    await browser.press("Continuer")
    await rest.update_customer(id=customer["id"], data={"language": "es"})
    assert await language_of(browser, portal_of(tenant)) == "es"
    await browser.open(f"{portal_of(tenant)}/profile")
    await browser.press("Português", language="pt")
    assert browser.path == f"{portal_of(tenant)}/profile"
    assert await language_of(browser, portal_of(tenant)) == "pt"
    # It is kept in the browser, where the sign-in is in it too, and for all browsers with the customer.
    assert await language_of(browser, "/sign-in") == "pt"
    assert (await rest.get_customer(id=customer["id"]))["language"] == "pt"
    async with browsing(gateway) as other:
        await other.open(await link_to(rest, customer))
        await other.press("Continuer")
        assert await language_of(other, portal_of(tenant)) == "pt"


async def test_a_member_chooses_for_the_browser_and_not_for_the_team(browser, rest, tenant, member_model):
    team = await rest.create_customer(data={"email": f"{uuid4().hex}@example.com", "type": "team"})
    bo = await rest.create_member(data={"customer_id": team["id"], "email": f"{uuid4().hex}@example.com"})
    await come_in(browser, rest, team, member_id=bo["id"])
    await browser.press("Deutsch", language="de")
    assert await language_of(browser, portal_of(tenant)) == "de"
    assert "language" not in await rest.get_customer(id=team["id"])


async def test_a_choice_leads_back_to_the_page_and_nowhere_else(browser, tenant):
    await browser.open("/sign-in?next=/account")
    await browser.press("Français", language="fr")
    assert browser.path == "/sign-in?next=/account"
    assert "Mot de passe" in browser.text
    await browser.press("Deutsch", language="xx", next="https://evil.test")
    assert browser.path == "/sign-in"
    assert "Mot de passe" in browser.text
    # A page that a form led to cannot be asked for again.
    await browser.open(portal_of(tenant))
    await browser.press("M\N{RIGHT SINGLE QUOTATION MARK}envoyer un code par e-mail", email="ada@example.com")
    assert "Deutsch" not in browser.text


async def test_a_visitor_of_the_portal_chooses_a_language_and_none_that_there_is_not(browser, tenant):
    await browser.open(portal_of(tenant))
    await browser.press("Français", language="xx")
    assert browser.page.status_code == 200
    assert await language_of(browser, portal_of(tenant)) == "en"
    await browser.press("Français", language="fr")
    assert browser.path == portal_of(tenant)
    assert await language_of(browser, portal_of(tenant)) == "fr"


async def test_what_an_operation_refuses_is_told_in_the_language_with_its_numbers(
    browser, rest, tenant, customer
):
    browser.client.headers["Accept-Language"] = "de"
    await browser.open(await link_to(rest, customer))
    await browser.press("Weiter")
    await browser.open(f"{portal_of(tenant)}/profile")
    await browser.press("Speichern", name="x" * 257)
    assert browser.page.status_code == 422
    assert "Name: Geben Sie höchstens 256 Zeichen ein" in browser.text


async def test_customers_and_workspaces_have_a_language_of_the_list_or_none(caller, tenant):
    surface = caller(tenant.token)
    customer = await surface.create_customer(data={"email": f"{uuid4().hex}@example.com", "language": "ja"})
    assert customer["language"] == "ja"
    for get, update, id in (
        (surface.get_customer, surface.update_customer, customer["id"]),
        (surface.get_workspace, surface.update_workspace, tenant.id),
    ):
        assert (await update(id=id, data={"language": "fr"}))["language"] == "fr"
        assert (await get(id=id))["language"] == "fr"
        assert set(await refusal(update(id=id, data={"language": "tlh"}))) == {("language",)}
        assert (await update(id=id, data={"language": None})).get("language") is None


async def test_codes_are_mailed_in_the_language_of_customer_page_or_workspace(
    browser, gateway, rest, anyone, tenant
):
    addresses = [f"{uuid4().hex}@example.com" for _ in range(3)]
    for address, language in zip(addresses, ("ja", None, None), strict=True):
        await rest.create_customer(data={"email": address, "language": language})
    await rest.update_workspace(id=tenant.id, data={"language": "fr"})
    for address in addresses[:2]:
        browser.client.cookies.set("duograph_language", "de", domain="gateway.local")
        await browser.open(portal_of(tenant))
        await browser.press("Code per E-Mail senden", email=address)
    await request(anyone, tenant, addresses[2])
    mails = [(await mails_to(gateway, address))[0] for address in addresses]
    assert [mail.subject for mail in mails] == [
        "Acmeのカスタマーポータル用コード",
        "Ihr Code für das Kundenportal von Acme",
        "Votre code pour le portail client de Acme",
    ]
    assert [mail.html.partition('<html lang="')[2][:2] for mail in mails] == ["ja", "de", "fr"]


async def test_a_payment_is_confirmed_in_the_language_with_its_amounts_and_dates(gateway, rest, tenant):
    address = f"{uuid4().hex}@example.com"
    customer = await rest.create_customer(data={"email": address, "language": "de"})
    share = await rest.create_share(data={"name": "Feldführer", "prices": [{"amount_type": "free"}]})
    bought = {"share_id": share["id"], "customer_id": customer["id"], "file_size_bytes": 1}
    session = await rest.create_file_share_session(data=bought)
    await rest.record_payment(id=session["id"], data={"amount": 123450, "currency": "eur"})
    (mail,) = await mails_to(gateway, address)
    assert mail.subject.startswith("Ihre Zahlung von 1.234,50")
    assert "Ihre Zahlung von 1.234,50\N{NO-BREAK SPACE}€ für „Feldführer“ erhalten. Vielen Dank!" in mail.text


async def test_a_members_page_has_english_words_and_the_dates_and_amounts_of_the_reader(owner, rest, tenant):
    customer = await rest.create_customer(data={"email": f"{uuid4().hex}@example.com", "name": "Ada"})
    share = await rest.create_share(data={"name": "Field guide", "prices": [{"amount_type": "free"}]})
    bought = {"share_id": share["id"], "customer_id": customer["id"], "file_size_bytes": 4404019}
    at = {"created_at": "2026-01-31T19:45:00Z"}
    priced = {"price_amount": 123450, "price_currency": "eur"}
    await rest.create_file_share_session(data={**bought, **at, **priced})
    for accepted, texts in {
        "": ("31 Jan 2026, 19:45", "€1,234.50"),
        "en-US": ("31 Jan 2026, 19:45", "€1,234.50"),
        "de-AT": ("31.01.2026, 19:45", "€\N{NO-BREAK SPACE}1.234,50"),
        "sv": ("31 jan. 2026 19:45", "1\N{NO-BREAK SPACE}234,50\N{NO-BREAK SPACE}€"),
    }.items():
        owner.client.headers["Accept-Language"] = accepted
        page = await owner.open(f"/{tenant.slug}/sessions")
        assert '<html lang="en"' in page.text
        assert "Sessions" in owner.text
        for text in texts:
            assert text in page.text.replace("&#39;", "'"), (accepted, text)


async def test_members_choose_the_language_of_the_portal_of_a_customer_and_of_the_browser(
    owner, rest, tenant, customer
):
    await owner.open(f"/workspaces/{tenant.slug}")
    await owner.press("Save settings", language="fr")
    assert (await rest.get_workspace(id=tenant.id))["language"] == "fr"
    await owner.press("Save settings", language="")
    assert "language" not in await rest.get_workspace(id=tenant.id)
    await owner.open(f"/{tenant.slug}/customers/{customer['id']}/edit")
    await owner.press("Save customer", language="ja")
    assert (await rest.get_customer(id=customer["id"]))["language"] == "ja"
    assert "日本語" in owner.text
    await owner.open("/account")
    await owner.press("Deutsch", language="de")
    assert owner.path == "/account"
    assert '<html lang="en" data-locale="de">' in owner.page.text
    assert 'lang="de" aria-current="true"' in owner.page.text
