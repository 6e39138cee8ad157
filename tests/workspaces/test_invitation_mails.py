"""An invited address gets a mail that names the workspace, the inviter and the last day."""

import re
from datetime import datetime

import pytest

from schema.values.prose import write_day
from tests.support.browsers.browsing import browsing
from tests.support.callers.surfaces import Refused
from tests.support.mails.mailed import mails_to
from tests.support.tenants.membership import make_member, make_user, new_email


async def test_an_invitation_mail_has_the_inviter_the_link_and_the_expiry(owner, gateway):
    email = new_email()
    invited = await owner.invite_workspace_member(data={"email": email})
    (mail,) = await mails_to(gateway, email)
    assert mail.subject == "Ada invites you to Acme"
    assert f"sign up with this address ({email}), to accept or decline." in mail.text
    assert "http://gateway/account/invitations\n" in mail.text
    assert 'href="http://gateway/account/invitations"' in mail.html
    ends = write_day(datetime.fromisoformat(invited["expires_at"]))
    assert f"The invitation expires on {ends}, " in mail.text


async def test_an_existing_user_gets_the_same_mail(owner, gateway):
    user = await make_user(gateway)
    await owner.invite_workspace_member(data={"email": user.email})
    (mail,) = await mails_to(gateway, user.email)
    assert mail.subject == "Ada invites you to Acme"


async def test_an_invitation_that_is_renewed_is_mailed_again(owner, gateway):
    email = new_email()
    for _ in range(2):
        await owner.invite_workspace_member(data={"email": email})
    assert len(await mails_to(gateway, email)) == 2


async def test_an_invitation_that_is_refused_is_not_mailed(owner, gateway, tenant):
    member = await make_member(gateway, tenant)
    with pytest.raises(Refused):
        await owner.invite_workspace_member(data={"email": member.email})
    assert await mails_to(gateway, member.email) == []


async def test_a_name_can_neither_write_lines_nor_markup_into_a_mail(owner, gateway, tenant):
    await owner.update_workspace(id=tenant.id, data={"name": "Acme <script>\r\nBcc: eve@example.com"})
    email = new_email()
    await owner.invite_workspace_member(data={"email": email})
    (mail,) = await mails_to(gateway, email)
    assert mail.subject == "Ada invites you to Acme <script> Bcc: eve@example com"
    assert "\nBcc" not in mail.text
    assert "<script>" not in mail.html
    assert "<strong>Acme &lt;script&gt; Bcc: eve@example com</strong>" in mail.html


async def test_the_link_of_the_mail_leads_to_where_one_signs_in_or_up_and_accepts(owner, gateway):
    """Without an account: the page once linked to neither."""
    email = new_email()
    await owner.invite_workspace_member(data={"email": email})
    (mail,) = await mails_to(gateway, email)
    (link,) = re.findall(r"http://gateway/\S+", mail.text)
    async with browsing(gateway) as browser:
        await browser.open(link.removeprefix("http://gateway"))
        assert browser.path.startswith("/sign-in")
        assert "/sign-up?next=%2Faccount%2Finvitations" in browser.reading.links
