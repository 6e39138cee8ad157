"""Lists that come with a resource have limits where they are made, so that no resource outgrows an answer."""

from uuid import UUID

import pytest
import pytest_asyncio

from schema.customers.members import MOST_MEMBERS
from schema.file_shares.payments import MOST_PAYMENTS
from storage.rows.rows import every, insert_rows, table_of
from storage.tables.shares.file_share_sessions import FileSharePaymentRow, FileShareRefundRow
from tests.support.callers.refusals import refusal
from tests.support.databases.large_rows import insert_members
from tests.support.tenants.file_shares import PAID, PRICED, at

FREE = [{"amount_type": "free"}]


@pytest_asyncio.fixture
async def surface(caller, tenant):
    return caller(tenant.token)


async def test_a_team_has_at_most_1000_members(gateway, tenant, surface):
    team = await surface.create_customer(data={"email": "team@example.com", "type": "team"})
    # One is the owner.
    await insert_members(gateway, team, MOST_MEMBERS - 2)
    last = await surface.create_member(data={"customer_id": team["id"], "email": "last@example.com"})
    one_more = {"customer_id": team["id"], "email": "more@example.com"}
    assert await refusal(surface.create_member(data=one_more)) == {("customer_id",): "too_many"}
    portal = await surface.create_customer_session(data={"customer_id": team["id"]})
    own = surface.with_token(portal["token"])
    assert await refusal(own.create_portal_member(data={"email": "more@example.com"})) == {
        ("customer_id",): "too_many"
    }
    await surface.delete_member(id=last["id"])
    await surface.create_member(data=one_more)
    assert len((await surface.get_customer(id=team["id"]))["members"]) == MOST_MEMBERS


async def test_a_session_has_at_most_100_payments(gateway, tenant, surface):
    session = await surface.create_file_share_session(data=PRICED)
    payment = await surface.record_payment(id=session["id"], data=PAID)
    await _repeat(gateway, tenant, FileSharePaymentRow, payment, MOST_PAYMENTS - 2)
    await surface.record_payment(id=session["id"], data=PAID | {"external_id": "last"})
    assert await refusal(surface.record_payment(id=session["id"], data=PAID)) == {("id",): "too_many"}
    # One that was reported already is no further one.
    await surface.record_payment(id=session["id"], data=PAID | {"external_id": "last"})


async def test_a_payment_has_at_most_100_refunds(gateway, tenant, surface):
    session = await surface.create_file_share_session(data=PRICED)
    payment = await surface.record_payment(id=session["id"], data=PAID)
    cent = {"amount": 1, "at": at(6)}
    refunded = await surface.refund_payment(id=payment["id"], data=cent)
    (refund,) = refunded["refunds"]
    await _repeat(gateway, tenant, FileShareRefundRow, refund, MOST_PAYMENTS - 2)
    await surface.refund_payment(id=payment["id"], data=cent)
    assert await refusal(surface.refund_payment(id=payment["id"], data=cent)) == {("id",): "too_many"}


async def test_a_share_has_at_most_20_custom_fields(surface):
    fields = [
        await surface.create_custom_field(data={"type": "text", "slug": f"f{number}", "name": "F"})
        for number in range(21)
    ]
    attached = [{"custom_field_id": field["id"], "required": False} for field in fields]
    data = {"name": "Report", "prices": FREE}
    await surface.create_share(data=data | {"attached_custom_fields": attached[:20]})
    refused = await refusal(surface.create_share(data=data | {"attached_custom_fields": attached}))
    assert refused == {("attached_custom_fields",): "too_long"}


@pytest.mark.parametrize("texts", ["x", "\u00e9"])
async def test_the_properties_of_a_custom_field_have_at_most_16_kib(surface, texts):
    options = [{"value": str(number), "label": texts * 200} for number in range(200)]
    field = {"type": "select", "slug": "f", "name": "F"}
    refused = await refusal(surface.create_custom_field(data=field | {"properties": {"options": options}}))
    assert refused == {("properties",): "properties_size"}
    few = {"properties": {"options": options[:30]}}
    made = await surface.create_custom_field(data=field | few)
    refused = await refusal(
        surface.update_custom_field(id=made["id"], data={"properties": {"options": options}})
    )
    assert refused == {("properties",): "properties_size"}


async def _repeat(gateway, tenant, model, written, count):
    """More rows like one that the API has made."""
    columns = {"file_share_session_id", "file_share_payment_id", "amount", "platform_fee", "currency", "at"}
    async with gateway.database.write() as connection:
        (row,) = await every(connection, model, table_of(model).c.id == UUID(written["id"]))
        values = {name: getattr(row, name) for name in columns if hasattr(row, name)}
        rows = [values | {"workspace_id": UUID(tenant.id)} for _ in range(count)]
        await insert_rows(connection, model, rows)
