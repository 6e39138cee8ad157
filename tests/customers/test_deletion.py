"""Deleted customers: what goes, what stays, and what anonymisation reaches."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from resolvers.customers.anonymization import ROWS_AT_A_TIME
from storage.enums import EventSource
from storage.rows.rows import insert_rows, table_of
from storage.tables.events.events import EventRow
from storage.tables.registry import METADATA
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import GraphQL, Refused

ADA = {
    "email": "Ada@Example.com",
    "name": "Ada Lovelace",
    "external_id": "c-1",
    "type": "team",
    "metadata": {"nickname": "Enchantress"},
    "billing_address": {"line1": "12 St James's Square", "city": "London", "country": "GB"},
    "owner": {"name": "Lady Byron", "email": "byron@example.com"},
}


async def test_a_deleted_customer_is_gone_and_its_names_are_free(surface):
    customer = await surface.create_customer(data=ADA)
    (owner,) = customer["members"]
    assert await surface.delete_customer(id=customer["id"]) == customer["id"]
    for attempt in (
        surface.get_customer(id=customer["id"]),
        surface.get_customer(external_id="c-1"),
        surface.update_customer(id=customer["id"], data={"name": "Ada"}),
        surface.delete_customer(id=customer["id"]),
        surface.get_member(id=owner["id"]),
        surface.update_member(id=owner["id"], data={"name": "Ada"}),
        surface.delete_member(id=owner["id"]),
    ):
        await refused(attempt, 404, "not_found")
    assert (await surface.list_customers())["meta"]["total"] == 0
    assert (await surface.list_members(customer_id=[customer["id"]]))["meta"]["total"] == 0
    again = await surface.create_customer(data=ADA)
    assert again["id"] != customer["id"]


async def test_a_retry_of_a_deletion_by_graphql_finds_it_done(gateway, tenant):
    """Over REST, `DELETE` takes no key."""
    surface = GraphQL(gateway.client, gateway.app, tenant.token)
    customer = await surface.create_customer(data=ADA)
    once = surface.with_headers(idempotency_key=uuid4().hex)
    for is_replayed in (None, "true"):
        answer = await once.ask("delete_customer", {"id": customer["id"]})
        assert answer.value == customer["id"]
        assert answer.headers.get("idempotency-replayed") == is_replayed
    await refused(surface.delete_customer(id=customer["id"]), 404, "not_found")


async def test_events_keep_a_deleted_customer_as_it_was(surface):
    customer = await surface.create_customer(data=ADA)
    (before,) = (await surface.list_events())["data"]
    await surface.delete_customer(id=customer["id"])
    (after,) = (await surface.list_events())["data"]
    kept = before["customer"] | {
        "deleted_at": after["customer"]["deleted_at"],
        "modified_at": after["customer"]["modified_at"],
    }
    if surface.name == "graphql":
        kept["members"] = []
    assert after == before | {"customer": kept}
    assert after["customer"]["deleted_at"] is not None
    assert await surface.get_event(id=after["id"]) == after


async def test_a_deleted_customers_sessions_end_at_once(surface, gateway):
    customer = await surface.create_customer(data=ADA)
    other = await surface.create_customer(data={"email": "other@example.com"})
    tokens = [
        (await surface.create_customer_session(data={"customer_id": owner["id"]}))["token"]
        for owner in (customer, customer, other)
    ]
    assert [await status(gateway, token) for token in tokens] == [403, 403, 403]
    await surface.delete_customer(id=customer["id"])
    assert [await status(gateway, token) for token in tokens] == [401, 401, 403]


async def status(gateway, token):
    """A customer's token may not read customers, which is 403 while it lives."""
    answer = await gateway.client.get("/api/customers/", headers={"Authorization": f"Bearer {token}"})
    return answer.status_code


async def report(gateway, tenant, **values):
    """An event of the workspace's own, as its systems send them."""
    base = {"workspace_id": UUID(tenant.id), "source": EventSource.USER, "name": "page.viewed"}
    async with gateway.database.write() as connection:
        (row,) = await insert_rows(connection, EventRow, [{**base, **values}])
    return str(row.id)


async def test_anonymising_reaches_members_and_every_event(surface, gateway, tenant):
    customer = await surface.create_customer(data=ADA)
    id = customer["id"]
    member = {"customer_id": id, "email": "charles@example.com", "name": "Charles Babbage"}
    await surface.create_member(data=member)
    await surface.update_customer(id=id, data={"email": "countess@example.com"})
    said = {
        "who": "ada lovelace",
        "note": "mail to ADA@example.com failed",
        "now": "countess@example.com",
        "by": "Charles Babbage",
        "street": "12 St James's Square",
        "city": "London",
        "seats": 3,
        "vip": True,
    }
    moment = datetime(2026, 1, 31, tzinfo=UTC)
    mine = await report(gateway, tenant, customer_id=UUID(id), metadata=said, timestamp=moment)
    earlier = await report(gateway, tenant, external_customer_id="c-1", metadata=said)
    other = await report(gateway, tenant, metadata=said)

    await surface.delete_customer(id=id, anonymize=True)

    hidden = said | dict.fromkeys(("who", "note", "now", "by", "street"), "anonymized")
    assert (await surface.get_event(id=mine))["metadata"] == hidden
    assert (await surface.get_event(id=mine))["timestamp"] == "2026-01-31T00:00:00.000000Z"
    assert (await surface.get_event(id=earlier))["metadata"] == hidden
    assert (await surface.get_event(id=other))["metadata"] == said
    (created,) = (await surface.list_events(name=["customer.created"]))["data"]
    assert created["metadata"] == {
        "customer_id": id,
        "customer_email": "anonymized@anonymized.invalid",
        "customer_name": "anonymized",
        "customer_external_id": "c-1",
    }
    shown = created["customer"]
    assert shown["email"] == "anonymized@anonymized.invalid"
    assert shown["name"] is None
    assert shown["metadata"] == {}
    assert set(shown["billing_address"].values()) == {None}
    assert shown["avatar_url"] != customer["avatar_url"]
    assert shown["deleted_at"] is not None


async def test_anonymising_leaves_events_that_name_nobody_as_they_are(surface, gateway, tenant):
    """Callers that keep a copy are not told of them anew."""
    customer = await surface.create_customer(data=ADA)
    said = {"path": "/", "seats": 3}
    event = await report(gateway, tenant, customer_id=UUID(customer["id"]), metadata=said)
    many = {"customer_id": UUID(customer["id"]), "name": "page.left", "metadata": said}
    many |= {"workspace_id": UUID(tenant.id), "source": EventSource.USER}
    async with gateway.database.write() as connection:
        await insert_rows(connection, EventRow, [many] * (ROWS_AT_A_TIME + 1))

    async def moments():
        events = table_of(EventRow)
        wanted = select(events.c.id, events.c.created_at).where(
            events.c.workspace_id == UUID(tenant.id), events.c.name != "customer.created"
        )
        async with gateway.database.read() as connection:
            return sorted((await connection.execute(wanted)).all())

    before = await moments()
    await surface.delete_customer(id=customer["id"], anonymize=True)
    assert (await surface.get_event(id=event))["metadata"] == said
    assert await moments() == before


async def test_nothing_is_left_of_an_anonymised_person_in_any_table(surface, gateway, tenant):
    customer = await surface.create_customer(data=ADA)
    await surface.create_customer_session(data={"customer_id": customer["id"]})
    other = await surface.create_customer(data={"email": "other@example.com", "name": "Other"})
    await surface.delete_customer(id=customer["id"], anonymize=True)

    stored = await everything(gateway, UUID(tenant.id))
    assert "other@example.com" in stored
    for text in ("ada@", "lovelace", "byron", "enchantress", "james", "london"):
        assert text not in stored.lower(), text
    assert await surface.get_customer(id=other["id"]) == other


async def everything(gateway, workspace_id):
    """All rows of one workspace's own tables as one text."""
    rows = []
    async with gateway.database.read() as connection:
        for table in METADATA.sorted_tables:
            if "workspace_id" in table.columns and table.name != "workspace_members":
                found = await connection.execute(select(table).where(table.c.workspace_id == workspace_id))
                rows += found.all()
    return repr(rows)


async def test_many_events_are_anonymised_in_steps(surface, gateway, tenant):
    customer = await surface.create_customer(data=ADA)
    rows = [
        {
            "workspace_id": UUID(tenant.id),
            "source": EventSource.USER,
            "name": "page.viewed",
            "customer_id": UUID(customer["id"]),
            "metadata": {"who": "Ada Lovelace", "number": number},
        }
        for number in range(1203)
    ]
    async with gateway.database.write() as connection:
        await insert_rows(connection, EventRow, rows)
    await surface.delete_customer(id=customer["id"], anonymize=True)
    pairs = [{"key": "who", "value": "anonymized"}]
    page = await surface.list_events(name=["page.viewed"], metadata=pairs, sorting=["timestamp"])
    assert page["meta"]["total"] == 1203


async def test_anonymising_is_a_yes_or_a_no(gateway, surface):
    customer = await surface.create_customer(data=ADA)
    with pytest.raises(Refused) as refused:
        await surface.delete_customer(id=customer["id"], anonymize="perhaps")
    assert list(refused.value.problems) == [("anonymize",)]
