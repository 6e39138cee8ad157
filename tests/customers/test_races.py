"""Customers and members changed by several callers at the same moment."""

import asyncio
from uuid import UUID, uuid4

import pytest
from sqlalchemy import func, select

from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.customers.customers import CustomerRow, MemberRow
from storage.tables.events.events import EventRow
from tests.support.callers.surfaces import Refused

AT_ONCE = 6


async def together(*calls):
    """The answers and the refusals of calls made at the same moment."""
    done = await asyncio.gather(*calls, return_exceptions=True)
    refused = [result for result in done if isinstance(result, Refused)]
    answers = [result for result in done if not isinstance(result, BaseException)]
    assert len(answers) + len(refused) == len(calls), done
    return answers, refused


async def count(gateway, model, tenant):
    table = table_of(model)
    async with gateway.database.read() as connection:
        wanted = select(func.count()).select_from(table).where(table.c.workspace_id == UUID(tenant.id))
        return (await connection.execute(wanted)).scalar_one()


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("email", [{"email": "ada@example.com"}, {"email": "ADA@example.com"}]),
        ("external_id", [{"email": f"{n}@example.com", "external_id": "c-1"} for n in range(AT_ONCE)]),
    ],
)
async def test_of_two_creations_at_once_one_is_done_whole_and_one_refused(
    surface, gateway, tenant, field, values
):
    answers, refused = await together(*(surface.create_customer(data=data) for data in values))
    assert len(answers) == 1
    assert [refusal.problems for refusal in refused] == [{(field,): "duplicate"}] * (len(values) - 1)
    assert [await count(gateway, model, tenant) for model in (CustomerRow, MemberRow, EventRow)] == [1, 1, 1]


async def test_of_two_changes_to_one_address_at_once_one_is_refused(surface):
    customers = [await surface.create_customer(data={"email": f"{n}@example.com"}) for n in range(2)]
    answers, refused = await together(
        *(surface.update_customer(id=item["id"], data={"email": "new@example.com"}) for item in customers)
    )
    assert len(answers) == 1
    assert [refusal.problems for refusal in refused] == [{("email",): "duplicate"}]


async def test_an_external_id_set_twice_at_once_takes_one_value(surface):
    customer = await surface.create_customer(data={"email": "ada@example.com"})
    answers, refused = await together(
        *(surface.update_customer(id=customer["id"], data={"external_id": f"c-{n}"}) for n in range(AT_ONCE))
    )
    (answer,) = answers
    assert {tuple(refusal.problems.items()) for refusal in refused} == {((("external_id",), "fixed"),)}
    assert (await surface.get_customer(id=customer["id"]))["external_id"] == answer["external_id"]


async def test_owners_made_at_once_leave_exactly_one(surface):
    customer = await surface.create_customer(data={"email": "ada@example.com", "type": "team"})
    members = [
        await surface.create_member(data={"customer_id": customer["id"], "email": f"{n}@example.com"})
        for n in range(AT_ONCE)
    ]
    answers, refused = await together(
        *(surface.update_member(id=member["id"], data={"role": "owner"}) for member in members)
    )
    assert (len(answers), refused) == (AT_ONCE, [])
    page = await surface.list_members(customer_id=[customer["id"]], limit=100)
    roles = sorted(member["role"] for member in page["data"])
    assert roles == ["billing_manager"] * AT_ONCE + ["owner"]


async def test_no_session_outlives_a_deletion_at_the_same_moment(surface, gateway, tenant):
    customer = await surface.create_customer(data={"email": "ada@example.com"})
    session = {"customer_id": customer["id"]}
    await together(
        *(surface.create_customer_session(data=session) for _ in range(AT_ONCE)),
        surface.delete_customer(id=customer["id"]),
        *(surface.create_customer_session(data=session) for _ in range(AT_ONCE)),
    )
    credentials = table_of(CredentialRow)
    theirs = credentials.c.customer_id == UUID(customer["id"])
    async with gateway.database.read() as connection:
        live = select(func.count()).where(theirs, credentials.c.revoked_at.is_(None))
        assert (await connection.execute(live)).scalar_one() == 0


# On SQLite, which has one writer, the retry waits for the answer instead.
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_a_retry_of_what_is_still_running_is_refused_at_once(rest, gateway):
    customer = await rest.create_customer(data={"email": "ada@example.com"})
    once = rest.with_headers(idempotency_key=uuid4().hex)
    table = table_of(CustomerRow)
    async with gateway.database.write() as connection:
        own = (table.c.workspace_id == UUID(customer["workspace_id"]), table.c.id == UUID(customer["id"]))
        await connection.execute(select(table.c.id).where(*own).with_for_update())
        calls = [
            asyncio.create_task(once.update_customer(id=customer["id"], data={"name": "Ada"}))
            for _ in range(2)
        ]
        (refused,), (first,) = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        with pytest.raises(Refused, match="still running") as raised:
            await refused
        assert (raised.value.status, raised.value.code) == (409, "idempotency_conflict")
    assert (await first)["name"] == "Ada"
    again = await once.ask("update_customer", {"id": customer["id"], "data": {"name": "Ada"}})
    assert again.headers["idempotency-replayed"] == "true"
