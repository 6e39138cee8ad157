"""An address of several customers: its holder chooses which portal to open."""

from uuid import uuid4

import pytest

from tests.support.browsers.browsing import browsing
from tests.support.callers.refusals import refused
from tests.support.mails.portal_codes import another


async def make_team(surface, email, name):
    return await surface.create_customer(data={"email": email, "name": name, "type": "team"})


@pytest.fixture
async def teams(surface, address, member_model):
    """Two teams of one workspace: the victim is a member of the first."""
    acme = await make_team(surface, f"acme-{address}", "Acme team")
    evil = await make_team(surface, f"evil-{address}", "Acme team")
    await surface.create_member(data={"customer_id": acme["id"], "email": f"victim-{address}"})
    return acme, evil


async def test_a_teams_owner_does_not_capture_another_teams_member(entrance, anyone, teams, address):
    """By an old member row that is given the victim's address: the victim's next code leads where it did."""
    acme, evil = teams
    portal = await entrance.portal(evil["email"])
    placeholder = await portal.create_portal_member(data={"email": f"placeholder-{address}"})
    await portal.update_portal_member(id=placeholder["id"], data={"email": f"victim-{address}"})
    victim = f"victim-{address}"
    code = await entrance.code(victim)
    answer = await entrance.enter(victim, code)
    assert (answer["token"], answer["expires_at"]) == (None, None)
    assert [(each["customer_id"], each["customer_email"]) for each in answer["choices"]] == [
        (acme["id"], acme["email"]),
        (evil["id"], evil["email"]),
    ]
    token = (await entrance.enter(victim, code, customer_id=acme["id"]))["token"]
    assert (await anyone.with_token(token).get_portal_customer())["id"] == acme["id"]


async def test_an_address_that_was_changed_for_a_member_leads_nowhere_in_silence(
    surface, entrance, teams, address
):
    """Not even as the only choice: its holder first reads the name of the team. Choosing it confirms it."""
    _, evil = teams
    holder = f"holder-{address}"
    made = await surface.create_member(data={"customer_id": evil["id"], "email": f"was-{address}"})
    await surface.update_member(id=made["id"], data={"email": holder})
    code = await entrance.code(holder)
    (choice,) = (await entrance.enter(holder, code))["choices"]
    assert choice == {
        "customer_id": evil["id"],
        "customer_name": "Acme team",
        "customer_email": evil["email"],
        "member_id": made["id"],
    }
    assert (await entrance.enter(holder, code, customer_id=evil["id"]))["token"]
    assert (await entrance.enter(holder))["token"]


async def test_an_address_that_a_teams_owner_entered_is_confirmed_by_its_holder_first(
    entrance, teams, address
):
    _, evil = teams
    portal = await entrance.portal(evil["email"])
    await portal.create_portal_member(data={"email": f"new-{address}"})
    answer = await entrance.enter(f"new-{address}")
    assert (answer["token"], len(answer["choices"])) == (None, 1)


async def test_the_code_is_used_by_the_choice_not_before(surface, entrance, teams, address):
    acme, evil = teams
    victim = f"victim-{address}"
    await surface.create_member(data={"customer_id": evil["id"], "email": victim})
    code = await entrance.code(victim)
    for _ in range(6):
        assert len((await entrance.enter(victim, code))["choices"]) == 2
    assert (await entrance.enter(victim, code, customer_id=evil["id"]))["token"]
    await refused(entrance.enter(victim, code, customer_id=acme["id"]), 401, "invalid_code")
    await entrance.refuse(victim, code)


async def test_guesses_count_with_a_choice_too(surface, entrance, teams, address):
    """Guesses of the code count, and of a customer that the address does not open."""
    acme, evil = teams
    stranger = await surface.create_customer(data={"email": f"stranger-{address}"})
    victim = f"victim-{address}"
    await surface.create_member(data={"customer_id": evil["id"], "email": victim})
    code = await entrance.code(victim)
    tries = [(another(code), acme["id"])] * 3 + [(code, stranger["id"]), (code, str(uuid4()))]
    for tried, customer_id in tries:
        await refused(entrance.enter(victim, tried, customer_id=customer_id), 401, "invalid_code")
    await entrance.refuse(victim, code)


async def test_the_customers_own_address_comes_first_and_verifies_only_itself(
    surface, entrance, teams, address
):
    acme, _ = teams
    own = await surface.create_customer(data={"email": f"both-{address}"})
    await surface.create_member(data={"customer_id": acme["id"], "email": f"both-{address}"})
    code = await entrance.code(f"both-{address}")
    answer = await entrance.enter(f"both-{address}", code)
    assert [each["customer_id"] for each in answer["choices"]] == [own["id"], acme["id"]]
    await entrance.enter(f"both-{address}", code, customer_id=acme["id"])
    for customer in (own, acme):
        assert not (await surface.get_customer(id=customer["id"]))["email_verified"]


async def test_without_the_member_model_a_members_address_opens_nothing(
    surface, entrance, tenant, teams, address
):
    await surface.update_workspace(id=tenant.id, data={"feature_settings": {"member_model_enabled": False}})
    await entrance.request(f"victim-{address}")
    assert await entrance.mails(f"victim-{address}") == []


async def test_on_the_page_the_customers_are_named_and_one_is_opened(
    surface, entrance, gateway, tenant, teams, address
):
    acme, evil = teams
    victim = f"victim-{address}"
    await surface.create_member(data={"customer_id": evil["id"], "email": victim})
    async with browsing(gateway) as browser:
        await browser.open(f"/{tenant.slug}/portal")
        await browser.press("Email me a code", email=victim)
        await browser.press("Sign in", code=await entrance.latest(victim))
        assert "Choose a customer" in browser.text
        assert acme["email"] in browser.text
        assert evil["email"] in browser.text
        form = browser.reading.forms[0]
        await browser.send(form.action, [*form.fields, ("customer_id", acme["id"])])
        assert browser.path == f"/{tenant.slug}/portal"
        await browser.open(f"/{tenant.slug}/portal/profile")
        assert acme["email"] in browser.text
