"""Members in the portal, from outside: everyone sees them, the owner of a team changes them."""

from uuid import uuid4

import pytest

from tests.support.callers.refusals import refusal, refused


@pytest.fixture
def domain():
    return f"{uuid4().hex}.example.com"


@pytest.fixture
async def team(surface, member_model, domain):
    """A team with an owner, a billing manager and a member."""
    data = {"email": f"team@{domain}", "type": "team", "owner": {"email": f"owner@{domain}"}}
    made = await surface.create_customer(data=data)
    for role in ("billing_manager", "member"):
        await surface.create_member(
            data={"customer_id": made["id"], "email": f"{role}@{domain}", "role": role}
        )
    return await surface.get_customer(id=made["id"])


@pytest.fixture
def members(team):
    return {member["role"]: member for member in team["members"]}


@pytest.fixture
def enter(surface, team, members):
    async def as_member(role):
        data = {"customer_id": team["id"], "member_id": members[role]["id"]}
        return surface.with_token((await surface.create_customer_session(data=data))["token"])

    return as_member


async def not_permitted(call):
    await refused(call, 403, "not_permitted")


@pytest.mark.parametrize("role", ["owner", "billing_manager", "member"])
async def test_everyone_sees_the_members_of_their_own_customer(surface, enter, team, role, domain):
    stranger = await surface.create_customer(data={"email": f"stranger@{domain}"})
    portal = await enter(role)
    page = await portal.list_portal_members()
    assert page["data"] == team["members"]
    assert await portal.get_portal_member(id=team["members"][1]["id"]) == team["members"][1]
    await refused(portal.get_portal_member(id=stranger["members"][0]["id"]), 404, "not_found")


async def test_the_owner_adds_changes_and_removes_members(surface, enter, team, members, domain):
    portal = await enter("owner")
    added = await portal.create_portal_member(data={"email": f"new@{domain}", "name": "New"})
    assert (added["role"], added["customer_id"], added["external_id"]) == ("member", team["id"], None)
    changed = await portal.update_portal_member(
        id=added["id"], data={"name": None, "role": "billing_manager"}
    )
    assert (changed["name"], changed["role"]) == (None, "billing_manager")
    await portal.delete_portal_member(id=added["id"])
    assert (await surface.get_customer(id=team["id"]))["members"] == team["members"]


@pytest.mark.parametrize("role", ["billing_manager", "member"])
async def test_only_the_owner_changes_members(surface, enter, team, members, role, domain):
    portal = await enter(role)
    await not_permitted(portal.create_portal_member(data={"email": f"new@{domain}"}))
    await not_permitted(portal.update_portal_member(id=members[role]["id"], data={"role": "owner"}))
    await not_permitted(portal.delete_portal_member(id=members["member"]["id"]))
    assert (await surface.get_customer(id=team["id"]))["members"] == team["members"]


async def test_an_owner_who_transfers_ownership_loses_it(enter, members, domain):
    portal = await enter("owner")
    await portal.update_portal_member(id=members["member"]["id"], data={"role": "owner"})
    assert (await portal.get_portal_session())["member"]["role"] == "billing_manager"
    await not_permitted(portal.create_portal_member(data={"email": f"new@{domain}"}))


async def test_an_individual_has_no_members_to_change(surface, domain):
    individual = await surface.create_customer(data={"email": f"ada@{domain}"})
    session = await surface.create_customer_session(data={"customer_id": individual["id"]})
    portal = surface.with_token(session["token"])
    assert (await portal.list_portal_members())["data"] == individual["members"]
    (owner,) = individual["members"]
    await not_permitted(portal.create_portal_member(data={"email": f"new@{domain}"}))
    await not_permitted(portal.update_portal_member(id=owner["id"], data={"name": "A"}))
    await not_permitted(portal.delete_portal_member(id=owner["id"]))


async def test_a_session_from_before_a_customer_became_a_team_is_its_owners(surface, domain):
    customer = await surface.create_customer(data={"email": f"ada@{domain}"})
    session = await surface.create_customer_session(data={"customer_id": customer["id"]})
    await surface.update_customer(id=customer["id"], data={"type": "team"})
    portal = surface.with_token(session["token"])
    added = await portal.create_portal_member(data={"email": f"new@{domain}"})
    assert added["role"] == "member"


async def test_a_removed_members_session_is_over(surface, enter, members):
    portal = await enter("member")
    await (await enter("owner")).delete_portal_member(id=members["member"]["id"])
    await refused(portal.get_portal_customer(), 401, "invalid_token")


async def test_the_owners_rules_hold_in_the_portal_too(enter, members, domain):
    portal = await enter("owner")
    refusals = [
        (portal.create_portal_member(data={"email": f"MEMBER@{domain}"}), {("email",): "duplicate"}),
        (
            portal.update_portal_member(id=members["owner"]["id"], data={"role": "member"}),
            {("role",): "owner"},
        ),
        (portal.delete_portal_member(id=members["owner"]["id"]), {("id",): "owner"}),
        (
            portal.create_portal_member(data={"email": f"x@{domain}", "external_id": "m-1"}),
            {("external_id",): "extra_forbidden"},
        ),
    ]
    for call, problems in refusals:
        assert await refusal(call) == problems


async def test_another_customers_member_does_not_exist(surface, enter, domain):
    other = await surface.create_customer(data={"email": f"other@{domain}", "type": "team"})
    portal = await enter("owner")
    (stranger,) = other["members"]
    for call in (
        portal.update_portal_member(id=stranger["id"], data={"name": "Mine"}),
        portal.delete_portal_member(id=stranger["id"]),
    ):
        await refused(call, 404, "not_found")


@pytest.mark.parametrize("role", ["owner", "billing_manager", "member"])
async def test_a_plain_member_does_not_change_the_teams_profile(enter, surface, team, role):
    portal, data = await enter(role), {"name": "Renamed", "billing_address": {"country": "DE"}}
    if role == "member":
        await not_permitted(portal.update_portal_customer(data=data))
        assert (await surface.get_customer(id=team["id"]))["name"] is None
    else:
        assert (await portal.update_portal_customer(data=data))["name"] == "Renamed"


async def test_a_person_changes_the_own_profile_whatever_the_role_of_the_session(surface, gateway, domain):
    person = await surface.create_customer(data={"email": f"ada@{domain}", "type": "individual"})
    token = (await surface.create_customer_session(data={"customer_id": person["id"]}))["token"]
    changed = await surface.with_token(token).update_portal_customer(data={"name": "Ada L."})
    assert changed["name"] == "Ada L."
