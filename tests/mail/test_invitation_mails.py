"""An address that is invited to a workspace is told so."""

from uuid import uuid4

import pytest

from resolvers.accounts import create_user
from tests.mailed import mails_to
from tests.surfaces import Refused


def new_email():
    return f"i-{uuid4().hex}@example.com"


async def test_an_invited_address_is_told_who_invites_it_and_where_to_sign_up(surface, gateway, tenant):
    email = new_email()
    await surface.invite_workspace_member(data={"email": email})
    (mail,) = await mails_to(gateway, email)
    assert mail.subject == "Ada invites you to Acme"
    assert f"sign up with this address ({email})" in mail.text
    assert "http://gateway/\n" in mail.text
    assert '<a href="http://gateway/">' in mail.html


async def test_a_user_who_belongs_at_once_is_told_that_too(surface, gateway):
    email = new_email()
    async with gateway.database.write() as connection:
        await create_user(connection, email, "a long password", "Grace")
    await surface.invite_workspace_member(data={"email": email})
    (mail,) = await mails_to(gateway, email)
    assert mail.subject == "You are a member of Acme now"
    assert "Ada has made you a member of the workspace Acme." in mail.text


async def test_an_invitation_that_is_refused_is_not_mailed(surface, gateway):
    email = new_email()
    await surface.invite_workspace_member(data={"email": email})
    with pytest.raises(Refused):
        await surface.invite_workspace_member(data={"email": email})
    assert len(await mails_to(gateway, email)) == 1


async def test_a_name_can_neither_write_lines_nor_markup_into_a_mail(surface, gateway, tenant):
    await surface.update_workspace(id=tenant.id, data={"name": "Acme <script>\r\nBcc: eve@example.com"})
    email = new_email()
    await surface.invite_workspace_member(data={"email": email})
    (mail,) = await mails_to(gateway, email)
    assert mail.subject == "Ada invites you to Acme <script> Bcc: eve@example com"
    assert "\nBcc" not in mail.text
    assert "<script>" not in mail.html
    assert mail.html.count("&lt;script&gt;") == 2
