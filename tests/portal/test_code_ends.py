"""When a portal code counts no more: used, tried too often, outdated, or no longer the customer's."""

import asyncio
from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, select

from resolvers.customers.portal_access import lock_customers
from resolvers.portal import codes
from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.customers.portal_codes import PortalCodeRow
from tests.support.callers.surfaces import Refused
from tests.support.mails.portal_codes import another, change_codes, let_grow, refused_code

_codes = table_of(PortalCodeRow)


async def test_a_code_works_once(entrance, customer, address):
    code = await entrance.code(address)
    await entrance.enter(address, code)
    await entrance.refuse(address, code)


async def test_of_two_simultaneous_uses_of_a_code_one_succeeds(entrance, customer, address):
    code = await entrance.code(address)
    calls = [entrance.enter(address, code) for _ in range(4)]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    refusals = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    assert [refusal.code for refusal in refusals] == ["invalid_code"] * 3


async def test_a_code_that_is_cleaned_up_while_it_is_entered_is_over(
    entrance, customer, address, monkeypatch
):
    """What takes its row away comes between the look for it and its lock, at which only a mock can be."""
    code = await entrance.code(address)

    async def lock(connection, workspace, entrants):
        await connection.execute(delete(_codes).where(_codes.c.workspace_id == workspace.id))
        await lock_customers(connection, workspace, entrants)

    monkeypatch.setattr(codes, "lock_customers", lock)
    await entrance.refuse(address, code)


async def test_a_code_ends_after_30_minutes(entrance, gateway, tenant, customer, address):
    code = await entrance.code(address)
    async with gateway.database.read() as connection:
        found = await connection.execute(select(_codes).where(_codes.c.workspace_id == UUID(tenant.id)))
        (row,) = found.all()
    assert row.expires_at - row.created_at == timedelta(minutes=30)
    await change_codes(gateway, tenant, expires_at=now())
    await entrance.refuse(address, code)


async def test_the_fifth_wrong_try_ends_a_code(entrance, customer, address):
    code = await entrance.code(address)
    for _ in range(5):
        await entrance.refuse(address, another(code))
    await entrance.refuse(address, code)


async def test_a_strangers_tries_do_not_spend_the_customers_code(entrance, customer, address):
    code = await entrance.code(address)
    async with entrance.elsewhere() as stranger:
        for _ in range(8):
            await stranger.refuse(address, another(code))
        await stranger.refuse(address, code)
    assert (await entrance.enter(address, code))["token"]


async def test_many_strangers_together_have_a_hundred_tries(entrance, gateway, tenant, customer, address):
    code = await entrance.code(address)
    await change_codes(gateway, tenant, tries=99)
    await entrance.refuse(address, another(code))
    await entrance.refuse(address, code)


async def test_a_code_survives_four_wrong_tries(entrance, customer, address):
    code = await entrance.code(address)
    for _ in range(4):
        await entrance.refuse(address, another(code))
    assert (await entrance.enter(address, code))["token"]


async def test_wrong_tries_at_the_same_moment_all_count(entrance, customer, address):
    code = await entrance.code(address)
    await asyncio.gather(*(entrance.refuse(address, another(code)) for _ in range(5)))
    await entrance.refuse(address, code)


async def test_another_code_ends_the_one_before(entrance, gateway, tenant, customer, address):
    first = await entrance.code(address)
    await let_grow(gateway, tenant)
    second = await entrance.code(address)
    await entrance.refuse(address, first)
    assert (await entrance.enter(address, second))["token"]


async def test_a_code_counts_for_its_own_address_and_workspace_only(
    surface, entrance, anyone, other_tenant, customer, address
):
    elsewhere = surface.with_token(other_tenant.token)
    await elsewhere.create_customer(data={"email": address})
    other = await surface.create_customer(data={"email": f"other-{address}"})
    code = await entrance.code(address)
    await entrance.request(other["email"])
    await entrance.refuse(other["email"], code)
    await refused_code(anyone, other_tenant, address, code)
    assert (await entrance.enter(address, code))["token"]


async def test_wrong_used_and_expired_codes_and_unknown_addresses_are_refused_alike(
    entrance, gateway, tenant, customer, address
):
    stranger = f"nobody-{address}"
    details = {str(await entrance.refuse(stranger, "ABCDEF"))}
    await entrance.request(stranger)
    details.add(str(await entrance.refuse(stranger, "ABCDEF")))
    code = await entrance.code(address)
    details.add(str(await entrance.refuse(address, another(code))))
    await entrance.enter(address, code)
    details.add(str(await entrance.refuse(address, code)))
    await entrance.request(address)
    await change_codes(gateway, tenant, expires_at=now())
    details.add(str(await entrance.refuse(address, await entrance.latest(address))))
    assert len(details) == 1


async def test_a_deleted_customers_codes_end(surface, entrance, customer, address):
    code = await entrance.code(address)
    await surface.delete_customer(id=customer["id"])
    await entrance.refuse(address, code)
    await surface.create_customer(data={"email": address})
    await entrance.refuse(address, code)


async def test_a_removed_members_codes_end_and_the_others_do_not(surface, entrance, team, address):
    bo = next(member for member in team["members"] if member["role"] == "member")
    await entrance.request(bo["email"])
    await entrance.request(address)
    await surface.delete_member(id=bo["id"])
    await entrance.refuse(bo["email"], await entrance.latest(bo["email"]))
    assert (await entrance.enter(address, await entrance.latest(address)))["token"]


async def test_a_code_ends_when_the_address_changes_hands(surface, entrance, customer, address):
    code = await entrance.code(address)
    await surface.update_customer(id=customer["id"], data={"email": f"new-{address}"})
    (owner,) = customer["members"]
    await surface.update_member(id=owner["id"], data={"email": f"new-{address}"})
    await surface.create_customer(data={"email": address})
    await entrance.refuse(address, code)
