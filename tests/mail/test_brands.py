"""Every email has the name, picture and colour of the workspace it is about, or ours."""

from uuid import UUID, uuid4

import pytest

from resolvers.mails.brands import COLOURS, DUOGRAPH, Brand, brand_of
from resolvers.mails.mails import make_mail
from tests.mail.test_names_in_mails import HOSTILE, LINK, TEMPLATES, values_for
from tests.support.browsers.colours import contrast
from tests.support.mails.mailed import mails_to

OWN = "https://duograph.example"
PICTURE = "https://cdn.example/acme.png"


def made(template, brand):
    values = {name: "" if value == HOSTILE else value for name, value in values_for(template).items()}
    return make_mail("ada@example.com", template, brand=brand, **values)


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_email_shows_its_sender_in_both_forms(template):
    mail = made(template, Brand("Harbour Prints", "#0f766e", PICTURE))
    assert mail.text.endswith("\n\n-- \nHarbour Prints\n")
    assert f'<img src="{PICTURE}"' in mail.html
    assert "#0f766e" in mail.html
    assert "Sent by Duograph for Harbour Prints" in mail.html
    ours = made(template, DUOGRAPH)
    assert ours.text.endswith("\n\n-- \nDuograph\n")
    assert "Sent by Duograph<" in ours.html
    assert "<img" not in ours.html


@pytest.mark.parametrize("template", TEMPLATES)
def test_no_brand_writes_a_link_or_markup_into_an_email(template):
    mail = made(template, Brand(HOSTILE, picture='https://x.test/"><script>'))
    assert "<script>" not in mail.html
    assert not LINK.search(mail.text)


def test_a_picture_is_shown_only_from_where_nobody_on_the_way_can_replace_it():
    id = uuid4()
    for address, is_shown in (
        (PICTURE, True),
        (f"{OWN}/media/acme.png", True),
        ("http://cdn.example/acme.png", False),
        (f"{OWN}.evil.example/acme.png", True),
        (None, False),
    ):
        assert (brand_of(id, "Acme", address, OWN).picture is not None) == is_shown
    assert brand_of(id, "Acme", "http://localhost:8000/media/a.png", "http://localhost:8000").picture


@pytest.mark.parametrize("colour", COLOURS)
def test_white_text_is_readable_on_every_colour(colour):
    """A contrast of 4.5 to 1, as WCAG 2.2 asks of text."""
    channels = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    assert contrast(channels, (255, 255, 255)) >= 4.5


def test_a_workspace_keeps_its_colour():
    id = UUID(int=3)
    assert {brand_of(id, name, None, OWN).colour for name in ("Acme", "Acme Ltd")} == {COLOURS[3]}


async def test_emails_about_a_workspace_have_its_brand(rest, gateway, tenant):
    owner = rest.with_token(tenant.personal_token)
    await owner.update_workspace(id=tenant.id, data={"avatar_url": PICTURE, "name": "Harbour Prints"})
    email = f"new-{uuid4().hex}@example.com"
    await owner.invite_workspace_member(data={"email": email})
    (invitation,) = await mails_to(gateway, email)
    await owner.create_workspace_access_token(
        data={"comment": "a", "scopes": ["shares:read"], "workspace_id": tenant.id}
    )
    created = (await mails_to(gateway, tenant.user_email))[-1]
    for mail in (invitation, created):
        assert f'<img src="{PICTURE}"' in mail.html
        assert "Sent by Duograph for Harbour Prints" in mail.html
        assert mail.text.endswith("-- \nHarbour Prints\n")
