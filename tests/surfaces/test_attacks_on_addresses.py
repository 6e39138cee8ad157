"""Addresses that look like somebody else's, or that a rule takes for them: mail goes to neither."""

from email.headerregistry import Address
from uuid import uuid4

import pytest

from gateway.mail.messages import compose
from storage.rows.rows import new_row
from storage.tables.mails import MailRow
from tests.support.browsers.browsing import browsing
from tests.support.callers.refusals import refusal, refused
from tests.support.mails.mailed import latest_code, mails_to
from tests.support.mails.mailed_links import open_sign_up_link
from tests.support.mails.portal_codes import authenticate, refused_code, request

# What stands for other letters under NFKC, and so could stand for an address that somebody else has.
STAND_INS = ["bo\u017fs", "o\ufb03ce", "\uff42oss", "\U0001d41aoss", "bo\u00adss"]


@pytest.fixture
def mark():
    return uuid4().hex


@pytest.mark.parametrize("local", STAND_INS)
async def test_an_address_written_with_stand_ins_for_letters_is_refused(local, surface, anyone, tenant, mark):
    email = f"{local}-{mark}@firm.test"
    calls = [
        request(anyone, tenant, email),
        surface.create_customer(data={"email": email}),
        surface.with_token(tenant.personal_token).invite_workspace_member(data={"email": email}),
    ]
    for call in calls:
        failure = await refused(call, 422, "invalid")
        assert "email" in {place[-1] for place in failure.problems}


async def test_a_code_requested_for_a_lookalike_address_is_not_mailed(surface, anyone, gateway, tenant, mark):
    email, lookalike = f"weiss-{mark}@firm.test", f"wei\u00df-{mark}@firm.test"
    await surface.create_customer(data={"email": email})
    await request(anyone, tenant, lookalike)
    assert await mails_to(gateway, email) == await mails_to(gateway, lookalike) == []


async def test_a_code_is_mailed_to_the_address_on_file_whatever_was_typed(
    surface, anyone, gateway, tenant, mark
):
    """U+212A, the sign for kelvin, is `K` in every normal form."""
    email, typed = f"kate-{mark}@firm.test", f"\u212aATE-{mark}@FIRM.test"
    await surface.create_customer(data={"email": email})
    await request(anyone, tenant, typed)
    assert [mail.to for mail in await mails_to(gateway, email)] == [email]
    assert {mail.to for mail in await mails_to(gateway, typed)} <= {email}
    assert (await authenticate(anyone, tenant, typed, await latest_code(gateway, email)))["token"]


async def test_a_code_does_not_count_for_a_lookalike(surface, anyone, gateway, tenant, mark):
    for local in ("weiss", "wei\u00df"):
        await surface.create_customer(data={"email": f"{local}-{mark}@firm.test"})
    await request(anyone, tenant, f"weiss-{mark}@firm.test")
    code = await latest_code(gateway, f"weiss-{mark}@firm.test")
    await refused_code(anyone, tenant, f"wei\u00df-{mark}@firm.test", code)


async def test_an_invitation_is_not_for_a_lookalike(surface, gateway, tenant, mark):
    owner = surface.with_token(tenant.personal_token)
    await owner.invite_workspace_member(data={"email": f"weiss-{mark}@firm.test"})
    email = f"wei\u00df-{mark}@firm.test"
    async with browsing(gateway) as browser:
        await open_sign_up_link(gateway, browser, email)
        await browser.press("Create account", password="a long password")
        assert browser.path == "/workspaces"
        assert tenant.slug not in browser.text
    (member,) = [
        entry for entry in (await surface.list_workspace_members())["data"] if "weiss" in entry["email"]
    ]
    assert member["status"] == "invited"


async def test_an_address_with_stand_in_letters_cannot_sign_up(gateway, mark):
    async with browsing(gateway) as browser:
        await browser.open("/sign-up")
        answer = await browser.press("Email me a link", email=f"bo\u017fs-{mark}@firm.test")
        assert answer.status_code == 422
        assert "use plain letters" in browser.text


def test_mail_for_a_domain_does_not_go_to_the_one_that_idna_2003_took_it_for():
    mail = new_row(MailRow, recipient="eve@stra\u00dfe.test", subject="", text="")
    message = compose(mail, Address("Duograph", addr_spec="duograph@example.com"))
    assert message["To"] == "eve@xn--strae-oqa.test"


async def test_a_customer_is_found_by_any_spelling_of_its_address_and_no_other(surface, mark):
    made = await surface.create_customer(data={"email": f"Ada-{mark}@M\u00dcNCHEN.test"})
    twin = f"ada-{mark}@xn--mnchen-3ya.test"
    assert await refusal(surface.create_customer(data={"email": twin})) == {("email",): "duplicate"}
    found = await surface.list_customers(email=twin)
    assert [entry["id"] for entry in found["data"]] == [made["id"]]
    for part in (f"{mark}@M\u00dcN", f"ADA-{mark}"):
        assert len((await surface.list_customers(query=part))["data"]) == 1
    assert (await surface.list_customers(email=f"ada-{mark}@munchen.test"))["data"] == []
