"""An address of several customers: its holder chooses which portal to open."""

from uuid import uuid4

import pytest

from tests.support.browsing import browsing
from tests.support.mailed import latest_code, mails_to
from tests.support.portal_codes import another, authenticate, refused_code, request
from tests.support.refusals import refused


async def make_team(surface, email, name):
    return await surface.create_customer(data={"email": email, "name": name, "type": "team"})


async def choose(anyone, tenant, email, code, customer_id):
    data = {"email": email, "slug": tenant.slug, "code": code, "customer_id": customer_id}
    return await anyone.authenticate_portal_code(data=data)


async def customer_of(anyone, token):
    return (await anyone.with_token(token).get_portal_customer())["id"]


async def owner_of(surface, anyone, gateway, tenant, team):
    """The portal of a team's owner, who has come in by the team's own address."""
    await request(anyone, tenant, team["email"])
    code = await latest_code(gateway, team["email"])
    return anyone.with_token((await authenticate(anyone, tenant, team["email"], code))["token"])


@pytest.fixture
async def teams(surface, address, member_model):
    """Two teams of one workspace: the victim is a member of the first."""
    acme = await make_team(surface, f"acme-{address}", "Acme team")
    evil = await make_team(surface, f"evil-{address}", "Acme team")
    await surface.create_member(data={"customer_id": acme["id"], "email": f"victim-{address}"})
    return acme, evil


async def test_a_teams_owner_does_not_capture_another_teams_member(
    surface, anyone, gateway, tenant, teams, address
):
    """By an old member row that is given the victim's address: the victim's next code leads where it did."""
    acme, evil = teams
    portal = await owner_of(surface, anyone, gateway, tenant, evil)
    placeholder = await portal.create_portal_member(data={"email": f"placeholder-{address}"})
    await portal.update_portal_member(id=placeholder["id"], data={"email": f"victim-{address}"})
    victim = f"victim-{address}"
    await request(anyone, tenant, victim)
    code = await latest_code(gateway, victim)
    answer = await authenticate(anyone, tenant, victim, code)
    assert (answer["token"], answer["expires_at"]) == (None, None)
    assert [(each["customer_id"], each["customer_email"]) for each in answer["choices"]] == [
        (acme["id"], acme["email"]),
        (evil["id"], evil["email"]),
    ]
    token = (await choose(anyone, tenant, victim, code, acme["id"]))["token"]
    assert await customer_of(anyone, token) == acme["id"]


async def test_an_address_that_was_changed_for_a_member_leads_nowhere_in_silence(
    surface, anyone, gateway, tenant, teams, address
):
    """Not even as the only choice: its holder first reads the name of the team. Choosing it confirms it."""
    _, evil = teams
    holder = f"holder-{address}"
    made = await surface.create_member(data={"customer_id": evil["id"], "email": f"was-{address}"})
    await surface.update_member(id=made["id"], data={"email": holder})
    await request(anyone, tenant, holder)
    code = await latest_code(gateway, holder)
    (choice,) = (await authenticate(anyone, tenant, holder, code))["choices"]
    assert choice == {
        "customer_id": evil["id"],
        "customer_name": "Acme team",
        "customer_email": evil["email"],
        "member_id": made["id"],
    }
    assert (await choose(anyone, tenant, holder, code, evil["id"]))["token"]
    await request(anyone, tenant, holder)
    assert (await authenticate(anyone, tenant, holder, await latest_code(gateway, holder)))["token"]


async def test_an_address_that_a_teams_owner_entered_is_confirmed_by_its_holder_first(
    surface, anyone, gateway, tenant, teams, address
):
    _, evil = teams
    portal = await owner_of(surface, anyone, gateway, tenant, evil)
    await portal.create_portal_member(data={"email": f"new-{address}"})
    await request(anyone, tenant, f"new-{address}")
    answer = await authenticate(
        anyone, tenant, f"new-{address}", await latest_code(gateway, f"new-{address}")
    )
    assert (answer["token"], len(answer["choices"])) == (None, 1)


async def test_the_code_is_used_by_the_choice_not_before(surface, anyone, gateway, tenant, teams, address):
    acme, evil = teams
    victim = f"victim-{address}"
    await surface.create_member(data={"customer_id": evil["id"], "email": victim})
    await request(anyone, tenant, victim)
    code = await latest_code(gateway, victim)
    for _ in range(6):
        assert len((await authenticate(anyone, tenant, victim, code))["choices"]) == 2
    assert (await choose(anyone, tenant, victim, code, evil["id"]))["token"]
    await refused(choose(anyone, tenant, victim, code, acme["id"]), 401, "invalid_code")
    await refused_code(anyone, tenant, victim, code)


async def test_guesses_count_with_a_choice_too(surface, anyone, gateway, tenant, teams, address):
    """Guesses of the code count, and of a customer that the address does not open."""
    acme, evil = teams
    stranger = await surface.create_customer(data={"email": f"stranger-{address}"})
    victim = f"victim-{address}"
    await surface.create_member(data={"customer_id": evil["id"], "email": victim})
    await request(anyone, tenant, victim)
    code = await latest_code(gateway, victim)
    tries = [(another(code), acme["id"])] * 3 + [(code, stranger["id"]), (code, str(uuid4()))]
    for tried, customer_id in tries:
        await refused(choose(anyone, tenant, victim, tried, customer_id), 401, "invalid_code")
    await refused_code(anyone, tenant, victim, code)


async def test_the_customers_own_address_comes_first_and_verifies_only_itself(
    surface, anyone, gateway, tenant, teams, address
):
    acme, _ = teams
    own = await surface.create_customer(data={"email": f"both-{address}"})
    await surface.create_member(data={"customer_id": acme["id"], "email": f"both-{address}"})
    await request(anyone, tenant, f"both-{address}")
    code = await latest_code(gateway, f"both-{address}")
    answer = await authenticate(anyone, tenant, f"both-{address}", code)
    assert [each["customer_id"] for each in answer["choices"]] == [own["id"], acme["id"]]
    await choose(anyone, tenant, f"both-{address}", code, acme["id"])
    for customer in (own, acme):
        assert not (await surface.get_customer(id=customer["id"]))["email_verified"]


async def test_without_the_member_model_a_members_address_opens_nothing(
    surface, anyone, gateway, tenant, teams, address
):
    await surface.update_workspace(id=tenant.id, data={"feature_settings": {"member_model_enabled": False}})
    await request(anyone, tenant, f"victim-{address}")
    assert await mails_to(gateway, f"victim-{address}") == []


async def test_on_the_page_the_customers_are_named_and_one_is_opened(
    surface, anyone, gateway, tenant, teams, address
):
    acme, evil = teams
    victim = f"victim-{address}"
    await surface.create_member(data={"customer_id": evil["id"], "email": victim})
    async with browsing(gateway) as browser:
        await browser.open(f"/{tenant.slug}/portal")
        await browser.press("Email me a code", email=victim)
        await browser.press("Sign in", code=await latest_code(gateway, victim))
        assert "Choose a customer" in browser.text
        assert acme["email"] in browser.text
        assert evil["email"] in browser.text
        form = browser.reading.forms[0]
        await browser.send(form.action, [*form.fields, ("customer_id", acme["id"])])
        assert browser.path == f"/{tenant.slug}/portal"
        await browser.open(f"/{tenant.slug}/portal/profile")
        assert acme["email"] in browser.text
