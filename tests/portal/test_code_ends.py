"""When a portal code counts no more: used, tried too often, outdated, or no longer the customer's."""

import asyncio
from datetime import timedelta
from uuid import UUID

from sqlalchemy import select

from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.customers.portal_codes import PortalCodeRow
from tests.support.mailed import latest_code
from tests.support.portal_codes import (
    another,
    authenticate,
    change_codes,
    elsewhere,
    let_grow,
    refused_code,
    request,
)
from tests.support.surfaces import Refused

_codes = table_of(PortalCodeRow)


async def test_a_code_works_once(anyone, gateway, tenant, customer, address):
    await request(anyone, tenant, address)
    code = await latest_code(gateway, address)
    await authenticate(anyone, tenant, address, code)
    await refused_code(anyone, tenant, address, code)


async def test_of_two_simultaneous_uses_of_a_code_one_succeeds(anyone, gateway, tenant, customer, address):
    await request(anyone, tenant, address)
    code = await latest_code(gateway, address)
    calls = [authenticate(anyone, tenant, address, code) for _ in range(4)]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    refusals = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    assert [refusal.code for refusal in refusals] == ["invalid_code"] * 3


async def test_a_code_ends_after_30_minutes(anyone, gateway, tenant, customer, address):
    await request(anyone, tenant, address)
    code = await latest_code(gateway, address)
    async with gateway.database.read() as connection:
        found = await connection.execute(select(_codes).where(_codes.c.workspace_id == UUID(tenant.id)))
        (row,) = found.all()
    assert row.expires_at - row.created_at == timedelta(minutes=30)
    await change_codes(gateway, tenant, expires_at=now())
    await refused_code(anyone, tenant, address, code)


async def test_the_fifth_wrong_try_ends_a_code(anyone, gateway, tenant, customer, address):
    await request(anyone, tenant, address)
    code = await latest_code(gateway, address)
    for _ in range(5):
        await refused_code(anyone, tenant, address, another(code))
    await refused_code(anyone, tenant, address, code)


async def test_a_strangers_tries_do_not_spend_the_customers_code(anyone, gateway, tenant, customer, address):
    await request(anyone, tenant, address)
    code = await latest_code(gateway, address)
    async with elsewhere(gateway, anyone) as stranger:
        for _ in range(8):
            await refused_code(stranger, tenant, address, another(code))
        await refused_code(stranger, tenant, address, code)
    assert (await authenticate(anyone, tenant, address, code))["token"]


async def test_many_strangers_together_have_a_hundred_tries(anyone, gateway, tenant, customer, address):
    await request(anyone, tenant, address)
    code = await latest_code(gateway, address)
    await change_codes(gateway, tenant, tries=99)
    await refused_code(anyone, tenant, address, another(code))
    await refused_code(anyone, tenant, address, code)


async def test_a_code_survives_four_wrong_tries(anyone, gateway, tenant, customer, address):
    await request(anyone, tenant, address)
    code = await latest_code(gateway, address)
    for _ in range(4):
        await refused_code(anyone, tenant, address, another(code))
    assert (await authenticate(anyone, tenant, address, code))["token"]


async def test_wrong_tries_at_the_same_moment_all_count(anyone, gateway, tenant, customer, address):
    await request(anyone, tenant, address)
    code = await latest_code(gateway, address)
    await asyncio.gather(*(refused_code(anyone, tenant, address, another(code)) for _ in range(5)))
    await refused_code(anyone, tenant, address, code)


async def test_another_code_ends_the_one_before(anyone, gateway, tenant, customer, address):
    await request(anyone, tenant, address)
    first = await latest_code(gateway, address)
    await let_grow(gateway, tenant)
    await request(anyone, tenant, address)
    await refused_code(anyone, tenant, address, first)
    assert (await authenticate(anyone, tenant, address, await latest_code(gateway, address)))["token"]


async def test_a_code_counts_for_its_own_address_and_workspace_only(
    surface, caller, anyone, gateway, tenant, other_tenant, customer, address
):
    elsewhere = surface.with_token(other_tenant.token)
    await elsewhere.create_customer(data={"email": address})
    other = await surface.create_customer(data={"email": f"other-{address}"})
    await request(anyone, tenant, address)
    code = await latest_code(gateway, address)
    await request(anyone, tenant, other["email"])
    await refused_code(anyone, tenant, other["email"], code)
    await refused_code(anyone, other_tenant, address, code)
    assert (await authenticate(anyone, tenant, address, code))["token"]


async def test_wrong_used_and_expired_codes_and_unknown_addresses_are_refused_alike(
    surface, anyone, gateway, tenant, customer, address
):
    stranger = f"nobody-{address}"
    details = {str(await refused_code(anyone, tenant, stranger, "ABCDEF"))}
    await request(anyone, tenant, stranger)
    details.add(str(await refused_code(anyone, tenant, stranger, "ABCDEF")))
    await request(anyone, tenant, address)
    code = await latest_code(gateway, address)
    details.add(str(await refused_code(anyone, tenant, address, another(code))))
    await authenticate(anyone, tenant, address, code)
    details.add(str(await refused_code(anyone, tenant, address, code)))
    await request(anyone, tenant, address)
    await change_codes(gateway, tenant, expires_at=now())
    details.add(str(await refused_code(anyone, tenant, address, await latest_code(gateway, address))))
    assert len(details) == 1


async def test_a_deleted_customers_codes_end(surface, anyone, gateway, tenant, customer, address):
    await request(anyone, tenant, address)
    code = await latest_code(gateway, address)
    await surface.delete_customer(id=customer["id"])
    await refused_code(anyone, tenant, address, code)
    await surface.create_customer(data={"email": address})
    await refused_code(anyone, tenant, address, code)


async def test_a_removed_members_codes_end_and_the_others_do_not(
    surface, anyone, gateway, tenant, team, address
):
    bo = next(member for member in team["members"] if member["role"] == "member")
    await request(anyone, tenant, bo["email"])
    await request(anyone, tenant, address)
    await surface.delete_member(id=bo["id"])
    await refused_code(anyone, tenant, bo["email"], await latest_code(gateway, bo["email"]))
    assert (await authenticate(anyone, tenant, address, await latest_code(gateway, address)))["token"]


async def test_a_code_ends_when_the_address_changes_hands(
    surface, anyone, gateway, tenant, customer, address
):
    await request(anyone, tenant, address)
    code = await latest_code(gateway, address)
    await surface.update_customer(id=customer["id"], data={"email": f"new-{address}"})
    (owner,) = customer["members"]
    await surface.update_member(id=owner["id"], data={"email": f"new-{address}"})
    await surface.create_customer(data={"email": address})
    await refused_code(anyone, tenant, address, code)
