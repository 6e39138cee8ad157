"""An address that a customer or a member no longer has opens nothing, and what it opened ends."""

import pytest

from tests.support.callers.refusals import refusal
from tests.support.callers.surfaces import Refused


async def is_open(portal):
    try:
        await portal.get_portal_customer()
    except Refused as refused:
        return refused.code != "invalid_token"
    return True


async def test_a_customers_old_address_opens_nothing(surface, entrance, customer, address):
    """The member who owns an individual customer loses the old address too."""
    portal = await entrance.portal(address)
    code = await entrance.code(address)
    changed = await surface.update_customer(id=customer["id"], data={"email": f"new-{address}"})
    assert [member["email"] for member in changed["members"]] == [f"new-{address}"]
    assert not await is_open(portal)
    await entrance.refuse(address, code)
    before = len(await entrance.mails(address))
    await entrance.request(address)
    assert len(await entrance.mails(address)) == before
    assert await is_open(await entrance.portal(f"new-{address}"))


async def test_a_session_that_the_workspace_opened_stays(surface, anyone, gateway, tenant, customer, address):
    session = await surface.create_customer_session(data={"customer_id": customer["id"]})
    await surface.update_customer(id=customer["id"], data={"email": f"new-{address}"})
    assert await is_open(anyone.with_token(session["token"]))


async def test_an_owner_with_an_address_of_its_own_keeps_it(surface, entrance, team, address):
    portal = await entrance.portal(f"owner-{address}")
    changed = await surface.update_customer(id=team["id"], data={"email": f"new-{address}"})
    assert f"owner-{address}" in {member["email"] for member in changed["members"]}
    assert await is_open(portal)


async def test_another_spelling_of_the_same_address_ends_nothing(surface, entrance, customer, address):
    portal = await entrance.portal(address)
    changed = await surface.update_customer(id=customer["id"], data={"email": address.upper()})
    assert [member["email"] for member in changed["members"]] == [address.upper()]
    assert changed["email_verified"]
    assert await is_open(portal)


async def test_a_customer_cannot_take_the_address_of_another_of_its_members(surface, address, member_model):
    made = await surface.create_customer(data={"email": address, "type": "team"})
    await surface.create_member(data={"customer_id": made["id"], "email": f"bo-{address}"})
    assert await refusal(surface.update_customer(id=made["id"], data={"email": f"bo-{address}"})) == {
        ("email",): "duplicate"
    }
    assert (await surface.get_customer(id=made["id"]))["email"] == address


@pytest.mark.parametrize("by", ["the workspace", "the owner"])
async def test_a_members_old_address_opens_nothing(by, surface, entrance, team, address):
    bo = next(member for member in team["members"] if member["role"] == "member")
    portal = await entrance.portal(bo["email"])
    owner = await entrance.portal(address)
    code = await entrance.code(bo["email"])
    if by == "the workspace":
        await surface.update_member(id=bo["id"], data={"email": f"new-{address}"})
    else:
        await owner.update_portal_member(id=bo["id"], data={"email": f"new-{address}"})
    assert not await is_open(portal)
    assert await is_open(owner)
    await entrance.refuse(bo["email"], code)


async def test_a_new_name_of_a_member_ends_nothing(surface, entrance, team, address):
    bo = next(member for member in team["members"] if member["role"] == "member")
    portal = await entrance.portal(bo["email"])
    await surface.update_member(id=bo["id"], data={"name": "Bo", "email": bo["email"].upper()})
    assert await is_open(portal)
