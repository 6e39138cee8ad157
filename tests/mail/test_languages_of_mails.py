"""Every email is translated as a whole, and writes dates and amounts as its reader's language does."""

from datetime import UTC, datetime
from functools import partial
from itertools import product
from uuid import uuid4

import pytest

from resolvers.credentials.leaks import NOUNS
from resolvers.mails.brands import DUOGRAPH, Brand
from resolvers.mails.mails import make_mail
from resolvers.second_factors.factors import Event
from resolvers.sign_in import sign_in
from resolvers.webhooks.health import FAILED, GONE
from schema.languages.speech import gettext
from schema.values.prose import write_amount, write_day, write_moment
from storage.enums import Language
from tests.mail.test_names_in_mails import TEMPLATES, variables_of
from tests.support.browsers.browsing import PASSWORD, browsing, signed_in
from tests.support.browsers.in_browser import overflows
from tests.support.browsers.pseudo import STANDS_FOR, spoken, untranslated
from tests.support.mails.mailed import mails_to
from tests.support.mails.mailed_links import open_sign_up_link
from tests.support.tenants.membership import make_member, make_user

MOMENT = datetime(2026, 1, 31, 9, 5, tzinfo=UTC)
OURS = {
    "amount": partial(write_amount, 123450, "eur"),
    "day": partial(write_day, MOMENT),
    "ends": partial(write_moment, MOMENT),
}
ENTERED = "青い会社"
# What is there or not, each with the texts that depend on it.
SWITCHES = {"everything_ended", "in_public", "is_done", "is_new", "share", "customer", "workspace", "creator"}
SWITCHES |= {"inviter", "payer", "contact"}
LACKING = {"inviter": "inviter_address", "payer": "payer_address", "creator": "creator_address"}
# What a language writes for the three values above.
WRITTEN = {
    Language.DE: ("1.234,50 €", "31. Januar 2026", "31. Januar 2026, 09:05 UTC"),
    Language.EN: ("€1,234.50", "31 January 2026", "31 January 2026, 09:05 UTC"),
    Language.ES: ("1.234,50 €", "31 de enero de 2026", "31 de enero de 2026, 9:05 UTC"),
    Language.FR: ("1 234,50 €", "31 janvier 2026", "31 janvier 2026, 09:05 UTC"),
    Language.JA: ("€1,234.50", "2026年1月31日", "2026年1月31日 9:05 UTC"),
    Language.PT: ("€ 1.234,50", "31 de janeiro de 2026", "31 de janeiro de 2026 09:05 UTC"),
}


def said(template):
    """What operations say in it, in all ways."""
    if template == "second_factor":
        texts = {"name": ENTERED, "left": 9, "tries": 10}
        for subject, sentence in (event.value for event in Event):
            yield {"subject": partial(gettext, subject), "happened": partial(gettext, sentence, **texts)}
    elif template == "leak":
        item = {"comment": ENTERED, "url": "https://x.example"}
        items = [{**item, "noun": partial(gettext, noun)} for noun in NOUNS.values()]
        yield {"credentials": items}
        yield {"credentials": [{**items[0], "comment": "", "url": None}]}
    elif template == "webhook_endpoint":
        yield from ({"reason": reason and partial(gettext, reason)} for reason in (None, FAILED, GONE))
    else:
        yield {}


def versions(template):
    """Values for the template, so that each of its texts is in an email."""
    names = variables_of(template)
    switches = sorted(names & SWITCHES)
    for values in said(template):
        for states in product([True, False], repeat=len(switches)):
            given = {name: OURS.get(name, ENTERED) for name in names} | values
            for name, is_there in zip(switches, states, strict=True):
                given[name] = ENTERED if is_there else None
                if not is_there and name in LACKING:
                    given[LACKING[name]] = None
            yield given | ({"scopes": ["7"]} if "scopes" in names else {})


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_text_of_an_email_is_translated(template):
    for values, brand in product(versions(template), (DUOGRAPH, Brand(ENTERED))):
        with spoken():
            mail = make_mail("a@example.com", template, brand=brand, language=STANDS_FOR, **values)
        for text in (mail.subject, mail.text, mail.html):
            assert untranslated(text) == [], text


@pytest.mark.parametrize("language", WRITTEN)
def test_emails_write_dates_and_amounts_as_their_language_does(language):
    """All have what was entered, and no placeholder is left."""
    for template in TEMPLATES:
        expected = [
            text for name, text in zip(OURS, WRITTEN[language], strict=True) if name in variables_of(template)
        ]
        for values in versions(template):
            mail = make_mail("a@example.com", template, language=language, **values)
            for text in (mail.text, mail.html):
                shown = text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")
                shown = shown.replace("<strong>", "").replace("</strong>", "")
                assert [each for each in expected if each not in shown] == [], text
                assert "%(" not in text
            assert f'<html lang="{language}">' in mail.html
            assert "\n" not in mail.subject


async def test_emails_in_longer_words_fit_the_smallest_screen(chromium):
    wide = []
    async with await chromium.new_context(viewport={"width": 320, "height": 800}) as context:
        tab = await context.new_page()
        for template in TEMPLATES:
            with spoken():
                mail = make_mail(
                    "a@example.com", template, language=STANDS_FOR, **next(iter(versions(template)))
                )
            await tab.set_content(mail.html)
            wide += [template] if await overflows(tab) else []
    assert wide == []


@pytest.fixture
def api(rest, tenant):
    return rest.with_token(tenant.personal_token)


async def choose(gateway, user, language):
    async with signed_in(gateway, user) as browser:
        await browser.open("/account")
        await browser.press({"de": "Deutsch", "fr": "Français", "ja": "日本語"}[language], language=language)


async def last_mail(gateway, address):
    return (await mails_to(gateway, address))[-1]


async def test_members_are_mailed_in_the_language_that_each_chose(gateway, rest, tenant):
    german, other = [await make_member(gateway, tenant, "owner") for _ in range(2)]
    await choose(gateway, german, "de")
    share = await rest.create_share(data={"name": "Feldführer", "prices": [{"amount_type": "free"}]})
    session = await rest.create_file_share_session(data={"share_id": share["id"], "file_size_bytes": 1})
    await rest.record_payment(id=session["id"], data={"amount": 123450, "currency": "eur"})
    assert "Ein Kunde hat am " in (await last_mail(gateway, german.email)).text
    assert (await last_mail(gateway, german.email)).subject.startswith("Neue Zahlung von 1.234,50")
    assert (await last_mail(gateway, other.email)).subject.startswith("New payment of €1,234.50")
    data = {"comment": "nightly", "scopes": ["shares:read"], "workspace_id": tenant.id}
    await rest.with_token(other.token).create_workspace_access_token(data=data)
    assert "- Läuft ab: nie" in (await last_mail(gateway, german.email)).text
    assert "- Expires: never" in (await last_mail(gateway, other.email)).text
    await rest.with_token(other.token).delete_workspace(id=tenant.id)
    assert "wurde gelöscht" in (await last_mail(gateway, german.email)).subject
    assert (await rest.with_token(german.token).get_viewer())["user"]["language"] == "de"
    assert (await rest.with_token(other.token).get_viewer())["user"]["language"] is None


async def test_invitations_are_in_the_language_of_the_invited_else_of_the_workspace(gateway, api, tenant):
    known, unknown = await make_user(gateway), f"{uuid4().hex}@example.com"
    await choose(gateway, known, "ja")
    await api.invite_workspace_member(data={"email": unknown})
    assert "invites you" in (await last_mail(gateway, unknown)).subject
    await api.update_workspace(id=tenant.id, data={"language": "fr"})
    for address in (shouted := known.email.upper(), f"new-{unknown}"):
        await api.invite_workspace_member(data={"email": address})
    assert "への招待" in (await last_mail(gateway, shouted)).subject
    assert "vous invite" in (await last_mail(gateway, f"new-{unknown}")).subject


async def test_a_language_is_that_of_the_browser_that_signs_up_or_accepts(gateway, rest, api):
    async with browsing(gateway) as browser:
        await open_sign_up_link(gateway, browser)
        browser.client.headers["Accept-Language"] = "de-AT"
        await browser.press("Create account", password=PASSWORD, name="")
        browser.client.headers["Accept-Language"] = "fr"
        # Translated pages are in it, and the others write dates as it does, whatever another browser prefers.
        await browser.open("/confirm-password")
        assert '<html lang="de"' in browser.page.text
        await browser.open("/account")
        assert '<html lang="en" data-locale="de"' in browser.page.text
    user = await make_user(gateway)
    for accepted in ("ja", "de"):
        invitation = await api.invite_workspace_member(data={"email": user.email})
        async with signed_in(gateway, user) as browser:
            browser.client.headers["Accept-Language"] = accepted
            await browser.open("/account/invitations")
            await browser.press("Accept")
        assert (await rest.with_token(user.token).get_viewer())["user"]["language"] == "ja"
        await api.remove_workspace_member(id=invitation["id"])


async def test_what_a_stranger_does_is_told_in_the_language_of_the_owner(gateway, monkeypatch):
    monkeypatch.setattr(sign_in, "NOTIFIED_FROM", 1)
    french, none = await make_user(gateway), await make_user(gateway)
    await choose(gateway, french, "fr")
    async with browsing(gateway) as stranger:
        stranger.client.headers["Accept-Language"] = "de"
        for user in (french, none):
            await stranger.open("/sign-in?again=1")
            await stranger.press("Anmelden", email=user.email, password="wrong")
            await stranger.open("/forgotten-password")
            await stranger.press("Link per E-Mail senden", email=user.email)
    subjects = [{mail.subject for mail in await mails_to(gateway, user.email)} for user in (french, none)]
    # Who asks for a link is taken for the owner, whose language is then that of the page.
    assert subjects == [
        {"Mots de passe incorrects pour votre compte", "Définir un nouveau mot de passe"},
        {"Wrong passwords for your account", "Neues Passwort festlegen"},
    ]
