"""What a customer takes over with an external id, on both databases."""

import asyncio

import pytest

from storage.persons import claims


async def reported(surface, external_id):
    """Have a session, one of each report and an event under an external id."""
    about = {"external_customer_id": external_id, "file_size_bytes": 1}
    session = await surface.create_file_share_session(
        data={**about, "price_amount": 100, "price_currency": "usd"}
    )
    await surface.record_download(id=session["id"], data={})
    payment = await surface.record_payment(id=session["id"], data={"amount": 100, "currency": "usd"})
    await surface.refund_payment(id=payment["id"], data={})
    await surface.ingest_events(data={"events": [{"name": "seen", "external_customer_id": external_id}]})


async def listed(surface, **filters):
    """The totals of the lists of what was reported, with the rows counted beside each."""
    totals = []
    for read in (
        surface.list_file_share_sessions,
        surface.list_file_share_downloads,
        surface.list_file_share_payments,
        surface.list_file_share_refunds,
    ):
        page = await read(**filters)
        assert page["meta"]["total"] == len(page["data"])
        totals.append(page["meta"]["total"])
    return [*totals, len((await surface.list_events(**filters, source="user"))["data"])]


@pytest.mark.both_databases
async def test_a_customer_takes_over_what_was_reported_under_its_external_id(surface):
    first = await surface.create_customer(data={"email": "a@example.com"})
    await reported(surface, "late")
    assert await listed(surface, customer_id=[first["id"]]) == [0] * 5
    assert await listed(surface, customer_id=["none"]) == [1] * 5
    await surface.update_customer(id=first["id"], data={"external_id": "late"})
    assert await listed(surface, customer_id=[first["id"]]) == [1] * 5
    assert await listed(surface, customer_id=["none"]) == [0] * 5
    await reported(surface, "late")
    assert await listed(surface, customer_id=[first["id"]]) == [2] * 5


@pytest.mark.both_databases
async def test_who_keeps_a_copy_is_told_what_a_customer_has_taken_over(surface):
    await reported(surface, "late")
    (session,) = (await surface.list_file_share_sessions())["data"]
    customer = await surface.create_customer(data={"email": "a@example.com", "external_id": "late"})
    (taken,) = (await surface.list_file_share_sessions(modified_since=customer["created_at"]))["data"]
    assert (taken["id"], taken["customer_id"]) == (session["id"], customer["id"])
    (payment,) = (await surface.list_file_share_payments(modified_since=customer["created_at"]))["data"]
    assert payment["customer_id"] == customer["id"]
    page = await surface.list_events(modified_since=customer["created_at"], name=["seen"])
    assert [event["customer_id"] for event in page["data"]] == [customer["id"]]


async def test_a_freed_external_id_leaves_the_rows_with_the_deleted_customer(surface):
    await reported(surface, "late")
    first = await surface.create_customer(data={"email": "a@example.com", "external_id": "late"})
    await surface.delete_customer(id=first["id"])
    await reported(surface, "late")
    second = await surface.create_customer(data={"email": "b@example.com", "external_id": "late"})
    assert await listed(surface, customer_id=[first["id"]]) == [1] * 5
    assert await listed(surface, customer_id=[second["id"]]) == [1] * 5


@pytest.mark.both_databases
async def test_more_than_one_transaction_takes_over_is_taken_over_in_the_background(
    surface, gateway, monkeypatch
):
    # A thousand rows would take seconds to make.
    monkeypatch.setattr(claims, "MOST_AT_ONCE", 2)
    for _ in range(5):
        await reported(surface, "late")
    customer = await surface.create_customer(data={"email": "a@example.com", "external_id": "late"})
    await reported(surface, "late")
    # The gateway's own task may come first.
    while await claims.continue_claims(gateway.database):
        pass
    assert await listed(surface, customer_id=[customer["id"]]) == [6] * 5
    assert await listed(surface, customer_id=["none"]) == [0] * 5


@pytest.mark.both_databases
async def test_what_is_reported_while_a_customer_takes_the_id_is_the_customers(surface):
    for attempt in range(5):
        external_id = f"c-{attempt}"
        await reported(surface, external_id)
        creating = surface.create_customer(
            data={"email": f"{attempt}@example.com", "external_id": external_id}
        )
        _, customer, _ = await asyncio.gather(
            reported(surface, external_id), creating, reported(surface, external_id)
        )
        assert await listed(surface, customer_id=[customer["id"]]) == [3] * 5
