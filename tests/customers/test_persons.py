"""Who is one person: customers, external ids, and what becomes of both; on both databases."""

import asyncio
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from resolvers.accounts.users import create_user
from resolvers.workspaces.administration import insert_workspace
from storage.engine.database import Database
from storage.persons import persons
from storage.persons.numbers import BLOCK, new_persons
from storage.persons.persons import PersonReference, persons_of
from storage.rows.rows import table_of
from storage.tables.metrics.metrics import ExternalPersonRow, PersonMergeRow
from tests.support.callers.refusals import refusal
from tests.support.databases.facts import read_facts
from tests.support.servers.gateways import make_tenant
from tests.support.statements.statements import noted

AT_ONCE = 6


@pytest.fixture
def see(surface, gateway, tenant):
    """Send an event of each reference in one batch; the numbers of their persons."""

    async def send(*references):
        before = {fact["id"] for fact in await read_facts(gateway, tenant, "event")}
        events = [
            {"name": "seen", "timestamp": f"2026-01-01T00:00:{place:02}Z", **reference}
            for place, reference in enumerate(references)
        ]
        await surface.ingest_events(data={"events": events})
        facts = await read_facts(gateway, tenant, "event")
        return [fact["person"] for fact in facts if fact["id"] not in before]

    return send


async def rows_of(gateway, tenant, model):
    table = table_of(model)
    async with gateway.database.read() as connection:
        found = await connection.execute(select(table).where(table.c.workspace_id == UUID(tenant.id)))
        return [dict(row) for row in found.mappings()]


async def merges_of(gateway, tenant):
    return {row["absorbed"]: row["into"] for row in await rows_of(gateway, tenant, PersonMergeRow)}


def by_id(customer):
    return {"customer_id": customer["id"]}


def by_external_id(external_id):
    return {"external_customer_id": external_id}


async def report(database, home, *external_ids):
    async with database.write() as connection:
        references = [PersonReference(None, id) for id in external_ids]
        return [one.person for one in await persons_of(connection, database, home, references)]


async def test_a_customer_is_one_person_by_either_id(surface, see):
    customer = await surface.create_customer(data={"email": "a@example.com", "external_id": "c-1"})
    both = {**by_id(customer), **by_external_id("c-1")}
    persons = await see(by_id(customer), by_external_id("c-1"), both)
    assert len(set(persons)) == 1
    assert None not in persons
    (seen, *_) = (await surface.list_events(source="user"))["data"]
    assert (seen["customer_id"], seen["external_customer_id"]) == (customer["id"], "c-1")


async def test_different_people_are_different_persons_and_stay_who_they_are(surface, see):
    customers = [await surface.create_customer(data={"email": f"{n}@example.com"}) for n in range(3)]
    everyone = [*map(by_id, customers), *map(by_external_id, ["x", "y", "X"])]
    persons = await see(*everyone)
    assert len(set(persons)) == 6
    assert await see(*everyone) == persons


async def test_an_event_without_a_customer_has_no_person(see):
    first, someone, last = await see({}, by_external_id("x"), {})
    assert (first, last) == (None, None)
    assert someone is not None


async def test_persons_of_two_workspaces_have_nothing_to_do_with_each_other(
    surface, caller, gateway, tenant, other_tenant, see
):
    await surface.create_customer(data={"email": "a@example.com", "external_id": "c-1"})
    await see(by_external_id("c-1"))
    await caller(other_tenant.token).ingest_events(
        data={"events": [{"name": "seen", **by_external_id("c-1")}]}
    )
    assert len(await rows_of(gateway, tenant, ExternalPersonRow)) == 1
    assert len(await rows_of(gateway, other_tenant, ExternalPersonRow)) == 1
    (theirs,) = (await caller(other_tenant.token).list_events())["data"]
    assert theirs["customer_id"] is None


async def test_a_new_customer_takes_over_the_person_of_its_external_id(surface, gateway, tenant, see):
    (before,) = await see(by_external_id("c-1"))
    customer = await surface.create_customer(data={"email": "a@example.com", "external_id": "c-1"})
    assert await see(by_id(customer), by_external_id("c-1")) == [before, before]
    assert await merges_of(gateway, tenant) == {}


async def test_a_customer_without_facts_takes_over_the_person_of_an_id_it_is_given(
    surface, gateway, tenant, see
):
    customer = await surface.create_customer(data={"email": "a@example.com"})
    (before,) = await see(by_external_id("c-1"))
    await surface.update_customer(id=customer["id"], data={"external_id": "c-1"})
    assert await see(by_id(customer)) == [before]
    assert await merges_of(gateway, tenant) == {}


async def test_a_customer_with_facts_is_merged_with_the_person_of_an_id_it_is_given(
    surface, gateway, tenant, see
):
    customer = await surface.create_customer(data={"email": "a@example.com"})
    own, others = await see(by_id(customer), by_external_id("c-1"))
    await surface.update_customer(id=customer["id"], data={"external_id": "c-1"})
    assert await merges_of(gateway, tenant) == {others: own}
    assert await see(by_id(customer), by_external_id("c-1")) == [own, own]


async def test_a_customer_with_facts_and_an_unused_id_stays_the_person_it_is(surface, gateway, tenant, see):
    customer = await surface.create_customer(data={"email": "a@example.com"})
    (own,) = await see(by_id(customer))
    await surface.update_customer(id=customer["id"], data={"external_id": "c-1", "name": "Ada"})
    await surface.update_customer(id=customer["id"], data={"external_id": "c-1"})
    assert await see(by_external_id("c-1")) == [own]
    assert await merges_of(gateway, tenant) == {}


async def test_an_external_id_freed_by_deletion_starts_a_new_person(surface, see):
    first = await surface.create_customer(data={"email": "a@example.com", "external_id": "c-1"})
    (deleted,) = await see(by_id(first))
    await surface.delete_customer(id=first["id"])
    (stranger,) = await see(by_external_id("c-1"))
    assert stranger != deleted
    second = await surface.create_customer(data={"email": "a@example.com", "external_id": "c-1"})
    assert await see(by_id(second)) == [stranger]


async def test_a_freed_external_id_given_to_another_customer_brings_no_facts(surface, gateway, tenant, see):
    first = await surface.create_customer(data={"email": "a@example.com", "external_id": "c-1"})
    (deleted,) = await see(by_id(first))
    await surface.delete_customer(id=first["id"])
    second = await surface.create_customer(data={"email": "b@example.com"})
    (own,) = await see(by_id(second))
    await surface.update_customer(id=second["id"], data={"external_id": "c-1"})
    assert await see(by_external_id("c-1")) == [own]
    assert own != deleted
    assert await merges_of(gateway, tenant) == {}


async def test_two_ids_that_name_two_people_are_refused(surface, gateway, tenant):
    held, other, without = [
        await surface.create_customer(data={"email": f"{n}@example.com", "external_id": external_id})
        for n, external_id in enumerate(["c-1", "c-2", None])
    ]
    named = [
        {**by_id(held), **by_external_id("c-1")},
        {**by_id(other), **by_external_id("c-1")},
        {**by_id(without), **by_external_id("c-2")},
        {**by_id(held), **by_external_id("nobody's")},
        {**by_id(without), **by_external_id("nobody's")},
    ]
    assert await refusal(
        surface.ingest_events(data={"events": [{"name": "seen", **ids} for ids in named]})
    ) == {("events", place, "external_customer_id"): "conflict" for place in range(1, 5)}
    externals = await rows_of(gateway, tenant, ExternalPersonRow)
    assert {row["external_id"] for row in externals} == {"c-1", "c-2"}


async def test_a_deleted_or_foreign_customer_is_unknown(surface, caller, other_tenant):
    deleted = await surface.create_customer(data={"email": "a@example.com"})
    await surface.delete_customer(id=deleted["id"])
    foreign = await caller(other_tenant.token).create_customer(data={"email": "a@example.com"})
    events = [{"name": "seen", **by_id(customer)} for customer in (deleted, foreign)]
    assert await refusal(surface.ingest_events(data={"events": events})) == {
        ("events", place, "customer_id"): "not_found" for place in (0, 1)
    }


async def test_batches_at_the_same_moment_agree_on_who_is_who(surface, gateway, tenant):
    customers = [await surface.create_customer(data={"email": f"{n}@example.com"}) for n in range(10)]
    people = [*map(by_id, customers), *(by_external_id(f"x-{n}") for n in range(10))]
    events = [
        {"name": "seen", "timestamp": f"2026-01-01T00:00:{place:02}Z", **person}
        for place, person in enumerate(people)
    ]
    batches = [events if n % 2 else events[::-1] for n in range(AT_ONCE)]
    await asyncio.gather(*(surface.ingest_events(data={"events": batch}) for batch in batches))
    facts = await read_facts(gateway, tenant, "event")
    assert len(facts) == 20 * AT_ONCE
    assert len({fact["person"] for fact in facts}) == 20
    assert len({(fact["person"], fact["moment"]) for fact in facts}) == 20


async def test_a_customer_that_takes_an_id_while_it_is_reported_is_one_person(surface, gateway, tenant, see):
    """Whoever is first, in the end the reports and the customer are of one person."""
    for attempt in range(5):
        external_id = f"c-{attempt}"
        customer = await surface.create_customer(data={"email": f"{attempt}@example.com"})
        mixed = [{"name": "seen", **by_id(customer)}, {"name": "seen", **by_external_id(external_id)}]
        reports = [surface.ingest_events(data={"events": events}) for events in (mixed, mixed[::-1], mixed)]
        taking = surface.update_customer(id=customer["id"], data={"external_id": external_id})
        earlier = {fact["id"] for fact in await read_facts(gateway, tenant, "event")}
        await asyncio.gather(reports[0], taking, *reports[1:])
        merges = await merges_of(gateway, tenant)
        facts = [fact for fact in await read_facts(gateway, tenant, "event") if fact["id"] not in earlier]
        persons = {merges.get(fact["person"], fact["person"]) for fact in facts}
        assert len(facts) == 6
        assert len(persons) == 1
        assert await see(by_id(customer), by_external_id(external_id)) == [*persons] * 2


async def test_reports_of_the_same_new_people_never_wait_for_each_other(gateway, tenant, monkeypatch):
    """One looks for two people before another makes the second, and the last waits for the first of them."""
    home, database = UUID(tenant.id), gateway.database
    has_looked, goes_on = asyncio.Event(), asyncio.Event()

    async def pausing(connection, *arguments):
        numbers = await new_persons(connection, *arguments)
        if database.is_sqlite:
            return numbers  # Its writers come one after the other.
        if not has_looked.is_set():
            has_looked.set()
            await goes_on.wait()
        elif middle.done():
            goes_on.set()
            await asyncio.wait({early}, timeout=1)
        return numbers

    monkeypatch.setattr(persons, "new_persons", pausing)
    early = asyncio.create_task(report(database, home, "a", "x"))
    if not database.is_sqlite:
        await has_looked.wait()
    await (middle := asyncio.create_task(report(database, home, "x")))
    assert await report(database, home, "a", "x") == await early


async def test_many_new_workspaces_report_at_once_on_a_small_pool(gateway):
    """Each needs its first numbers while it holds a connection."""
    homes = [UUID((await make_tenant(gateway)).id) for _ in range(4)]
    database = Database(gateway.database.engine.url.render_as_string(hide_password=False), pool_size=1)

    try:
        numbers = await asyncio.gather(*(report(database, home, "c-1") for home in homes))
    finally:
        await database.close()
    assert [None] not in numbers


async def test_numbers_are_never_given_twice(gateway, tenant):
    home = UUID(tenant.id)

    async def take(many):
        async with gateway.database.write() as connection:
            return list(await new_persons(connection, gateway.database, home, many))

    taken = await asyncio.gather(*map(take, [1, 400, 700, 2 * BLOCK, 3, 900, 1]))
    numbers = [number for numbers in taken for number in numbers]
    assert [len(numbers) for numbers in taken] == [1, 400, 700, 2 * BLOCK, 3, 900, 1]
    assert len(set(numbers)) == len(numbers)
    assert min(numbers) >= 1


async def test_a_batch_takes_as_many_statements_for_ten_people_as_for_a_thousand(gateway, tenant):
    async def count(references):
        async with gateway.database.write() as connection:
            with noted(gateway.database) as statements:
                found = await persons_of(connection, gateway.database, UUID(tenant.id), references)
        assert len({one.person for one in found}) == len(references)
        return len(statements)

    few, many = [[PersonReference(None, f"{most}-{n}") for n in range(most)] for most in (10, 1_000)]
    # On PostgreSQL one of them takes new numbers, in a transaction of its own.
    assert await count(few) == await count(many) <= 5


async def test_a_workspace_in_the_making_numbers_its_persons_in_its_own_transaction(gateway):
    async with gateway.database.write() as connection:
        user = await create_user(connection, f"{uuid4().hex}@example.com", "a long password", None)
        workspace = await insert_workspace(connection, user, name="New", slug=f"w-{uuid4().hex}")
        numbers = [
            number
            for _ in range(2)
            for number in await new_persons(connection, gateway.database, workspace.id, 2)
        ]
    async with gateway.database.write() as connection:
        numbers += await new_persons(connection, gateway.database, workspace.id, 2)
    assert len(set(numbers)) == 6
